# The documentation's site builds without a warning, and its reference leaves nothing out.
set(KANDINSKY_PYTHON /usr/bin/python3 CACHE FILEPATH "Python with numpy and pytest, for the tests")
if(PROJECT_IS_TOP_LEVEL AND NOT KANDINSKY_SANITIZE)
  add_test(NAME docs COMMAND ${KANDINSKY_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/docs.py ${PROJECT_BINARY_DIR})
  set_tests_properties(docs PROPERTIES LABELS python TIMEOUT 600 SKIP_RETURN_CODE 77)
  add_test(NAME docs_reference COMMAND ${KANDINSKY_PYTHON} -m pytest -q -p no:cacheprovider ${CMAKE_CURRENT_LIST_DIR})
  set_tests_properties(docs_reference PROPERTIES LABELS python ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
endif()
