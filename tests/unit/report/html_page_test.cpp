// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/html_page.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <string>

namespace polyhop::html_page_test {
namespace {

bool has(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

class HtmlPage : public testing::TestWithParam<std::string_view (*)()> {};

TEST_P(HtmlPage, LeavesNoMarkBehind) {
  const std::string page = filled_page(GetParam()(), "title", "{}");
  std::smatch mark;
  EXPECT_FALSE(std::regex_search(page, mark, std::regex("@[A-Z0-9_]+@"))) << mark.str();
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
}

TEST_P(HtmlPage, HoldsItsTitleItsDataAndD3) {
  const std::string page = filled_page(GetParam()(), "a < b", R"({"a":"<b>&"})");
  EXPECT_TRUE(has(page, "<title>a &lt; b - polyhop</title>"));
  EXPECT_TRUE(has(page, R"(id="data">{"a":"\u003cb\u003e\u0026"}</script>)"));
  EXPECT_TRUE(has(page, std::string(d3_script())));
}

TEST_P(HtmlPage, MarksInTextsAreTexts) {
  const std::string page = filled_page(GetParam()(), "@DATA@ @D3@", R"({"a":"@D3@ @TITLE@"})");
  EXPECT_TRUE(has(page, "<title>@DATA@ @D3@ - polyhop</title>"));
  EXPECT_TRUE(has(page, R"(id="data">{"a":"@D3@ @TITLE@"}</script>)"));
}

INSTANTIATE_TEST_SUITE_P(All, HtmlPage, testing::Values(report_page, scoreboard_page, fit_page));

}  // namespace
}  // namespace polyhop::html_page_test
