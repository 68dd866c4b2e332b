# The report's page: web/ bundled by Vite into one HTML file, which becomes a C++ array of the library. Node and npm are
# needed only here. Everything happens in a copy below the build folder, so that the source tree stays clean.
# A source distribution ships the page built, as web/dist/index.html: the Python package takes it from there.
#   AUTO  build the page if Node (18 or newer) and npm are installed and can fetch the packages; otherwise print why not
#   ON    the same, but fail without the page
#   OFF   do not build the page; the program then says how to enable reports
set(KANDINSKY_WEB AUTO CACHE STRING "Build the HTML report's page: AUTO, ON or OFF")
set_property(CACHE KANDINSKY_WEB PROPERTY STRINGS AUTO ON OFF)
set(KANDINSKY_WEB_DIR ${PROJECT_BINARY_DIR}/web)
set(KANDINSKY_WEB_READY FALSE)

# Sets `problem` to the reason why the page cannot be built, or to an empty text.
function(kandinsky_web_prepare problem)
  find_program(KANDINSKY_NODE node)
  find_program(KANDINSKY_NPM npm)
  if(NOT KANDINSKY_NODE OR NOT KANDINSKY_NPM)
    set(${problem} "nodejs and npm are not installed" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND ${KANDINSKY_NODE} --version OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX REPLACE "^v" "" version "${version}")
  if(version VERSION_LESS 18)
    set(${problem} "Node is ${version}, but 18 or newer is needed" PARENT_SCOPE)
    return()
  endif()
  set(lock ${PROJECT_SOURCE_DIR}/web/package-lock.json)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${lock})
  file(SHA256 ${lock} hash)
  set(stamp ${KANDINSKY_WEB_DIR}/installed-${hash})
  if(NOT EXISTS ${stamp})
    message(STATUS "Report: fetching the page's build tools (npm ci)")
    file(MAKE_DIRECTORY ${KANDINSKY_WEB_DIR})
    file(COPY ${PROJECT_SOURCE_DIR}/web/package.json ${lock} DESTINATION ${KANDINSKY_WEB_DIR})
    execute_process(COMMAND ${KANDINSKY_NPM} ci --no-audit --no-fund --prefer-offline --fetch-retries=1
                            --fetch-timeout=20000
                    WORKING_DIRECTORY ${KANDINSKY_WEB_DIR} TIMEOUT 300 RESULT_VARIABLE failed
                    OUTPUT_FILE ${KANDINSKY_WEB_DIR}/npm.log ERROR_FILE ${KANDINSKY_WEB_DIR}/npm.log)
    if(failed)
      set(${problem} "npm could not fetch the packages (see ${KANDINSKY_WEB_DIR}/npm.log)" PARENT_SCOPE)
      return()
    endif()
    file(TOUCH ${stamp})
  endif()
  set(${problem} "" PARENT_SCOPE)
endfunction()

# Sets `out` to the source file that defines the template.
function(kandinsky_report_template out)
  set(source ${PROJECT_BINARY_DIR}/generated/report_template.cpp)
  set(${out} ${source} PARENT_SCOPE)
  set(shipped ${PROJECT_SOURCE_DIR}/web/dist/index.html)
  if(KANDINSKY_PACKAGE AND NOT KANDINSKY_WEB AND EXISTS ${shipped})
    message(STATUS "Report: the page that came with the sources")
    execute_process(COMMAND ${CMAKE_COMMAND} -DPAGE=${shipped} -DSOURCE=${source}
                            -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
    return()
  endif()
  set(problem "KANDINSKY_WEB is OFF")
  if(KANDINSKY_WEB)
    kandinsky_web_prepare(problem)
  endif()
  if(problem)
    if(KANDINSKY_WEB AND NOT KANDINSKY_WEB STREQUAL AUTO)
      message(FATAL_ERROR "The report's page cannot be built: ${problem}")
    endif()
    message(STATUS "Report: off, ${problem}; everything else is built")
    set(stub ${PROJECT_BINARY_DIR}/generated/empty.html)
    file(WRITE ${stub} "")
    execute_process(COMMAND ${CMAKE_COMMAND} -DPAGE=${stub} -DSOURCE=${source}
                            -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
    return()
  endif()
  file(GLOB_RECURSE parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/src/* ${PROJECT_SOURCE_DIR}/web/*.html
       ${PROJECT_SOURCE_DIR}/web/tests/*)
  list(FILTER parts EXCLUDE REGEX "/node_modules/")
  list(APPEND parts ${PROJECT_SOURCE_DIR}/web/vite.config.ts ${PROJECT_SOURCE_DIR}/web/tsconfig.json
       ${PROJECT_SOURCE_DIR}/web/package.json)
  set(page ${KANDINSKY_WEB_DIR}/dist/index.html)
  add_custom_command(OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -E rm -rf src tests dist
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_SOURCE_DIR}/web/src src
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_SOURCE_DIR}/web/tests tests
    COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/web/index.html ${PROJECT_SOURCE_DIR}/web/vite.config.ts
            ${PROJECT_SOURCE_DIR}/web/tsconfig.json ${PROJECT_SOURCE_DIR}/web/package.json .
    COMMAND ${KANDINSKY_NPM} run --silent build
    DEPENDS ${parts} WORKING_DIRECTORY ${KANDINSKY_WEB_DIR} COMMENT "Bundling the report's page" VERBATIM)
  add_custom_target(report_page DEPENDS ${page})
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DPAGE=${page} -DSOURCE=${source} -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${page} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake COMMENT "Embedding the report's page" VERBATIM)
  set(KANDINSKY_WEB_READY TRUE PARENT_SCOPE)
endfunction()
