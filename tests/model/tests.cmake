# Training, inference and experiments through the command; only where the plug-ins are built.
if(KANDINSKY_BUILD_CLI AND TARGET kandinsky_torch)
  set(KANDINSKY_PYTHON /usr/bin/python3 CACHE FILEPATH "Python with numpy and pytest, for the tests")
  foreach(name train experiment options)
    add_test(NAME model_${name} COMMAND ${KANDINSKY_PYTHON} -m pytest -q -p no:cacheprovider
             ${CMAKE_CURRENT_LIST_DIR}/test_${name}.py)
    set_tests_properties(model_${name} PROPERTIES LABELS python TIMEOUT 900 ENVIRONMENT
      "KANDINSKY_COMMAND=$<TARGET_FILE:kandinsky_cli>;PYTHONDONTWRITEBYTECODE=1;OMP_NUM_THREADS=1")
  endforeach()
endif()
# ONNX models: onnxruntime, the reference, comes from PyPI with the Python package's test environment.
if(KANDINSKY_BUILD_CLI AND TARGET kandinsky_onnx)
  add_test(NAME model_onnx COMMAND ${KANDINSKY_PYTHON} ${PROJECT_SOURCE_DIR}/tests/python/environment.py run
           ${PROJECT_BINARY_DIR} -m pytest -q -rs -p no:cacheprovider ${CMAKE_CURRENT_LIST_DIR}/onnx)
  set_tests_properties(model_onnx PROPERTIES LABELS python TIMEOUT 900 SKIP_RETURN_CODE 77
    FIXTURES_REQUIRED python_environment ENVIRONMENT
    "KANDINSKY_COMMAND=$<TARGET_FILE:kandinsky_cli>;PYTHONDONTWRITEBYTECODE=1")
endif()
