// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/figure.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/error.hpp"
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

int height_of(const std::string& svg) {
  const std::size_t at = svg.find("height=\"") + 8;
  return std::atoi(svg.c_str() + at);
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

TEST_F(FigureTest, ALegendWithoutRoomStandsBelow) {
  std::vector<Cell> many;
  for (int n = 0; n < 20; ++n) many.push_back(cell("method " + std::to_string(n), {1, 0.1, 0.01}));
  const std::string few = svg({record({many[0]})});
  const std::string all = svg({record(many)});
  EXPECT_GT(height_of(all), height_of(few));
  EXPECT_TRUE(holds(all, ">method 19<"));
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

TEST_F(FigureTest, ABandEndsWhereItsUpperEdgeDiverges) {
  std::vector<Cell> cells;
  for (std::uint64_t seed = 0; seed < 4; ++seed) cells.push_back(cell("m", seed, {1, 0.1, 0.01}));
  const std::string band = "fill-opacity";
  EXPECT_TRUE(holds(svg({record(cells)}), band));
  cells.push_back(test::cell("m", 4, {1}, Status::diverged));
  EXPECT_FALSE(holds(svg({record(cells)}), band));
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
