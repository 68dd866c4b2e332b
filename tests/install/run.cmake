# Installs BUILD_DIR into a fresh folder, moves it (the package must not know where it was installed to), and
# configures, builds and runs the consumer against it.
#   cmake -DBUILD_DIR=... -DCONSUMER=... -DCXX=... -DCONFIG=... -DCLI=... -P run.cmake
set(work ${BUILD_DIR}/install-test)
file(REMOVE_RECURSE ${work})
file(MAKE_DIRECTORY ${work})

function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " line)
    message(FATAL_ERROR "failed (${status}): ${line}")
  endif()
endfunction()

step(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${work}/first --config ${CONFIG})
file(RENAME ${work}/first ${work}/moved)
step(${CMAKE_COMMAND} -S ${CONSUMER} -B ${work}/build -G Ninja -DCMAKE_BUILD_TYPE=${CONFIG} -DCMAKE_CXX_COMPILER=${CXX}
     -DCMAKE_PREFIX_PATH=${work}/moved -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
step(${CMAKE_COMMAND} --build ${work}/build)
step(${work}/build/your_program)
if(CLI)
  step(${work}/moved/bin/kandinsky --help)
  step(${work}/moved/bin/kandinsky demo -q --images 8 --test-images 4 --size 48x32 -o ${work}/demo)
  step(${work}/build/predict ${work}/demo/kmeans.kcal ${work}/demo/test_probs.npy)
  step(${work}/build/no_exceptions ${work}/demo/kmeans.kcal)
  foreach(page share/man/man1/kandinsky.1 share/bash-completion/completions/kandinsky)
    if(NOT EXISTS ${work}/moved/${page})
      message(FATAL_ERROR "not installed: ${page}")
    endif()
  endforeach()
endif()
