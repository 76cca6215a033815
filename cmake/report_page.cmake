# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
# Puts the pages together as a C++ source, a function NAME_page for each: frame.html with the texts of NAME.html, styles
# and scripts at their marks, and a policy that allows these very texts and d3, by their SHA-256, and nothing else.
# Title, data and d3, which all pages share, are filled in by report/html_page.cpp.
# usage: cmake -DFOLDER=FOLDER -DD3_FILE=FILE -DOUTPUT=FILE -P report_page.cmake

# A hash of 64 hexadecimal digits in base64: three digits make two characters, and the padding is known.
function(base64 hex out)
  set(alphabet ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  set(text "")
  foreach(first RANGE 0 63 3)
    string(SUBSTRING "${hex}00" ${first} 3 digits)
    math(EXPR high "0x${digits} >> 6")
    math(EXPR low "0x${digits} & 63")
    string(SUBSTRING ${alphabet} ${high} 1 high)
    string(SUBSTRING ${alphabet} ${low} 1 low)
    string(APPEND text ${high}${low})
  endforeach()
  string(SUBSTRING ${text} 0 43 text)
  set(${out} "${text}=" PARENT_SCOPE)
endfunction()

# The texts of files, one after the other, and what a policy calls them.
function(read_texts out)
  set(texts "")
  foreach(file IN LISTS ARGN)
    file(READ ${file} text)
    string(APPEND texts "${text}")
  endforeach()
  string(SHA256 hash "${texts}")
  base64(${hash} hash)
  set(${out} "${texts}" PARENT_SCOPE)
  set(${out}_HASH "sha256-${hash}" PARENT_SCOPE)
endfunction()

file(READ ${FOLDER}/d3_licence.txt D3_LICENCE)
read_texts(D3 ${D3_FILE})
set(source "#include \"polyhop/report/html_page.hpp\"

namespace polyhop {

std::string_view d3_script() { return R\"polyhop(${D3})polyhop\"; }
")
foreach(name IN ITEMS report scoreboard fit)
  file(READ ${FOLDER}/frame.html page)
  file(READ ${FOLDER}/${name}.html own)
  foreach(mark IN ITEMS SKIP BRAND HEADING SECTIONS)
    string(REGEX MATCH "@${mark}@\n([^@]*)" text "${own}")
    string(REPLACE "@${mark}@\n" "${CMAKE_MATCH_1}" page "${page}")
  endforeach()
  file(GLOB styles ${FOLDER}/common.css ${FOLDER}/${name}.css)
  read_texts(STYLE ${styles})
  read_texts(SCRIPT ${FOLDER}/common.js ${FOLDER}/${name}.js)
  foreach(mark IN ITEMS D3_LICENCE D3_HASH STYLE STYLE_HASH SCRIPT SCRIPT_HASH)
    string(REPLACE "@${mark}@" "${${mark}}" page "${page}")
  endforeach()
  string(APPEND source "
std::string_view ${name}_page() { return R\"polyhop(${page})polyhop\"; }
")
endforeach()
file(WRITE ${OUTPUT} "${source}
}  // namespace polyhop
")
