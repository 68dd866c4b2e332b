# The installed package works for a program outside the project. Its own build would need the sanitizer's flags too.
if(NOT KANDINSKY_SANITIZE AND PROJECT_IS_TOP_LEVEL)
  add_test(NAME install COMMAND ${CMAKE_COMMAND} -DBUILD_DIR=${PROJECT_BINARY_DIR} -DCONSUMER=${CMAKE_CURRENT_LIST_DIR}
           -DCXX=${CMAKE_CXX_COMPILER} -DCONFIG=${CMAKE_BUILD_TYPE} -DCLI=${KANDINSKY_BUILD_CLI}
           -P ${CMAKE_CURRENT_LIST_DIR}/run.cmake)
  set_tests_properties(install PROPERTIES LABELS install)
endif()
