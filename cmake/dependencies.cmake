# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
# What the library is made from. No public header shows any of it. What is only headers is needed to build polyhop
# and not to use it; what must be linked is named again in polyhopConfig.cmake.in and polyhop.pc.in.

find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(FastFloat REQUIRED)
# Neither has a CMake file that serves: Random123 has none, toml++'s asks for the compiled library.
find_path(RANDOM123_INCLUDE_DIR Random123/philox.h REQUIRED)
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)
# The charts of report.html; its text goes into the library.
find_file(D3_SCRIPT javascript/d3/d3.min.js PATHS /usr/share /usr/local/share REQUIRED)

find_package(fmt REQUIRED)
find_package(pugixml REQUIRED)
find_package(ZLIB REQUIRED)
find_package(SQLiteCpp REQUIRED)
find_package(Threads REQUIRED)
# Debian's libzip-config.cmake fails unless its command line tools are installed too; liblbfgs has none.
find_package(PkgConfig REQUIRED)
pkg_check_modules(libzip REQUIRED IMPORTED_TARGET libzip)
pkg_check_modules(liblbfgs REQUIRED IMPORTED_TARGET liblbfgs)

# Optional: a placement of the agents that cuts few edges.
find_path(METIS_INCLUDE_DIR metis.h)
find_library(METIS_LIBRARY metis)
mark_as_advanced(METIS_INCLUDE_DIR METIS_LIBRARY)
set(POLYHOP_METIS_LIBS "")
if(METIS_INCLUDE_DIR AND METIS_LIBRARY)
  set(POLYHOP_METIS_LIBS "-lmetis")
endif()
