# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
# How everything of polyhop's is compiled.

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
  endif()
  find_program(CCACHE ccache)
  if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()

# Adds what every target of polyhop's needs: the language, the warnings, the sanitizers.
function(polyhop_settings target)
  set_target_properties(${target} PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE -ffp-contract=off -Wall -Wextra -Wpedantic -Wconversion -Wshadow
    $<$<BOOL:${POLYHOP_WERROR}>:-Werror>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)  # false alarms on std::string's operator+ in g++ 12 (its bug 105651)
  if(POLYHOP_SANITIZE)
    # The dynamic linker resolves ifuncs, which choose a clone by CPU, before the sanitizers are ready.
    target_compile_definitions(${target} PRIVATE POLYHOP_NO_CLONES=1)
    # Inlining under sanitizers makes g++ see uninitialised values where there are none.
    target_compile_options(${target} PRIVATE -fsanitize=${POLYHOP_SANITIZE} -fno-sanitize-recover=all
      -fno-omit-frame-pointer -Wno-maybe-uninitialized)
    target_link_options(${target} PRIVATE -fsanitize=${POLYHOP_SANITIZE})
  endif()
endfunction()
