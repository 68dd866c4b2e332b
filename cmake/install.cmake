# `cmake --install` and find_package(kandinsky). The component `development` has the files to compile against the library;
# files without a component belong to the command. cmake/package.cmake makes one package of each component.
include(CMakePackageConfigHelpers)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kandinsky)
install(TARGETS kandinsky EXPORT kandinsky-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/kandinsky DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
get_target_property(kandinsky_type kandinsky TYPE)
if(KANDINSKY_BUILD_CLI)
  if(kandinsky_type STREQUAL "SHARED_LIBRARY")
    # The installed command finds the library by a relative path, so both can be moved together.
    file(RELATIVE_PATH to_library ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
    set_target_properties(kandinsky_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${to_library}")
  endif()
  install(TARGETS kandinsky_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES ${PROJECT_SOURCE_DIR}/man/kandinsky.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  # Has the command's name, so that bash-completion finds it.
  install(FILES ${PROJECT_SOURCE_DIR}/completions/kandinsky.bash RENAME kandinsky
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/experiments DESTINATION ${CMAKE_INSTALL_DATADIR}/kandinsky)
endif()
install(EXPORT kandinsky-targets NAMESPACE kandinsky:: DESTINATION ${config_dir} COMPONENT development)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/kandinsky-config.cmake.in
  ${PROJECT_BINARY_DIR}/kandinsky-config.cmake INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kandinsky-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kandinsky-config.cmake ${PROJECT_BINARY_DIR}/kandinsky-config-version.cmake
        DESTINATION ${config_dir} COMPONENT development)
# Every package installs its licence and its changelog where Debian expects them.
function(kandinsky_install_papers package component)
  set(folder ${CMAKE_INSTALL_DATADIR}/doc/${package})
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright DESTINATION ${folder} COMPONENT ${component})
  install(FILES ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${folder} COMPONENT ${component})
endfunction()
kandinsky_install_papers(kandinsky Unspecified)
