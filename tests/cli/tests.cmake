# The command from the outside. KANDINSKY_PYTHON is named because the first python3 of the path may be another one,
# without the packages that scripts/setup.sh installs.
set(KANDINSKY_PYTHON /usr/bin/python3 CACHE FILEPATH "Python with numpy and pytest, for the tests")
if(KANDINSKY_BUILD_CLI)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/test_*.py)
  list(FILTER files EXCLUDE REGEX "/test_export.py$")
  foreach(file ${files})
    string(REGEX REPLACE ".*/test_(.*)\\.py$" "\\1" topic ${file})
    add_test(NAME cli_${topic} COMMAND ${KANDINSKY_PYTHON} -m pytest -q -p no:cacheprovider ${file})
    set_tests_properties(cli_${topic} PROPERTIES LABELS python TIMEOUT 600
                         ENVIRONMENT "KANDINSKY_COMMAND=$<TARGET_FILE:kandinsky_cli>;PYTHONDONTWRITEBYTECODE=1")
  endforeach()
  # A program that calls the library, to be compared with the command.
  add_executable(library_calls ${CMAKE_CURRENT_LIST_DIR}/options/library.cpp)
  target_link_libraries(library_calls PRIVATE ${KANDINSKY_INSIDE})
  kandinsky_compile_options(library_calls)
  kandinsky_compile_fast(library_calls)
  set_property(TEST cli_same_bytes APPEND PROPERTY ENVIRONMENT "KANDINSKY_LIBRARY=$<TARGET_FILE:library_calls>")
  # Exported graphs: onnxruntime, which runs them, comes from PyPI with the Python package's test environment.
  if(PROJECT_IS_TOP_LEVEL AND NOT KANDINSKY_SANITIZE)
    add_test(NAME cli_export COMMAND ${KANDINSKY_PYTHON} ${PROJECT_SOURCE_DIR}/tests/python/environment.py run
             ${PROJECT_BINARY_DIR} -m pytest -q -rs -p no:cacheprovider ${CMAKE_CURRENT_LIST_DIR}/commands/test_export.py)
    set_tests_properties(cli_export PROPERTIES LABELS python TIMEOUT 900 SKIP_RETURN_CODE 77
      FIXTURES_REQUIRED python_environment ENVIRONMENT
      "KANDINSKY_COMMAND=$<TARGET_FILE:kandinsky_cli>;PYTHONDONTWRITEBYTECODE=1")
  endif()
endif()
