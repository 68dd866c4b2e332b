# For `pip install .`, where whoever installs compiles: what takes no time when it runs takes little when it is compiled. No
# value changes. docs/python.md has the time; a file whose unnamed namespace collides with another one's in its folder fails to
# compile here, and needs another name.
function(kandinsky_compile_quickly target)
  # Vector code for three kinds of processors instead of six: without AVX2 it runs as on the oldest.
  target_compile_definitions(${target} PRIVATE "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4)")
  # Loops are vectorised as with -O3; what that adds beyond takes long to compile.
  target_compile_options(${target} PRIVATE -O2 -ftree-vectorize -fvect-cost-model=dynamic)
  get_target_property(hot ${target} SOURCES)
  # Scores and sets are made elsewhere. These hold what reads headers for longest: JSON and formatted text. Readers wait
  # for disk and zlib.
  set(cold ${hot})
  list(FILTER cold INCLUDE REGEX "/src/(io|report|calibrate|evaluate/compare|partition/genann/genann|partition/fcc/fcc)")
  list(FILTER cold EXCLUDE REGEX "/src/calibrate/(predict|set_tally|thresholds)")
  foreach(source ${cold})  # vector code includes itself once for each kind of processor
    file(STRINGS ${source} vector_code REGEX "HWY_TARGET_INCLUDE")
    if(vector_code)
      list(REMOVE_ITEM cold ${source})
    endif()
  endforeach()
  list(REMOVE_ITEM hot ${cold})
  set_target_properties(${target} PROPERTIES SOURCES "${hot}")

  add_library(${target}_cold OBJECT ${cold})
  foreach(property CXX_EXTENSIONS INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_OPTIONS LINK_LIBRARIES COMPILE_FEATURES
                   POSITION_INDEPENDENT_CODE)
    get_target_property(value ${target} ${property})
    if(value)
      set_target_properties(${target}_cold PROPERTIES ${property} "${value}")
    endif()
  endforeach()
  # io reads what others wrote; see CMakeLists.txt.
  set_property(SOURCE ${cold} PROPERTY COMPILE_DEFINITIONS)
  target_compile_definitions(${target}_cold PRIVATE _GLIBCXX_ASSERTIONS)
  target_compile_options(${target}_cold PRIVATE -O1 -fno-tree-vectorize)
  foreach(source ${cold})
    string(REGEX MATCH "/src/(io|report)/" folder ${source})
    string(MAKE_C_IDENTIFIER "cold${folder}" group)
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target}_cold PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP CXX_EXTENSIONS OFF)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_cold>)

  # Folders in one piece, but for vector code.
  foreach(source ${hot})
    if(source MATCHES "/src/(partition/(field|genann|kmeans|fcc)|score)/")
      set(group ${CMAKE_MATCH_1})
      file(STRINGS ${source} vector_code REGEX "HWY_TARGET_INCLUDE")
      if(NOT vector_code)
        string(MAKE_C_IDENTIFIER ${group} group)
        set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${group})
      endif()
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)

  target_precompile_headers(${target} PRIVATE <algorithm> <array> <atomic> <cmath> <filesystem> <functional> <map> <memory>
    <mutex> <numeric> <optional> <span> <string> <thread> <variant> <vector> <fmt/format.h> <kandinsky/kandinsky.hpp>)
  # Files with definitions or options of their own cannot share the others' compiled headers.
  foreach(source ${hot})
    get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    if(definitions OR options)
      set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
  set_source_files_properties(src/scene/blob.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
