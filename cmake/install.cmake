# `cmake --install` and find_package(kandinsky).
include(CMakePackageConfigHelpers)
install(TARGETS kandinsky EXPORT kandinsky-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/kandinsky DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(KANDINSKY_BUILD_CLI)
  install(TARGETS kandinsky_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(EXPORT kandinsky-targets NAMESPACE kandinsky:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kandinsky)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/kandinsky-config.cmake.in
  ${PROJECT_BINARY_DIR}/kandinsky-config.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kandinsky)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kandinsky-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kandinsky-config.cmake ${PROJECT_BINARY_DIR}/kandinsky-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kandinsky)
