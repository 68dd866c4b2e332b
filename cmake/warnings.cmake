# Warnings, hardening and sanitizers shared by every target of the project.
function(kandinsky_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                         -ffp-contract=off)
  if(KANDINSKY_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  target_compile_definitions(${target} PRIVATE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
  if(KANDINSKY_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${KANDINSKY_SANITIZE} -fno-omit-frame-pointer
                           -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${KANDINSKY_SANITIZE})
  else()
    # Fortified calls need optimisation, and sanitizers check the same calls better. A compiler that already defines
    # the macro would warn about the second definition.
    target_compile_options(${target} PRIVATE -fstack-protector-strong
                           "$<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE" AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
    target_link_options(${target} PRIVATE -Wl,-z,relro,-z,now)
  endif()
endfunction()
