# Warnings, hardening and sanitizers shared by every target of the project.
function(kandinsky_compile_options target)
  if(NOT KANDINSKY_PACKAGE)  # pip does not show warnings
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)
  endif()
  target_compile_options(${target} PRIVATE -ffp-contract=off)
  if(KANDINSKY_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  target_compile_definitions(${target} PRIVATE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
  if(KANDINSKY_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${KANDINSKY_SANITIZE} -fno-omit-frame-pointer
                           -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${KANDINSKY_SANITIZE})
  else()
    kandinsky_harden(${target})
  endif()
endfunction()

# Under sanitizers, tests and the command are optimised a little, which compiles fast; without optimisation they would run far
# more slowly. The same holds for options and bindings in the Python package.
function(kandinsky_compile_fast target)
  if(KANDINSKY_SANITIZE OR KANDINSKY_PACKAGE)
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# Hardening ends the program at a memory error, so that an attacker's code cannot run. SECURITY.md has the costs;
# tests/cli/test_hardening.py checks the program.
include(CheckCXXCompilerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)
check_cxx_compiler_flag(-fstack-clash-protection KANDINSKY_HAS_STACK_CLASH)
check_cxx_compiler_flag(-fcf-protection=full KANDINSKY_HAS_CF_PROTECTION)
# Level 3 also checks sizes that are computed at run time. Older compilers would use level 2 and warn.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
  set(KANDINSKY_FORTIFY 3)
else()
  set(KANDINSKY_FORTIFY 2)
endif()
function(kandinsky_harden target)
  # Fortified calls need optimisation, and sanitizers check the same calls better. If the compiler defines the macro
  # already, a second definition would give a warning.
  target_compile_options(${target} PRIVATE -fstack-protector-strong
    $<$<BOOL:${KANDINSKY_HAS_STACK_CLASH}>:-fstack-clash-protection>
    $<$<BOOL:${KANDINSKY_HAS_CF_PROTECTION}>:-fcf-protection=full>
    "$<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=${KANDINSKY_FORTIFY}>")
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL "STATIC_LIBRARY" AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
    target_link_options(${target} PRIVATE -Wl,-z,relro,-z,now,-z,noexecstack)
  endif()
endfunction()
