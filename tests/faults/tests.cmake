# The command with failing calls, kills, changing files and damaged input. The library that makes calls fail cannot be
# used with sanitizers, which replace the same functions.
set(KANDINSKY_PYTHON /usr/bin/python3 CACHE FILEPATH "Python with numpy and pytest, for the tests")
if(KANDINSKY_BUILD_CLI)
  set(fail_library "")
  if(NOT KANDINSKY_SANITIZE)
    add_library(fail_nth MODULE ${CMAKE_CURRENT_LIST_DIR}/fail_nth.cpp)
    target_link_libraries(fail_nth PRIVATE ${CMAKE_DL_LIBS})
    kandinsky_compile_options(fail_nth)
    # The library must define the plain calls: no fortified variants, and no built-in versions of them.
    target_compile_options(fail_nth PRIVATE "SHELL:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=0" -fno-builtin)
    set(fail_library $<TARGET_FILE:fail_nth>)
  endif()
  foreach(topic nth_failure kill changing mutated)
    add_test(NAME faults_${topic} COMMAND ${KANDINSKY_PYTHON} -m pytest -q -p no:cacheprovider
             ${CMAKE_CURRENT_LIST_DIR}/test_${topic}.py)
    set_tests_properties(faults_${topic} PROPERTIES LABELS python TIMEOUT 1200
                         SKIP_REGULAR_EXPRESSION "\n[0-9]+ skipped in "
                         ENVIRONMENT "KANDINSKY_COMMAND=$<TARGET_FILE:kandinsky_cli>;PYTHONDONTWRITEBYTECODE=1;KANDINSKY_FAIL_LIBRARY=${fail_library}")
  endforeach()
endif()
