# The command from the outside. KANDINSKY_PYTHON is named because the first python3 of the path may be another one,
# without the packages that scripts/setup.sh installs.
set(KANDINSKY_PYTHON /usr/bin/python3 CACHE FILEPATH "Python with numpy and pytest, for the tests")
if(KANDINSKY_BUILD_CLI)
  foreach(topic auto bad_input bad_output determinism documents files flow folders formats guarantee hardening help raster reference_page
          report resizing scores sketch terminal volumes)
    add_test(NAME cli_${topic} COMMAND ${KANDINSKY_PYTHON} -m pytest -q -p no:cacheprovider
             ${CMAKE_CURRENT_LIST_DIR}/test_${topic}.py)
    set_tests_properties(cli_${topic} PROPERTIES LABELS python TIMEOUT 600
                         ENVIRONMENT "KANDINSKY_COMMAND=$<TARGET_FILE:kandinsky_cli>;PYTHONDONTWRITEBYTECODE=1")
  endforeach()
endif()
