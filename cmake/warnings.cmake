# Warnings, hardening and sanitizers shared by every target of the project.
function(kandinsky_compile_options target)
  if(NOT KANDINSKY_PACKAGE)  # nobody reads pip's warnings
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

# Under sanitizers tests and the command are optimised little, which compiles faster; not at all would cost far more when
# they run. In the Python package so are options and bindings.
function(kandinsky_compile_fast target)
  if(KANDINSKY_SANITIZE OR KANDINSKY_PACKAGE)
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# What turns a fault that got through into the end of the program instead of somebody's code: SECURITY.md has
# the costs, tests/cli/test_hardening.py looks at the program itself.
include(CheckCXXCompilerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)
check_cxx_compiler_flag(-fstack-clash-protection KANDINSKY_HAS_STACK_CLASH)
check_cxx_compiler_flag(-fcf-protection=full KANDINSKY_HAS_CF_PROTECTION)
# Level 3 also knows sizes that are computed at run time. Older compilers would take it for level 2 and warn.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
  set(KANDINSKY_FORTIFY 3)
else()
  set(KANDINSKY_FORTIFY 2)
endif()
function(kandinsky_harden target)
  # Fortified calls need optimisation, and sanitizers check the same calls better. A compiler that already defines
  # the macro would warn about the second definition.
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
