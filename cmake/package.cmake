# `make package`: one Debian package with the command, the library, its headers and the CMake package.
# dpkg-shlibdeps names the packages that the program needs at run time, so the list cannot grow stale.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME kandinsky)
set(CPACK_PACKAGE_VENDOR "The Kandinsky developers")
set(CPACK_PACKAGE_CONTACT "The Kandinsky developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION "Turns the probability maps of a segmentation model into prediction sets per pixel.
Contains the command kandinsky, the C++ library with its headers, and find_package(kandinsky).")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Programs that link the library need the development packages of what it is made of.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libtbb-dev, libhwy-dev, libfmt-dev, nlohmann-json3-dev, zlib1g-dev, libeigen3-dev, libboost-dev")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS OFF)
include(CPack)
