# Faster compilation for `pip install .`: headers are read once for many files, and code that is not hot is optimised less. No
# value changes. docs/python.md has the time. Files of a group are compiled as one, so names in their unnamed namespaces must
# differ.

# Sets `out` to a file that includes the given files of vector code. Compiled together, they read Highway's headers, which take
# longest, only once for each kind of processor.
function(kandinsky_join_vector_code out)
  set(place "${PROJECT_BINARY_DIR}/generated/${out}.cpp")
  set(begin "#undef HWY_TARGET_INCLUDE\n#define HWY_TARGET_INCLUDE \"${place}\"\n")
  set(text "${begin}#include <hwy/foreach_target.h>\n#include <hwy/highway.h>\n")
  foreach(source ${ARGN})
    string(APPEND text "#include \"${source}\"\n")
  endforeach()
  string(APPEND text "${begin}")  # the sources have redefined the macro
  file(CONFIGURE OUTPUT ${place} CONTENT "${text}" @ONLY)
  set(${out} ${place} PARENT_SCOPE)
endfunction()

function(kandinsky_compile_quickly target)
  # No vector code for SSSE3 and SSE4, to compile less: processors without AVX2 run the code for the oldest kind.
  target_compile_definitions(${target} PRIVATE "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4)")
  # Loops are vectorised as with -O3; the other optimisations of -O3 take long to compile.
  target_compile_options(${target} PRIVATE -O2 -ftree-vectorize $<$<CXX_COMPILER_ID:GNU>:-fvect-cost-model=dynamic>)

  # Cold files write or read JSON or text, read files and wait for disk and zlib, or call hot code. Files are grouped by the
  # library whose headers take longest, or by folder.
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${source})  # parent folders may have any name, such as "src"
    set(long "")
    if(EXISTS ${source})  # the build generates the report's page
      file(STRINGS ${source} long REGEX "^#(include <(boost|nlohmann)/|define HWY_TARGET_INCLUDE)")
    endif()
    if(long MATCHES "HWY_TARGET_INCLUDE")
      if(name MATCHES "^src/io/")
        list(APPEND vector_readers ${source})
      else()
        list(APPEND vector_code ${source})
      endif()
    elseif(long MATCHES "boost/")
      list(APPEND cold ${source})
      set_property(SOURCE ${source} PROPERTY UNITY_GROUP boost)
    elseif(name MATCHES "^src/calibrate/(adapted_values|group_losses|nested_sets|predict|predictor|set_tally|sketch|thresholds)")
      list(APPEND hot ${source})
      set_property(SOURCE ${source} PROPERTY UNITY_GROUP predict)
    elseif(long MATCHES "nlohmann" OR name MATCHES "^src/(io|report|calibrate|evaluate/compare|partition/method)")
      list(APPEND cold ${source})
      string(REGEX MATCH "^src/(io|report)/" folder ${name})
      set_property(SOURCE ${source} PROPERTY UNITY_GROUP "cold${CMAKE_MATCH_1}")
    else()
      list(APPEND hot ${source})
      if(name MATCHES "^src/(curve/curve|partition/image_shift|scene/photo).cpp")
        set_property(SOURCE ${source} PROPERTY UNITY_GROUP apart)
      elseif(name MATCHES "^src/curve/smooth_curves")
        set_property(SOURCE ${source} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
      elseif(name MATCHES "^src/(partition/(fcc|field|genann|kmeans)|[a-z]+)/")
        string(MAKE_C_IDENTIFIER ${CMAKE_MATCH_1} group)
        set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${group})
      endif()
    endif()
  endforeach()
  kandinsky_join_vector_code(vector_code ${vector_code})
  kandinsky_join_vector_code(vector_readers ${vector_readers})
  set_property(SOURCE ${vector_readers} PROPERTY COMPILE_DEFINITIONS _GLIBCXX_ASSERTIONS)  # they read untrusted files
  set_target_properties(${target} PROPERTIES SOURCES "${hot};${vector_code};${vector_readers}" UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set(headers <algorithm> <cmath> <fmt/format.h> <kandinsky/calibrator.hpp> <map> <mutex> <numeric> <set> <string>
              "${PROJECT_SOURCE_DIR}/src/core/base/fail.hpp" "${PROJECT_SOURCE_DIR}/src/core/base/parallel.hpp")
  target_precompile_headers(${target} PRIVATE ${headers})
  set_property(SOURCE ${vector_code} ${vector_readers} PROPERTY SKIP_PRECOMPILE_HEADERS ON)  # they define macros that Highway reads
  set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/scene/blob.cpp PROPERTY SKIP_PRECOMPILE_HEADERS ON)  # it has flags of its own, with which clang refuses precompiled headers

  add_library(${target}_cold OBJECT ${cold})
  foreach(property CXX_EXTENSIONS INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_OPTIONS LINK_LIBRARIES COMPILE_FEATURES
                   POSITION_INDEPENDENT_CODE)
    get_target_property(value ${target} ${property})
    if(value)
      set_target_properties(${target}_cold PROPERTIES ${property} "${value}")
    endif()
  endforeach()
  set_property(SOURCE ${cold} PROPERTY COMPILE_DEFINITIONS)  # removed, because the target defines them
  target_compile_definitions(${target}_cold PRIVATE _GLIBCXX_ASSERTIONS)
  target_compile_options(${target}_cold PRIVATE -O1 -fno-tree-vectorize
                         $<$<CXX_COMPILER_ID:GNU>:-fno-inline-small-functions>)
  target_precompile_headers(${target}_cold PRIVATE ${headers} <nlohmann/json.hpp>)
  set_target_properties(${target}_cold PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP CXX_EXTENSIONS OFF
                        CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_cold>)
endfunction()
