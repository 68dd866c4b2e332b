# The Python package, installed into a virtual environment of its own (build/venv) from PyPI. Without access to PyPI the
# tests are skipped and say so. Sanitizers would need a Python built for them.
set(KANDINSKY_PYTHON /usr/bin/python3 CACHE FILEPATH "Python with numpy and pytest, for the tests")
if(KANDINSKY_BUILD_CLI AND PROJECT_IS_TOP_LEVEL AND NOT KANDINSKY_SANITIZE)
  set(environment ${KANDINSKY_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/environment.py)
  add_test(NAME python_environment COMMAND ${environment} make ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
  set_tests_properties(python_environment PROPERTIES LABELS python TIMEOUT 1800 SKIP_RETURN_CODE 77
    FIXTURES_SETUP python_environment
    ENVIRONMENT "CXX=${CMAKE_CXX_COMPILER};CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}")
  add_test(NAME python_groups COMMAND ${KANDINSKY_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/compile_groups.py ${PROJECT_BINARY_DIR}
           ${PROJECT_SOURCE_DIR})
  set_tests_properties(python_groups PROPERTIES LABELS python TIMEOUT 900 SKIP_RETURN_CODE 77
    FIXTURES_REQUIRED python_environment)
  set(shared "$ENV{KANDINSKY_SHARED}")
  if(NOT shared)
    set(shared ${PROJECT_SOURCE_DIR}/../shared)
  endif()
  add_test(NAME python_package COMMAND ${environment} run ${PROJECT_BINARY_DIR} -m pytest -q -rs -p no:cacheprovider
           ${CMAKE_CURRENT_LIST_DIR})
  set_tests_properties(python_package PROPERTIES LABELS python TIMEOUT 1800 SKIP_RETURN_CODE 77
    FIXTURES_REQUIRED python_environment ENVIRONMENT
    "KANDINSKY_COMMAND=$<TARGET_FILE:kandinsky_cli>;KANDINSKY_SHARED=${shared};PYTHONDONTWRITEBYTECODE=1;MPLBACKEND=Agg")
endif()
