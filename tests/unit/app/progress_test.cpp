// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <gtest/gtest.h>

#include <string>

namespace polyhop::app::progress_test {
namespace {

// Its lines in a pipe, and a clock that the test moves.
class ProgressLines : public ::testing::Test {
 protected:
  static constexpr Index iterations = 100;
  static constexpr Index runs = 10;

  void pass(double seconds) {
    time_ += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }
  template <class Action>
  static std::string told(const Action& action) {
    testing::internal::CaptureStderr();
    action();
    return testing::internal::GetCapturedStderr();
  }
  static Cell run_at(Index iteration, std::uint64_t seed) {
    Cell cell;
    cell.method = "m";
    cell.seed = seed;
    cell.points.resize(1);
    cell.points[0].iteration = iteration;
    return cell;
  }

  Clock::time_point time_ = {};
  Progress progress_{false, iterations, runs, "", [this] { return time_; }};
};

using ProgressLinesAfterAResume = ProgressLines;

TEST_F(ProgressLinesAfterAResume, JudgeTheTimeLeftByThisCommandsRuns) {
  progress_.found(4, runs);
  // Two minutes for the second half of a run.
  progress_.point(run_at(50, 5));
  pass(120);
  const std::string first = told([&] { progress_.cell(run_at(iterations, 5), 5, runs); });
  EXPECT_NE(first.find(" 50%  5/10 runs, 20 min left"), std::string::npos) << first;
  // Another one takes as long as that in all.
  progress_.point(run_at(0, 6));
  pass(120);
  const std::string second = told([&] { progress_.cell(run_at(iterations, 6), 6, runs); });
  EXPECT_NE(second.find(" 60%  6/10 runs, 11 min left"), std::string::npos) << second;
}

TEST_F(ProgressLinesAfterAResume, JudgeASearchByThisCommandsSteps) {
  EXPECT_EQ(told([&] {
              for (Index tried = 1; tried <= 10; ++tried) progress_.trial("m", tried, 30);
            }),
            "")
      << "what is known takes no time";
  progress_.trial_point("m", {.number = 11, .step = 0.5, .seed = 7, .part = 0}, 30);
  pass(60);
  EXPECT_EQ(told([&] { progress_.trial("m", 11, 30); }), "tuning m: 11 steps tried, at most 30, up to 19 min left\n");
}

TEST_F(ProgressLines, SpeakWithinAStepOnlyIfItTakesLong) {
  const auto at = [&](double part) {
    return told([&] { progress_.trial_point("m", {.number = 1, .step = 0.125, .seed = 7, .part = part}, 30); });
  };
  EXPECT_EQ(at(0), "");
  pass(9);
  EXPECT_EQ(at(0.09), "");
  pass(3);
  EXPECT_EQ(at(0.129), "tuning m: step 1 of at most 30 (0.125), seed 7: 12%, up to 46 min left\n");
  EXPECT_EQ(at(0.13), "");
}

}  // namespace
}  // namespace polyhop::app::progress_test
