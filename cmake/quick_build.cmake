# What makes a build quick: half of the time of a small source goes into reading headers of the libraries, and most of
# the rest into functions of templates that its neighbours make again.
#
# The headers that nearly every source reads are read once (a precompiled header), and the sources of a folder are
# compiled several at a time. Sources of one folder so share the names of their unnamed namespaces: a second kLimits
# beside another one is an error of the compiler. -DSTEPSCOPE_BATCH=1 compiles each source by itself.
set(STEPSCOPE_BATCH 8 CACHE STRING "How many sources of a folder are compiled at a time")

set(stepscope_headers <algorithm> <array> <atomic> <charconv> <chrono> <cstdint> <filesystem> <functional> <map> <memory>
    <mutex> <optional> <set> <span> <string> <string_view> <utility> <vector> <fmt/format.h> <nlohmann/json.hpp>)

# ccache takes part in precompiled headers only when it is told not to mind their times.
if(CCACHE)
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endif()

# A linker that is quicker than the usual one, where one is installed.
foreach(linker mold lld gold)
  find_program(STEPSCOPE_LINKER_${linker} ld.${linker})
  if(STEPSCOPE_LINKER_${linker})
    add_link_options(-fuse-ld=${linker})
    break()
  endif()
endforeach()

# Compiles the sources of each folder of a target in batches, but for those in folders that `alone` matches.
function(stepscope_batches target sources alone)
  if(STEPSCOPE_BATCH LESS 2)
    return()
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The compiler takes the sources of a batch for headers, whose types must not use unnamed namespaces.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  foreach(source ${sources})
    get_filename_component(folder ${source} DIRECTORY)
    file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR} ${folder})
    if(alone AND folder MATCHES "${alone}")
      continue()
    endif()
    string(MAKE_C_IDENTIFIER ${folder} key)
    math(EXPR count_${key} "0${count_${key}} + 1")
    math(EXPR batch "(${count_${key}} - 1) / ${STEPSCOPE_BATCH}")
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${key}_${batch})
  endforeach()
endfunction()
