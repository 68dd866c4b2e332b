# Instruction counts of the kernels under callgrind. They belong to one compiler and to optimised code: other builds
# leave the test out.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT KANDINSKY_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU"
   AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12 AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_executable(kernel_counts ${PROJECT_SOURCE_DIR}/bench/kernels.cpp)
  target_include_directories(kernel_counts PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(kernel_counts PRIVATE ${KANDINSKY_INSIDE} fmt::fmt hwy::hwy)
  kandinsky_compile_options(kernel_counts)
  set(KANDINSKY_PYTHON /usr/bin/python3 CACHE FILEPATH "Python with numpy and pytest, for the tests")
  add_test(NAME kernel_counts
           COMMAND ${KANDINSKY_PYTHON} ${PROJECT_SOURCE_DIR}/bench/kernel_counts.py $<TARGET_FILE:kernel_counts>
                   ${PROJECT_SOURCE_DIR}/bench/kernel_counts.json)
  set_tests_properties(kernel_counts PROPERTIES LABELS perf SKIP_RETURN_CODE 77)
endif()
