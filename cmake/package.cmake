# `make package`: Debian packages. `kandinsky` has the command, the library with its headers, and find_package(kandinsky);
# `kandinsky-networks`, where the plug-ins were built, has these, since their libraries are larger than everything else.
# dpkg-shlibdeps names the packages needed at run time, so that list cannot grow stale.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME kandinsky)
set(CPACK_PACKAGE_VENDOR "The Kandinsky developers")
set(CPACK_PACKAGE_CONTACT "The Kandinsky developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL Unspecified)  # what install() names no component for
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_NAME kandinsky)
set(CPACK_COMPONENT_UNSPECIFIED_DESCRIPTION
    "Turns the probability maps of a segmentation model into prediction sets per pixel.\nContains the command kandinsky, the C++ library with its headers, and find_package(kandinsky).")
# Programs that link the static library need the development packages of what it is made of.
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_RECOMMENDS
    "libtbb-dev, libhwy-dev, libfmt-dev, nlohmann-json3-dev, zlib1g-dev, libeigen3-dev, libboost-dev, libnifti-dev, libspng-dev, libturbojpeg0-dev, libsimdjson-dev")
if(TARGET kandinsky_torch OR TARGET kandinsky_onnx)
  list(APPEND CPACK_COMPONENTS_ALL networks)
  set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_SUGGESTS kandinsky-networks)
  set(CPACK_DEBIAN_NETWORKS_PACKAGE_NAME kandinsky-networks)
  set(CPACK_DEBIAN_NETWORKS_PACKAGE_DEPENDS "kandinsky (= ${PROJECT_VERSION})")
  set(CPACK_COMPONENT_NETWORKS_DESCRIPTION
      "Plug-ins of kandinsky that train and run networks.\nFor the commands train, infer and experiment, and for calibrate --model.")
endif()
if(TARGET kandinsky_mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_NAME kandinsky-mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "kandinsky (= ${PROJECT_VERSION}), openmpi-bin")
  set(CPACK_COMPONENT_MPI_DESCRIPTION
      "Plug-in of kandinsky for work on many machines.\nFor mpirun kandinsky calibrate, evaluate and compare.")
endif()
include(CPack)
