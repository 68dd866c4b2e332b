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
  endif()
endfunction()
