# Checks the project's rules on its files. Debian's own interpreter is named because the first python3 of the path may
# be another one, without the packages that scripts/setup.sh installs.
set(KANDINSKY_PYTHON /usr/bin/python3 CACHE FILEPATH "Python with numpy and pytest, for the tests")
add_test(NAME tree COMMAND ${KANDINSKY_PYTHON} -m pytest -q -p no:cacheprovider ${CMAKE_CURRENT_LIST_DIR})
set_tests_properties(tree PROPERTIES LABELS python ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
