# mpirun kandinsky and --checkpoint, from the outside.
if(KANDINSKY_BUILD_CLI)
  set(KANDINSKY_PYTHON /usr/bin/python3 CACHE FILEPATH "Python with numpy and pytest, for the tests")
  foreach(file mpi/test_mpi test_checkpoint)
    string(REGEX REPLACE ".*test_" "dist_" name ${file})
    add_test(NAME ${name} COMMAND ${KANDINSKY_PYTHON} -m pytest -q -rs -p no:cacheprovider
             ${CMAKE_CURRENT_LIST_DIR}/${file}.py)
    set_tests_properties(${name} PROPERTIES LABELS python TIMEOUT 900 RUN_SERIAL ON
                         SKIP_REGULAR_EXPRESSION "skipped all of mpirun"
                         ENVIRONMENT "KANDINSKY_COMMAND=$<TARGET_FILE:kandinsky_cli>;PYTHONDONTWRITEBYTECODE=1")
  endforeach()
endif()
