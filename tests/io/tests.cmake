# npy_echo, and the comparison of our files with numpy's.
set(KANDINSKY_PYTHON /usr/bin/python3 CACHE FILEPATH "The Python that has numpy and pytest, for the tests")

add_executable(npy_echo ${CMAKE_CURRENT_LIST_DIR}/array/npy_echo.cpp)
target_include_directories(npy_echo PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(npy_echo PRIVATE ${KANDINSKY_INSIDE} fmt::fmt)
kandinsky_compile_options(npy_echo)

add_test(NAME io_numpy COMMAND ${KANDINSKY_PYTHON} -m pytest -q -p no:cacheprovider
         ${CMAKE_CURRENT_LIST_DIR}/array/npy_numpy_test.py)
set_tests_properties(io_numpy PROPERTIES LABELS python
                     ENVIRONMENT "NPY_ECHO=$<TARGET_FILE:npy_echo>;PYTHONDONTWRITEBYTECODE=1")

# Polygons and run lengths against pycocotools, from PyPI, in an environment of its own.
add_executable(mask_echo ${CMAKE_CURRENT_LIST_DIR}/mask/mask_echo.cpp)
target_include_directories(mask_echo PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(mask_echo PRIVATE ${KANDINSKY_INSIDE} fmt::fmt)
kandinsky_compile_options(mask_echo)
add_test(NAME io_pycocotools COMMAND ${KANDINSKY_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/mask/with_pycocotools.py
         ${PROJECT_BINARY_DIR}/pycocotools)
set_tests_properties(io_pycocotools PROPERTIES LABELS python TIMEOUT 900 SKIP_RETURN_CODE 77
                     ENVIRONMENT "MASK_ECHO=$<TARGET_FILE:mask_echo>;PYTHONDONTWRITEBYTECODE=1")
