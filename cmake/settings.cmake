# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
# How everything of polyhop's is compiled.

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
  endif()
  find_program(CCACHE ccache)
  if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # ccache takes precompiled headers only where it may trust their names and times.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()

# Adds what every target of polyhop's needs: the language, the warnings, the sanitizers.
function(polyhop_settings target)
  set_target_properties(${target} PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE -ffp-contract=off -Wall -Wextra -Wpedantic -Wconversion -Wshadow
    $<$<BOOL:${POLYHOP_WERROR}>:-Werror>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>  # false alarms on std::string's operator+ in g++ 12 (its bug 105651)
    # clang's -Wconversion has it, g++'s has not: an Index indexes containers as it is.
    $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>)
  if(POLYHOP_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # ccache must see what was precompiled; g++ forgets that it is the system's, and has more false alarms of that kind.
    target_compile_options(${target} PRIVATE -fpch-preprocess -Wno-stringop-overflow -Wno-array-bounds)
  endif()
  if(POLYHOP_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")  # for ccache, too
  endif()
  if(POLYHOP_SANITIZE)
    # Inlining under sanitizers makes g++ see uninitialised values where there are none.
    target_compile_options(${target} PRIVATE -fsanitize=${POLYHOP_SANITIZE} -fno-sanitize-recover=all
      -fno-omit-frame-pointer $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    target_link_options(${target} PRIVATE -fsanitize=${POLYHOP_SANITIZE})
    if(NOT POLYHOP_SANITIZE_ALL)
      # Half of the time of compiling goes into these. Bad addresses are found without them.
      target_compile_options(${target} PRIVATE -fno-sanitize=null,object-size,alignment,vptr)
    endif()
  endif()
endfunction()

# polyhop_together(TARGET SOURCE...): compiled as one source with POLYHOP_UNITY, which is quicker than one after the other.
function(polyhop_together target)
  if(POLYHOP_UNITY)
    # What a source has to itself looks like a part of a header then, and to clang like something that others shadow.
    target_compile_options(${target} PRIVATE
      $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage> $<$<CXX_COMPILER_ID:Clang>:-Wno-shadow>)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    list(GET ARGN 0 first)
    cmake_path(GET first PARENT_PATH folder)
    cmake_path(GET folder FILENAME room)
    set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${room})
  endif()
endfunction()

# polyhop_precompile(TARGET HEADER...): read once, and not for every source. Without it (the preset dev) a source that
# relies on it does not compile.
function(polyhop_precompile target)
  if(POLYHOP_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()
