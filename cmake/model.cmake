# Plug-ins for networks. Each is built if its library is found. The command looks for them in its own folder,
# then in ../lib/kandinsky.
set(KANDINSKY_TORCH AUTO CACHE STRING "Build the plug-in that trains and runs networks with libtorch: AUTO, ON or OFF")
set(KANDINSKY_ONNX AUTO CACHE STRING "Build the plug-in that runs ONNX models with OpenCV: AUTO, ON or OFF")

function(kandinsky_plugin target folder found wanted)
  if(wanted STREQUAL "OFF" OR (wanted STREQUAL "AUTO" AND NOT found))
    return()
  endif()
  add_subdirectory(${PROJECT_SOURCE_DIR}/${folder} ${PROJECT_BINARY_DIR}/${folder})
  set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/kandinsky COMPONENT networks)
endfunction()

# The run-time libraries of sanitizers and libtorch are incompatible.
if(NOT KANDINSKY_SANITIZE)
  find_file(KANDINSKY_TORCH_CONFIG TorchConfig.cmake PATHS ${CMAKE_PREFIX_PATH} /usr/lib
            PATH_SUFFIXES Torch share/cmake/Torch ${CMAKE_LIBRARY_ARCHITECTURE}/cmake/Torch cmake/Torch)
  find_path(KANDINSKY_ONNX_HEADERS opencv2/dnn.hpp PATH_SUFFIXES opencv4)
  kandinsky_plugin(kandinsky_torch src/model/torch "${KANDINSKY_TORCH_CONFIG}" "${KANDINSKY_TORCH}")
  kandinsky_plugin(kandinsky_onnx src/model/onnx "${KANDINSKY_ONNX_HEADERS}" "${KANDINSKY_ONNX}")
endif()
