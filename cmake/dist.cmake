# The MPI plug-in for several ranks, built if MPI is found. The command looks for it in its own folder,
# then in ../lib/kandinsky.
set(KANDINSKY_MPI AUTO CACHE STRING "Build the plug-in for work on several ranks with MPI: AUTO, ON or OFF")
find_program(KANDINSKY_MPI_COMPILER NAMES mpicxx mpic++ mpiCC)
# The run-time libraries of sanitizers and of the plug-in are incompatible.
if(NOT KANDINSKY_MPI STREQUAL "OFF" AND NOT KANDINSKY_SANITIZE AND
   (KANDINSKY_MPI STREQUAL "ON" OR KANDINSKY_MPI_COMPILER))
  add_subdirectory(${PROJECT_SOURCE_DIR}/src/dist/mpi ${PROJECT_BINARY_DIR}/src/dist/mpi)
  set_target_properties(kandinsky_mpi PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  install(TARGETS kandinsky_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/kandinsky COMPONENT mpi)
endif()
