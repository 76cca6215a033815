# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
# Puts the page of report.html together, as a C++ source: style, d3 and script go into the page, and a policy that
# allows these very texts, by their SHA-256, and nothing else.
# usage: cmake -DPAGE=FOLDER -DD3=FILE -DOUTPUT=FILE -P report_page.cmake

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

file(READ ${PAGE}/report.html page)
foreach(part IN ITEMS STYLE D3 SCRIPT)
  set(file_of_STYLE ${PAGE}/report.css)
  set(file_of_D3 ${D3})
  set(file_of_SCRIPT ${PAGE}/report.js)
  file(READ ${file_of_${part}} text)
  string(SHA256 hash "${text}")
  base64(${hash} hash)
  string(REPLACE "@${part}@" "${text}" page "${page}")
  string(REPLACE "@${part}_HASH@" "sha256-${hash}" page "${page}")
endforeach()

file(WRITE ${OUTPUT} "#include <string_view>

namespace polyhop {

std::string_view report_page() {
  return R\"polyhop(${page})polyhop\";
}

}  // namespace polyhop
")
