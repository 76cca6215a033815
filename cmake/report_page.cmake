# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
# Puts a page together, NAME.html of a folder, as a C++ source: styles, d3 and scripts go into the page, and a policy
# that allows these very texts, by their SHA-256, and nothing else. The function that gives the page is NAME_page.
# usage: cmake -DPAGE=FOLDER -DNAME=report -DD3=FILE -DOUTPUT=FILE -P report_page.cmake

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

file(READ ${PAGE}/${NAME}.html page)
file(READ ${PAGE}/d3_licence.txt licence)
string(REPLACE "@D3_LICENCE@" "${licence}" page "${page}")
file(GLOB files_of_STYLE ${PAGE}/common.css ${PAGE}/${NAME}.css)
set(files_of_D3 ${D3})
set(files_of_SCRIPT ${PAGE}/common.js ${PAGE}/${NAME}.js)
foreach(part IN ITEMS STYLE D3 SCRIPT)
  set(text "")
  foreach(file IN LISTS files_of_${part})
    file(READ ${file} one)
    string(APPEND text "${one}")
  endforeach()
  string(SHA256 hash "${text}")
  base64(${hash} hash)
  string(REPLACE "@${part}@" "${text}" page "${page}")
  string(REPLACE "@${part}_HASH@" "sha256-${hash}" page "${page}")
endforeach()

file(WRITE ${OUTPUT} "#include <string_view>

namespace polyhop {

std::string_view ${NAME}_page() {
  return R\"polyhop(${page})polyhop\";
}

}  // namespace polyhop
")
