// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/figure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/report/figure_parts.hpp"
#include "support/records.hpp"
#include "support/temporary_folder.hpp"

namespace polyhop::figure_test {
namespace {

namespace fs = std::filesystem;
using test::cell;

class FigureTest : public test::TemporaryFolder {
 protected:
  std::string svg(const std::vector<Record>& records, const FigureOptions& options = {}) const {
    write_figure(records, options, file("f.svg"));
    return content(file("f.svg"));
  }
};

Record record(std::vector<Cell> cells, const std::string& name = "e") {
  return test::record(std::move(cells), 1e-3, name);
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

int number_after(const std::string& svg, const std::string& text) {
  return std::atoi(svg.c_str() + svg.find(text) + text.size());
}
int height_of(const std::string& svg) { return number_after(svg, "height=\""); }
int width_of(const std::string& svg) { return number_after(svg, "width=\""); }

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST_F(FigureTest, IsWhatItsEndingSays) {
  const std::vector<Record> records = {record({cell("m", {1, 0.1, 1e-5})})};
  EXPECT_TRUE(holds(svg(records), "<svg"));
  write_figure(records, {}, file("f.pdf"));
  EXPECT_TRUE(content(file("f.pdf")).starts_with("%PDF"));
  write_figure(records, {}, file("f.png"));
  EXPECT_TRUE(content(file("f.png")).starts_with("\x89PNG"));
  EXPECT_EQ(entries(), 3);
}

TEST_F(FigureTest, RefusesOtherEndingsAndWritesNothing) {
  for (const char* name : {"f.gif", "f", "svg", "f.svg.old", ".svg"}) {
    try {
      write_figure({record({cell("m", {1, 0.1})})}, {}, file(name));
      FAIL() << name;
    } catch (const InputError& e) {
      EXPECT_TRUE(holds(e.what(), "should end in .svg, .pdf or .png")) << e.what();
    }
  }
  EXPECT_EQ(entries(), 0);
}

TEST_F(FigureTest, NamesShowAsThemselvesAndRunNothing) {
  const std::string trap = "touch " + file("trap");
  for (const std::string& name : {"$(" + trap + ")", "`" + trap + "`", std::string("a_b^c"), std::string("{/Bold no}"),
                                  std::string("it's \"quoted\""), std::string("ends in \\"), std::string("@x %d"),
                                  std::string("größer µ"), "'; system('" + trap + "'); '"}) {
    const std::string text = svg({record({cell(name, {1, 0.1})})});
    const std::size_t most = 30;  // a long label is cut
    EXPECT_TRUE(holds(text, name.substr(0, most))) << name;
    EXPECT_FALSE(fs::exists(file("trap"))) << name;
  }
}

TEST_F(FigureTest, NamesCannotBecomeMarkup) {
  const std::string text = svg({record({cell("<script>&amp;</script>", {1, 0.1})})});
  EXPECT_FALSE(holds(text, "<script>"));
  EXPECT_TRUE(holds(text, "&lt;script>&amp;amp;"));
}

TEST_F(FigureTest, LabelsTheAxes) {
  const std::vector<Record> records = {record({cell("m", {1, 0.1, 1e-6})})};
  EXPECT_TRUE(holds(svg(records), ">iteration<"));
  EXPECT_TRUE(holds(svg(records), ">excess risk<"));
  EXPECT_TRUE(holds(svg(records), ">target<"));
  FigureOptions options;
  options.x = CurveX::seconds;
  EXPECT_TRUE(holds(svg(records, options), ">seconds<"));
}

TEST_F(FigureTest, CutsNoNumberOffAtItsEdge) {
  Cell run = cell("m", {1, 0.1, 1e-6});
  FigureOptions options;
  options.x = CurveX::seconds;
  for (std::size_t n = 0; n < run.points.size(); ++n) run.points[n].seconds = 3e-4 * static_cast<double>(n);
  EXPECT_TRUE(holds(svg({record({run})}, options), ">0.0005<"));
  EXPECT_FALSE(holds(svg({record({run})}, options), ">0.0006<"));
  for (std::size_t n = 0; n < run.points.size(); ++n) run.points[n].seconds = 3e2 * static_cast<double>(n);
  EXPECT_TRUE(holds(svg({record({run})}, options), ">600<"));
}

TEST_F(FigureTest, ComparesTheErrorRateWithThatOfTheOptimum) {
  Cell run = cell("m", {1, 0.1, 1e-6});
  for (std::size_t n = 0; n < run.points.size(); ++n) run.points[n].error_rate = 0.5 / static_cast<double>(n + 1);
  FigureOptions options;
  options.y = curve_y(&Point::error_rate);
  EXPECT_FALSE(holds(svg({record({run})}, options), ">optimum<"));
  run.reference_error_rate = 0.15;
  const std::string text = svg({record({run})}, options);
  EXPECT_TRUE(holds(text, ">optimum<"));
  EXPECT_FALSE(holds(text, ">target<"));
}

TEST_F(FigureTest, PowersOfTenAreRaised) {
  const std::string text = svg({record({cell("m", {1, 0.1, 1e-6})})});
  EXPECT_TRUE(holds(text, ">\u22126<"));  // the exponent, a text of its own
  EXPECT_FALSE(holds(text, "10^"));
}

TEST_F(FigureTest, ACurveThatRisesFarAboveItsStartLeavesTheFrame) {
  const std::string text = svg({record({cell("m", {1, 0.1, 1e-3}), cell("far", {1, 1e9, 1e18})})});
  EXPECT_TRUE(holds(text, ">\u22123<"));
  EXPECT_FALSE(holds(text, ">18<"));
}

TEST_F(FigureTest, ShowsTheMethodsThatAreAskedFor) {
  const std::vector<Record> records = {record({cell("first", {1, 0.1}), cell("second", {1, 0.2})})};
  FigureOptions options;
  EXPECT_TRUE(holds(svg(records, options), ">first<"));
  options.methods = {"second"};
  EXPECT_FALSE(holds(svg(records, options), ">first<"));
  EXPECT_TRUE(holds(svg(records, options), ">second<"));
  options.methods = {"secnd"};
  try {
    svg(records, options);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_TRUE(holds(e.what(), "did you mean 'second'?")) << e.what();
  }
}

TEST_F(FigureTest, SeveralExperimentsAreNamed) {
  const Record one = record({cell("m", {1, 0.1})}, "one");
  const Record two = record({cell("m", {1, 0.2})}, "two");
  EXPECT_FALSE(holds(svg({one}), "one: m"));
  const std::string both = svg({one, two});
  EXPECT_TRUE(holds(both, ">one: m<"));
  EXPECT_TRUE(holds(both, ">two: m<"));
}

TEST_F(FigureTest, ALegendOfSeveralExperimentsExplainsMethodsAndExperimentsApart) {
  const std::vector<Cell> cells = {cell("a", {1, 0.1}), cell("b", {1, 0.2}), cell("c", {1, 0.3})};
  const std::string text = svg({record(cells, "one"), record(cells, "two")});
  for (const char* entry : {">a<", ">b<", ">c<", ">one<", ">two<"}) EXPECT_TRUE(holds(text, entry)) << entry;
  EXPECT_FALSE(holds(text, ">one: a<"));
  EXPECT_TRUE(holds(text, "rgb( 96,  96,  96)")) << "the dashes of the experiments";
}

TEST_F(FigureTest, MoreMethodsThanColoursMayStillShareThoseOfTheirNames) {
  const auto of = [](const std::vector<std::string>& names, const std::string& name) {
    std::vector<Cell> cells;
    for (const std::string& method : names) cells.push_back(cell(method, {1, 0.1}));
    return record(std::move(cells), name);
  };
  const std::string dashed = "stroke-dasharray='3.2,1.2'", dotted = "stroke-dasharray='0.8,0.8'";
  const std::string text = svg({of({"a", "b", "c", "d", "e"}, "one"), of({"d", "f", "g", "h"}, "two")});
  EXPECT_TRUE(holds(text, dashed));
  EXPECT_FALSE(holds(text, dotted)) << "the third kind of dashes";
  // Names 0 and 7 share a colour, so in one experiment they would look alike.
  EXPECT_TRUE(holds(svg({of({"a", "b", "c", "d", "e"}, "one"), of({"a", "f", "g", "h"}, "two")}), dotted));
}

TEST_F(FigureTest, OfSeveralExperimentsAMethodHasOneColour) {
  const std::string first = "rgb(  0,  76, 134)", second = "rgb(230, 159,   0)", dashed = "stroke-dasharray='3.2,1.2'";
  const Record one = record({cell("m", {1, 0.1})}, "one");
  const Record two = record({cell("m", {1, 0.2})}, "two");
  EXPECT_FALSE(holds(svg({one}), dashed));
  const std::string both = svg({one, two});
  EXPECT_TRUE(holds(both, first));
  EXPECT_FALSE(holds(both, second));
  EXPECT_TRUE(holds(both, dashed));
  EXPECT_TRUE(holds(svg({one, record({cell("n", {1, 0.2})}, "two")}), second));
}

TEST_F(FigureTest, ALegendWithoutRoomStandsBelow) {
  std::vector<Cell> many;
  for (int n = 0; n < 20; ++n) many.push_back(cell("method " + std::to_string(n), {1, 0.1, 0.01}));
  const std::string few = svg({record({many[0]})});
  const std::string all = svg({record(many)});
  EXPECT_GT(height_of(all), height_of(few));
  EXPECT_TRUE(holds(all, ">method 19<"));
}

TEST_F(FigureTest, ALegendStandsWhereItIsAskedTo) {
  const std::vector<Record> records = {record({cell("first", {1, 0.1, 1e-5}), cell("second", {1, 0.1, 1e-4})})};
  FigureOptions options;
  options.legend = LegendPlace::none;
  const std::string none = svg(records, options);
  EXPECT_FALSE(holds(none, ">first<"));
  options.legend = LegendPlace::inside;
  const std::string inside = svg(records, options);
  EXPECT_TRUE(holds(inside, ">first<"));
  EXPECT_EQ(height_of(inside), height_of(none));
  options.legend = LegendPlace::below;
  const std::string below = svg(records, options);
  EXPECT_GT(height_of(below), height_of(none));
  EXPECT_EQ(width_of(below), width_of(none));
  options.legend = LegendPlace::outside;
  const std::string outside = svg(records, options);
  EXPECT_TRUE(holds(outside, ">second<"));
  EXPECT_EQ(height_of(outside), height_of(none));
  EXPECT_EQ(width_of(outside), width_of(none));
}

TEST_F(FigureTest, ALegendThatWouldHideACurveGoesBelowOrIsRefused) {
  // Two points each, whose connecting lines pass all corners while no point lies in any.
  const std::vector<Record> records = {
      record({cell("falls", {1, 1e-6}), cell("rises", {1e-6, 1}), cell("high", {1, 1}), cell("low", {1e-6, 1e-6})})};
  FigureOptions options;
  options.legend = LegendPlace::below;
  const std::string below = svg(records, options);
  options.legend = LegendPlace::automatic;
  EXPECT_EQ(svg(records, options), below);
  options.legend = LegendPlace::inside;
  const std::string message = message_of([&] { svg(records, options); });
  EXPECT_TRUE(holds(message, "legend: no corner of the plot has room for 4 names")) << message;
  EXPECT_TRUE(holds(message, "write outside or below")) << message;
}

TEST_F(FigureTest, ALegendOutsideLeavesThePlotItsPart) {
  FigureOptions options;
  options.legend = LegendPlace::outside;
  const std::vector<Record> records = {record({cell("a method with a name that is long", {1, 0.1})})};
  const std::string message = message_of([&] { svg(records, options); });
  EXPECT_TRUE(holds(message, "legend: beside the axes the names would take")) << message;
  EXPECT_TRUE(holds(message, "make the figure wider, take a smaller font, or write below")) << message;
  options.width = 16;
  EXPECT_TRUE(holds(svg(records, options), ">a method with a name that is long<"));
}

TEST_F(FigureTest, ALegendHidesNoBand) {
  // The medians leave the upper right corner free, the band does not.
  std::vector<Cell> cells;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    cells.push_back(cell("named", seed, {1, seed < 3 ? 1e-6 : 1.0, seed < 3 ? 1e-6 : 1.0}));
  }
  const auto place = [&](bool band) {
    FigureOptions options;
    options.band = band;
    const std::string text = svg({record(cells)}, options);
    const std::size_t name = text.find(">named<");
    const std::size_t begin = text.rfind("translate(", name);
    return text.substr(begin, text.find(')', begin) - begin);
  };
  EXPECT_NE(place(true), place(false));
}

TEST_F(FigureTest, ManyNamesMakeALegendMuchLowerThanThePlot) {
  std::vector<Cell> many;
  for (int n = 0; n < 13; ++n) many.push_back(cell("gradient tracking " + std::to_string(n), {1, 0.1, 0.01}));
  FigureOptions options;
  options.width = 12;
  options.height = 7.5;
  options.legend = LegendPlace::none;
  const int plot = height_of(svg({record(many)}, options));
  options.legend = LegendPlace::below;
  EXPECT_LT(height_of(svg({record(many)}, options)), 1.4 * plot);
}

TEST(Legend, TakesNoMoreRowsThanItsNamesNeed) {
  const std::vector<std::string> names = {"paper: GAP",
                                          "paper: GAP tight",
                                          "paper: tuned",
                                          "paper: half of tuned",
                                          "paper: backtracking",
                                          "tutorial: ATC, tuned",
                                          "tutorial: gradient tracking, tuned",
                                          "tutorial: exact diffusion, tuned",
                                          "tutorial: auto"};
  const figure::Legend legend = figure::make_legend(names, LegendPlace::below, FigureOptions{}, {});
  std::set<double> rows;
  for (const auto& place : legend.places) rows.insert(place.y);
  EXPECT_EQ(rows.size(), 5U) << "two columns";
}

TEST_F(FigureTest, TheLegendOfAScoreboardIsLowerThanThePlot) {
  std::vector<std::string> names = {"auto", "tuned", "tuned for the averaged risk", "SPS max", "Barzilai-Borwein"};
  for (const char* method : {"gradient tracking", "exact diffusion"}) {
    for (const char* goal : {"tuned", "for the last", "for the averaged"}) {
      names.push_back(std::string(method) + " " + goal);
    }
  }
  names.insert(names.end(), {"GAP tight", "GAP linear", "GAP", "Polyak", "DecSPS", "backtracking", "AdGD", "other"});
  ASSERT_EQ(names.size(), 19U);
  const figure::Legend legend = figure::make_legend(names, LegendPlace::automatic, FigureOptions{}, {});
  EXPECT_LT(legend.size.legend_below, 0.6 * legend.size.height);
  EXPECT_GE(legend.letters.size, 5.4) << "points, so that it can be read";
  EXPECT_EQ(legend.labels, names) << "none is cut";
}

TEST(Legend, KnowsThatLettersDifferInWidth) {
  const figure::Letters letters;
  EXPECT_LT(letters.width("illi"), letters.width("acne"));
  EXPECT_LT(letters.width("acne"), letters.width("MWMW"));
  EXPECT_LT(letters.width("acne"), letters.width("漢字漢字"));
}

TEST_F(FigureTest, NamesOfUnlikeLengthsStandSideBySideInANarrowFigure) {
  std::vector<Cell> many;
  for (int n = 0; n < 10; ++n) {
    many.push_back(cell("gradient tracking for the last " + std::to_string(n), {1, 0.1, 0.01}));
  }
  for (int n = 0; n < 9; ++n) many.push_back(cell("Polyak " + std::to_string(n), {1, 0.1, 0.01}));
  FigureOptions options;
  options.legend = LegendPlace::none;
  const int plot = height_of(svg({record(many)}, options));
  options.legend = LegendPlace::below;
  EXPECT_LT(height_of(svg({record(many)}, options)), 1.5 * plot);
}

TEST_F(FigureTest, HasAWhiteGroundOfItsOwn) {
  EXPECT_TRUE(holds(svg({record({cell("m", {1, 0.1})})}), "fill=\"#ffffff\""));
}

TEST_F(FigureTest, TakesAFont) {
  FigureOptions options;
  options.font = "Times New Roman";
  options.font_size = 12;
  const std::string text = svg({record({cell("m", {1, 0.1})})}, options);
  EXPECT_TRUE(holds(text, "Times New Roman"));
  EXPECT_TRUE(holds(text, "font-size=\"16.00\""));
  options.font = "x'; system('touch trap'); '";
  EXPECT_TRUE(holds(message_of([&] { svg({record({cell("m", {1, 0.1})})}, options); }), "is not the name of a font"));
}

TEST(FigureFont, IsANameASizeOrBoth) {
  const auto font = [](const std::string& text) {
    const FigureFont read = FigureFont::read(text);
    return std::pair(read.name, read.size);
  };
  EXPECT_EQ(font("9"), std::pair(std::string("Helvetica"), 9.0));
  EXPECT_EQ(font("9pt"), std::pair(std::string("Helvetica"), 9.0));
  EXPECT_EQ(font("Times"), std::pair(std::string("Times"), 8.0));
  EXPECT_EQ(font("Times New Roman,10.5"), std::pair(std::string("Times New Roman"), 10.5));
  for (const char* bad : {"", "Times,", ",9", "Times,0", "0", "-3", "Times,100", "a'b", "9pt,", "Times,nan"}) {
    EXPECT_THROW(FigureFont::read(bad), InputError) << bad;
  }
  EXPECT_TRUE(holds(message_of([] { FigureFont::read("Times,0"); }), "should be from 4 to 40 points, found 0"));
}

TEST(FigureLength, HasAUnit) {
  EXPECT_DOUBLE_EQ(figure_length("3.5in"), 8.89);
  EXPECT_DOUBLE_EQ(figure_length("89mm"), 8.9);
  EXPECT_DOUBLE_EQ(figure_length("8.9cm"), 8.9);
  EXPECT_DOUBLE_EQ(figure_length("8.9"), 8.9);
  EXPECT_DOUBLE_EQ(figure_length("252pt"), 8.89);
  for (const char* bad : {"", "in", "3.5ft", "3,5in", "0", "-8cm", "1cm", "2000mm", "nan", "inf", " 8cm", "8cmcm"}) {
    EXPECT_THROW(figure_length(bad), InputError) << bad;
  }
  EXPECT_TRUE(holds(message_of([] { figure_length("3.5ft"); }), "cm, mm, in or pt, such as 8.8cm or 3.5in"));
  EXPECT_TRUE(
      holds(message_of([] { figure_length("1in"); }), "should be from 3 to 100 cm, found \"1in\", which is 2.54"));
}

std::string uncoloured_dashes(const std::string& line) { return line.substr(line.find(" dt ")); }

TEST(FigureStyle, LinesSurviveGreyPrint) {
  // Neighbours differ in lightness, and any two of the first nine in dashes or marks.
  const auto lightness = [](std::string_view colour) {
    const auto part = [&](std::size_t at) {
      return static_cast<double>(std::stoi(std::string(colour.substr(at, 2)), nullptr, 16));
    };
    return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
  };
  const auto uncoloured = [](std::size_t n) {
    const figure::LineStyle style = figure::line_style(n);
    const std::string text = style.line + style.mark;
    return text.substr(text.find(" dt ")) + style.mark.substr(style.mark.find(" pt "));
  };
  std::set<std::string> looks;
  for (std::size_t n = 0; n < 9; ++n) {
    looks.insert(uncoloured(n));
    EXPECT_GT(std::abs(lightness(figure::line_style(n).colour) - lightness(figure::line_style(n + 1).colour)), 20) << n;
  }
  EXPECT_EQ(looks.size(), 9U);
  for (std::size_t n = 1; n < 6; ++n) {
    const auto dashes = [](std::size_t line) { return uncoloured_dashes(figure::line_style(line).line); };
    EXPECT_NE(dashes(n), dashes(0)) << "small marks are hard to tell apart: " << n;
  }
}

TEST_F(FigureTest, ShowsTheBandsThatAreAskedFor) {
  std::vector<Cell> cells;
  for (const char* method : {"a", "b", "c", "d", "e"}) {
    for (std::uint64_t seed = 0; seed < 4; ++seed)
      cells.push_back(cell(method, seed, {1, 0.1 + 0.01 * static_cast<double>(seed), 0.01}));
  }
  const auto bands = [&](const FigureOptions& options) {
    const std::string text = svg({record(cells)}, options);
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find("fill-opacity", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  FigureOptions options;
  EXPECT_EQ(bands(options), 0U);  // five would hide each other
  options.bands = {"b"};
  const std::size_t one = bands(options);
  EXPECT_GT(one, 0U);
  options.bands = {"all"};
  EXPECT_EQ(bands(options), 5 * one);
  options.bands = {"b", "d"};
  EXPECT_EQ(bands(options), 2 * one);
  options.band = false;
  EXPECT_EQ(bands(options), 0U);
  options.bands = {"bb"};
  EXPECT_TRUE(holds(message_of([&] { bands(options); }), "bands: there is no method \"bb\""));
}

TEST_F(FigureTest, TheSameRecordGivesTheSameBytes) {
  const std::vector<Record> records = {record({cell("m", {1, 0.1, 1e-6})})};
  EXPECT_EQ(svg(records), svg(records));
}

TEST_F(FigureTest, DrawsWhatItCanOfStrangeNumbers) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Record> records = {record(
      {cell("diverged", {1, 1e200, infinity}, Status::diverged), cell("unknown", {unknown, unknown}),
       cell("exact", {1, 0, 0}), cell("below", {1, -1e-20, 1e-3}), cell("tiny", {1, 5e-324}),
       cell("huge", {1e300, 1e308}), cell("none", {}), cell("failed", {}, Status::failed), cell("one point", {1})})};
  EXPECT_TRUE(holds(svg(records), ">exact<"));
  write_figure(records, {}, file("f.pdf"));
  write_figure(records, {}, file("f.png"));
  FigureOptions few;  // so few that they have bands
  few.methods = {"none", "unknown", "diverged", "one point"};
  EXPECT_TRUE(holds(svg(records, few), ">none<"));
}

TEST_F(FigureTest, TheAxisEndsWithTheLastPointThatIsDrawn) {
  std::vector<double> risks = {1, 0.1, 0.01};
  risks.resize(101, 0);  // points are ten iterations apart
  const std::string short_axis = svg({record({cell("quick", risks)})});
  EXPECT_TRUE(holds(short_axis, ">20<")) << short_axis;
  EXPECT_FALSE(holds(short_axis, ">1000<"));
  EXPECT_TRUE(holds(svg({record({cell("quick", risks), cell("slow", std::vector<double>(101, 1))})}), ">1000<"));
}

// The corners of an SVG's bands, (x, y) with y downwards.
std::vector<std::pair<double, double>> corners_of_bands(const std::string& drawn) {
  std::vector<std::pair<double, double>> out;
  const std::string begin = "fill-opacity = '0.150000' points = '";
  for (auto at = drawn.find(begin); at != std::string::npos; at = drawn.find(begin, at)) {
    at += begin.size();
    std::istringstream corners(drawn.substr(at, drawn.find('\'', at) - at));
    char comma = 0;
    for (double x = 0, y = 0; corners >> x >> comma >> y;) out.emplace_back(x, y);
  }
  return out;
}

TEST_F(FigureTest, ABandGoesOffTheTopAndEndsWhereItsUpperEdgeDiverges) {
  std::vector<Cell> cells;
  for (std::uint64_t seed = 0; seed < 4; ++seed) cells.push_back(cell("m", seed, {1, 0.5, 0.1, 0.01}));
  const auto whole = corners_of_bands(svg({record(cells)}));
  const double left = std::ranges::min(whole).first;
  const auto last_of_whole = std::ranges::max(whole);
  cells.push_back(test::cell("m", 4, {1, 0.9}, Status::diverged));
  const auto corners = corners_of_bands(svg({record(cells)}));
  ASSERT_FALSE(corners.empty());
  // One run of five ends after the first of three steps, so it ends at the second, from the lower edge up to the top.
  const double right = std::ranges::max(corners).first;
  EXPECT_NEAR(right, left + (last_of_whole.first - left) * 2 / 3, 1);
  double top = last_of_whole.second;
  double top_at_right = last_of_whole.second;
  for (const auto& [x, y] : corners) {
    top = std::min(top, y);
    if (x == right) top_at_right = std::min(top_at_right, y);
  }
  EXPECT_LT(top, last_of_whole.second - 100);
  EXPECT_DOUBLE_EQ(top_at_right, top);
}

TEST_F(FigureTest, RefusesToDrawNothing) {
  EXPECT_THROW(svg({}), InputError);
  EXPECT_THROW(svg({record({})}), InputError);
  EXPECT_THROW(svg({record({cell("m", {}), cell("n", {1, 0.1}, Status::unfinished)})}), InputError);
  EXPECT_THROW(svg({record({cell("m", {0, 0})})}), InputError);
  EXPECT_EQ(entries(), 0);
}

TEST_F(FigureTest, WithoutGnuplotItSaysWhatToInstallAndLeavesTheOldFigure) {
  std::ofstream(file("f.svg")) << "old";
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", folder_.c_str(), 1);
  std::string message;
  try {
    write_figure({record({cell("m", {1, 0.1})})}, {}, file("f.svg"));
  } catch (const Error& e) {
    message = e.what();
  }
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_TRUE(holds(message, "apt-get install gnuplot-nox")) << message;
  EXPECT_EQ(content(file("f.svg")), "old");
  EXPECT_EQ(entries(), 1);
}

}  // namespace
}  // namespace polyhop::figure_test
