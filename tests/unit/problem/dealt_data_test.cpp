// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/dealt_data.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "polyhop/core/codec.hpp"
#include "support/data_files.hpp"
#include "support/memory_scope.hpp"
#include "unit/core/refusal.hpp"
#include "unit/problem/naive.hpp"

namespace polyhop::dealt_data_test {
namespace {

using test::Numbers;
using test::Words;

const PartitionOptions in_order = {PartitionKind::blocks, 1};

class DealtDataFiles : public test::DataFiles {
 protected:
  [[nodiscard]] DealtData dealt(const std::string& name, const std::string& text, const std::string& loss,
                                Index agents = 2) const {
    return read_dealt({"", write(name, text), ""}, builtin_loss(loss), in_order, agents, 0);
  }
  [[nodiscard]] std::string refused(const std::string& name, const std::string& text, const std::string& loss) const {
    const InputError error = polyhop::refusal([&] { return dealt(name, text, loss); });
    EXPECT_EQ(error.file(), file(name));
    return error.message();
  }
  static bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
};

TEST_F(DealtDataFiles, TwoWordsBecomeMinusAndPlusOneInSortedOrder) {
  for (const std::string loss : {"logistic", "smoothed-hinge"}) {
    const DealtData got = dealt("a.csv", "x,answer\n1,yes\n2,no\n3,no\n4,yes\n", loss);
    EXPECT_EQ(got.data.targets, (Numbers{1, -1, -1, 1}));
    EXPECT_EQ(got.classes, (Words{"no", "yes"}));
    EXPECT_EQ(got.features, (Words{"x"}));
    EXPECT_EQ(got.target, "answer");
    EXPECT_EQ(got.data.offset, (std::vector<Index>{0, 2, 4}));
  }
}

TEST_F(DealtDataFiles, TwoNumbersBecomeMinusAndPlusOneInSortedOrder) {
  const DealtData got = dealt("a.csv", "x,y\n1,10\n2,2\n3,2\n", "logistic");
  EXPECT_EQ(got.data.targets, (Numbers{1, -1, -1}));
  EXPECT_EQ(got.classes, (Words{"2", "10"}));
  EXPECT_EQ(dealt("b.csv", "x,y\n1,0.5\n2,-1\n", "logistic").classes, (Words{"-1", "0.5"}));
}

TEST_F(DealtDataFiles, SoftmaxNumbersClassesFromZero) {
  const DealtData numbers = dealt("a.csv", "x,y\n1,7\n2,-3\n3,12\n4,7\n", "softmax");
  EXPECT_EQ(numbers.data.targets, (Numbers{1, 0, 2, 1}));
  EXPECT_EQ(numbers.classes, (Words{"-3", "7", "12"}));
  const DealtData words = dealt("b.csv", "x,y\n1,red\n2,blue\n3,green\n", "softmax");
  EXPECT_EQ(words.data.targets, (Numbers{2, 0, 1}));
  EXPECT_EQ(words.classes, (Words{"blue", "green", "red"}));
}

TEST_F(DealtDataFiles, NumbersStayWhatTheyAreWhereTheLossPredictsNumbers) {
  for (const std::string loss : {"least-squares", "huber", "poisson"}) {
    const DealtData got = dealt("a.csv", "x,y\n1,7\n2,0\n3,2.5\n", loss);
    EXPECT_EQ(got.data.targets, (Numbers{7, 0, 2.5}));
    EXPECT_TRUE(got.classes.empty());
  }
}

TEST_F(DealtDataFiles, SamplesGoWithTheirTargets) {
  std::string text = "x,y\n";
  for (int n = 0; n < 20; ++n) text += std::to_string(n) + "," + std::to_string(100 + n) + "\n";
  const DataSource source = {"", write("a.csv", text), ""};
  const Dataset data = read_dealt(source, builtin_loss("least-squares"), {}, 3, 5).data;
  ASSERT_EQ(data.targets.size(), 20U);
  for (Index n = 0; n < 20; ++n) {
    EXPECT_EQ(data.targets[n], data.features.dense()(n, 0) + 100);
  }
  EXPECT_EQ(data.targets, read_dealt(source, builtin_loss("least-squares"), {}, 3, 5).data.targets);
  EXPECT_NE(data.targets, read_dealt(source, builtin_loss("least-squares"), {}, 3, 6).data.targets);
}

TEST_F(DealtDataFiles, TargetsThatTheLossCannotTakeAreRefused) {
  const std::string three = refused("three.csv", "x,y\n1,0\n2,1\n3,2\n", "logistic");
  EXPECT_TRUE(has(three, "3 classes") && has(three, "softmax")) << three;
  EXPECT_TRUE(has(refused("one.csv", "x,y\n1,0\n2,0\n", "softmax"), "1 class "));
  EXPECT_TRUE(has(refused("one.csv", "x,y\n1,0\n2,0\n", "smoothed-hinge"), "1 class "));
  const std::string words = refused("words.csv", "x,y\n1,no\n2,yes\n", "least-squares");
  EXPECT_TRUE(has(words, "\"no\"") && has(words, "least-squares") && has(words, "numbers")) << words;
  EXPECT_TRUE(has(refused("counts.csv", "x,y\n1,3\n2,-1\n", "poisson"), "below 0"));
}

TEST_F(DealtDataFiles, ATooWideSparseFileIsRefused) {
  const MemoryScope scope(4e9);
  const std::string message = refused("wide.svm", "1 1:1\n-1 2000000000:1\n", "logistic");
  EXPECT_TRUE(has(message, "2000000000 features") && has(message, "2 agents") && has(message, "GB")) << message;
}

TEST_F(DealtDataFiles, FewerSamplesThanAgentsAreRefused) {
  write("few.csv", "x,y\n1,2\n2,3\n");
  const DataSource source = {"", file("few.csv"), ""};
  const InputError error =
      polyhop::refusal([&] { return read_dealt(source, builtin_loss("least-squares"), in_order, 3, 0); });
  EXPECT_TRUE(has(error.message(), "2 samples for 3 agents"));
}

TEST_F(DealtDataFiles, EveryAgentMayHaveAFileOfItsOwn) {
  write("site-0.csv", "a,b,kind\n1,2,red\n3,4,blue\n");
  write("site-1.csv", "a,b,kind\n5,6,green\n");
  write("site-2.csv", "a,b,kind\n7,8,blue\n9,10,blue\n11,12,red\n");
  const DealtData got = read_dealt({"", file("site-{agent}.csv"), ""}, builtin_loss("softmax"), {}, 3, 0);
  EXPECT_EQ(got.classes, (Words{"blue", "green", "red"}));
  EXPECT_EQ(got.data.targets, (Numbers{2, 0, 1, 0, 0, 2}));
  EXPECT_EQ(got.data.offset, (std::vector<Index>{0, 2, 3, 6}));
  EXPECT_EQ(got.features, (Words{"a", "b"}));
  EXPECT_EQ(got.target, "kind");
  for (Index n = 0; n < 6; ++n) {
    EXPECT_EQ(got.data.features.dense()(n, 0), static_cast<double>(2 * n + 1));
    EXPECT_EQ(got.data.features.dense()(n, 1), static_cast<double>(2 * n + 2));
  }
}

TEST_F(DealtDataFiles, SparseFilesOfTheAgentsMayBeOfUnlikeWidth) {
  write("site-0.svm", "1 1:5\n-1 2:6\n");
  write("site-1.svm", "1 4:7\n");
  const DealtData got = read_dealt({"", file("site-{agent}.svm"), ""}, builtin_loss("logistic"), {}, 2, 0);
  EXPECT_EQ(got.data.features.columns(), 4);
  EXPECT_EQ(got.data.features.columns_of(2)[0], 3);
  EXPECT_EQ(got.data.features.values_of(2)[0], 7);
  EXPECT_EQ(got.data.targets, (Numbers{1, -1, 1}));
}

TEST_F(DealtDataFiles, FilesOfTheAgentsWithOtherColumnsAreRefusedByName) {
  write("site-0.csv", "a,b,y\n1,2,3\n");
  const auto second = [&](const std::string& text) {
    write("site-1.csv", text);
    const DataSource source = {"", file("site-{agent}.csv"), ""};
    const InputError error =
        polyhop::refusal([&] { return read_dealt(source, builtin_loss("least-squares"), {}, 2, 0); });
    EXPECT_EQ(error.file(), file("site-1.csv"));
    return error.message();
  };
  const std::string other = second("a,c,y\n1,2,3\n");
  EXPECT_TRUE(has(other, "site-0.csv") && has(other, "lacks 'b' and has 'c' besides") && has(other, "drop = \"b,c\""))
      << other;
  EXPECT_TRUE(has(second("a,y\n1,2\n"), "lacks 'b'"));
  EXPECT_TRUE(has(second("a,b,c,y\n1,2,3,4\n"), "has 'c' besides"));
  EXPECT_TRUE(has(second("y,a,b\n1,2,3\n"), "target = \"y\""));
  EXPECT_TRUE(has(second("1,2,3\n"), "only one of them names its columns"));
}

TEST_F(DealtDataFiles, ColumnsOfTheAgentsFilesAreMatchedByName) {
  write("site-0.csv", "a,b,y\n1,2,3\n4,5,6\n");
  write("site-1.csv", "y,b,a\n9,8,7\n");
  const DataSource source = {"", file("site-{agent}.csv"), "y"};
  const DealtData got = read_dealt(source, builtin_loss("least-squares"), {}, 2, 0);
  EXPECT_EQ(got.features, (Words{"a", "b"}));
  EXPECT_EQ(got.data.targets, (Numbers{3, 6, 9}));
  EXPECT_EQ(got.data.features.dense()(2, 0), 7);
  EXPECT_EQ(got.data.features.dense()(2, 1), 8);
  // A process that has agent 1 alone puts them in the order of agent 0's file, which it never sees.
  DealtReader first(source, builtin_loss("least-squares"), {}, 2, 0);
  DealtReader second(source, builtin_loss("least-squares"), {}, 2, 0);
  first.read({0, 1});
  second.read({1, 2});
  const DealtData own = second.finish({first.summary(), second.summary()});
  EXPECT_EQ(own.data.features.dense()(0, 0), 7);
  EXPECT_EQ(own.features, (Words{"a", "b"}));
}

TEST_F(DealtDataFiles, ColumnsThatOnlySomeFilesHaveMayBeDropped) {
  write("site-0.csv", "a,b,y\n1,2,3\n");
  write("site-1.csv", "c,a,y\n1,2,3\n");
  DataSource source = {"", file("site-{agent}.csv"), "", {.drop = {"b", "c"}}};
  EXPECT_EQ(read_dealt(source, builtin_loss("least-squares"), {}, 2, 0).features, (Words{"a"}));
  source.choice.drop = {"b", "c", "yy"};
  const InputError error =
      polyhop::refusal([&] { return read_dealt(source, builtin_loss("least-squares"), {}, 2, 0); });
  EXPECT_EQ(error.path(), "problem.drop");
  EXPECT_TRUE(has(error.message(), "'yy'")) << error.message();
}

TEST_F(DealtDataFiles, AFileWithoutSamplesHasNone) {
  write("site-0.csv", "a,y\n");
  write("site-1.csv", "a,y\n1,red\n2,blue\n");
  write("site-2.csv", "y,a\n");
  const DataSource source = {"", file("site-{agent}.csv"), "y"};
  const DealtData got = read_dealt(source, builtin_loss("logistic"), {}, 3, 0);
  EXPECT_EQ(got.data.offset, (std::vector<Index>{0, 0, 2, 2}));
  EXPECT_EQ(got.samples, 2);
  EXPECT_EQ(got.without_samples, (std::vector<Index>{0, 2}));
  EXPECT_EQ(got.classes, (Words{"blue", "red"}));
  write("site-1.csv", "a,y\n");
  const InputError error = polyhop::refusal([&] { return read_dealt(source, builtin_loss("logistic"), {}, 3, 0); });
  EXPECT_TRUE(has(error.message(), "none of these files holds a sample")) << error.message();
  write("s-0.svm", "");
  write("s-1.svm", "1 2:3\n-1 1:1\n");
  const DealtData sparse = read_dealt({"", file("s-{agent}.svm"), ""}, builtin_loss("logistic"), {}, 2, 0);
  EXPECT_EQ(sparse.data.offset, (std::vector<Index>{0, 0, 2}));
  EXPECT_EQ(sparse.data.features.columns(), 2);
}

TEST_F(DealtDataFiles, FilesNumberedFromOneAreFoundOrHintedAt) {
  write("site-1.csv", "a,y\n1,2\n");
  write("site-2.csv", "a,y\n3,4\n");
  const auto dealt_from = [&](const std::string& pattern) {
    return read_dealt({"", file(pattern), ""}, builtin_loss("least-squares"), {}, 2, 0);
  };
  EXPECT_EQ(dealt_from("site-{agent+1}.csv").data.targets, (Numbers{2, 4}));
  const InputError error = polyhop::refusal([&] { return dealt_from("site-{agent}.csv"); });
  EXPECT_EQ(error.file(), file("site-0.csv"));
  EXPECT_TRUE(has(error.message(), "site-{agent+1}.csv")) << error.message();
}

TEST_F(DealtDataFiles, ALossWithoutANameFollowsFromTheTargetOfAllFiles) {
  const LossSpec from_target;
  const std::string name = write("a.csv", "x,y\n1,0\n2,1\n3,2\n4,0\n5,1\n6,2\n");
  const DealtData one = read_dealt({"", name, ""}, from_target, {}, 2, 0);
  EXPECT_EQ(one.loss.name, "softmax");
  EXPECT_EQ(one.why_loss, "the target has 3 values (0, 1, 2)");
  EXPECT_EQ(one.classes, (Words{"0", "1", "2"}));
  // No process alone knows both classes.
  write("site-0.csv", "x,y\n1,1\n2,1\n");
  write("site-1.csv", "x,y\n3,-1\n4,-1\n");
  const DataSource source = {"", file("site-{agent}.csv"), ""};
  DealtReader first(source, from_target, {}, 2, 0);
  DealtReader second(source, from_target, {}, 2, 0);
  first.read({0, 1});
  second.read({1, 2});
  const DealtData own = second.finish({first.summary(), second.summary()});
  EXPECT_EQ(own.loss.name, "logistic");
  EXPECT_EQ(own.data.targets, (Numbers{-1, -1}));
  EXPECT_EQ(own.classes, (Words{"-1", "1"}));
  // Many values are numbers, and stay what they are.
  std::string many = "x,y\n";
  for (int n = 0; n < 40; ++n) many += "1," + std::to_string(n) + "\n";
  write("site-1.csv", many);
  const DealtData numbers = read_dealt(source, from_target, {}, 2, 0);
  EXPECT_EQ(numbers.loss.name, "least-squares");
  EXPECT_TRUE(numbers.classes.empty());
  EXPECT_EQ(numbers.data.targets.back(), 39);
  EXPECT_TRUE(read_dealt(source, builtin_loss("huber"), {}, 2, 0).why_loss.empty());
}

TEST_F(DealtDataFiles, AnAgentWithoutAFileIsTold) {
  write("site-0.csv", "a,y\n1,2\n");
  const DataSource source = {"", file("site-{agent}.csv"), ""};
  const InputError error =
      polyhop::refusal([&] { return read_dealt(source, builtin_loss("least-squares"), {}, 2, 0); });
  EXPECT_EQ(error.file(), file("site-1.csv"));
}

TEST(DealtData, AnInterceptIsALastColumnOfOnes) {
  for (const bool sparse : {false, true}) {
    Rows rows(2, 2);
    rows(0, 1) = 3;
    Dataset data = {sparse ? naive::sparse(rows) : Features(rows), {1, 2}, {0, 2}};
    add_intercept(data);
    ASSERT_EQ(data.features.columns(), 3);
    const Rows w(1, 3, 1);
    EXPECT_EQ(data.features.dot(0, w.data()), 4);
    EXPECT_EQ(data.features.dot(1, w.data()), 1);
    EXPECT_EQ(data.targets, (Numbers{1, 2}));
  }
}

TEST(DealtData, RowsGetNormOneAndRowsOfZerosStay) {
  for (const bool sparse : {false, true}) {
    Rows rows(3, 2);
    rows(0, 0) = 3;
    rows(0, 1) = -4;
    rows(2, 1) = 0.25;
    Dataset data = {sparse ? naive::sparse(rows) : Features(rows), {1, 2, 3}, {0, 3}};
    scale_to_unit_rows(data);
    EXPECT_NEAR(data.features.squared_norm(0), 1, 1e-15);
    EXPECT_EQ(data.features.squared_norm(1), 0);
    EXPECT_NEAR(data.features.squared_norm(2), 1, 1e-15);
    Rows first(1, 2);
    first(0, 0) = 1;
    EXPECT_NEAR(data.features.dot(0, first.data()), 0.6, 1e-15);
  }
}

TEST_F(DealtDataFiles, ReadersThatHaveSomeOfTheAgentsKeepTheirSamplesAlone) {
  const std::string name = write("a.csv", "x,kind\n1,red\n2,blue\n3,red\n4,blue\n5,red\n6,green\n");
  const DataSource source = {"", name, ""};
  const DealtData whole = read_dealt(source, builtin_loss("softmax"), {}, 3, 8);
  EXPECT_EQ(whole.samples, 6);
  DealtReader first(source, builtin_loss("softmax"), {}, 3, 8);
  DealtReader rest(source, builtin_loss("softmax"), {}, 3, 8);
  for (DealtReader* reader : {&first, &rest}) reader->open(false);
  EXPECT_EQ(first.samples(), (std::vector<Index>{2, 2, 2}));
  first.read({0, 1});
  rest.read({1, 3});
  const std::vector<std::string> told = {first.summary(), rest.summary()};
  const DealtData own = rest.finish(told);
  EXPECT_EQ(first.finish(told).data.features.rows(), 2);
  EXPECT_EQ(own.samples, 6);
  EXPECT_EQ(own.classes, whole.classes);
  EXPECT_EQ(own.data.offset, (std::vector<Index>{0, 2, 4}));
  EXPECT_EQ(own.data.targets, Numbers(whole.data.targets.begin() + 2, whole.data.targets.end()));
  for (Index n = 0; n < 4; ++n) EXPECT_EQ(own.data.features.dense()(n, 0), whole.data.features.dense()(n + 2, 0));
}

TEST_F(DealtDataFiles, ClassesAndFeaturesOfOwnFilesAreThoseOfAllProcesses) {
  write("site-0.svm", "5 1:1\n");
  write("site-1.svm", "7 4:1\n5 2:3\n");
  const DataSource source = {"", file("site-{agent}.svm"), ""};
  DealtReader first(source, builtin_loss("logistic"), {}, 2, 0);
  DealtReader second(source, builtin_loss("logistic"), {}, 2, 0);
  EXPECT_TRUE(first.has_own_files());
  first.open(false);
  second.open(false);
  EXPECT_TRUE(first.samples().empty());
  first.read({0, 1});
  second.read({1, 2});
  const std::vector<std::string> told = {first.summary(), second.summary()};
  const DealtData one = first.finish(told);
  const DealtData two = second.finish(told);
  EXPECT_EQ(one.classes, (Words{"5", "7"}));
  EXPECT_EQ(one.data.targets, (Numbers{-1}));
  EXPECT_EQ(two.data.targets, (Numbers{1, -1}));
  EXPECT_EQ(one.data.features.columns(), 4);
  EXPECT_EQ(one.samples, 3);
}

TEST_F(DealtDataFiles, OneProcessWithATargetBelowZeroIsEnoughToRefuseCounts) {
  write("site-0.svm", "-1 1:1\n");
  write("site-1.svm", "2 1:1\n");
  const DataSource source = {"", file("site-{agent}.svm"), ""};
  for (const Index rank : {0, 1}) {
    std::vector<DealtReader> readers(2, DealtReader(source, builtin_loss("poisson"), {}, 2, 0));
    for (Index k : {0, 1}) readers[k].read({k, k + 1});
    const std::vector<std::string> told = {readers[0].summary(), readers[1].summary()};
    EXPECT_TRUE(has(polyhop::refusal([&] { return readers[rank].finish(told); }).what(), "a target is below 0"));
  }
}

TEST_F(DealtDataFiles, SaysThatAFileChangedWhileItWasRead) {
  write("a.csv", "x,y\n1,2\n3,4\n");
  DealtReader reader({"", file("a.csv"), ""}, builtin_loss("least-squares"), {}, 2, 0);
  reader.open(false);
  write("a.csv", "x,y\n1,2\n3,5\n");
  EXPECT_EQ(polyhop::refusal([&] { reader.read({0, 1}); }).message(), "changed while it was read");
}

TEST_F(DealtDataFiles, OfOwnFilesMeasurementsAreNotTakenForClassesThatOthersAreTold) {
  write("site-0.csv", "a,y\n1,0.25\n2,3\n");
  for (const std::string loss : {"logistic", "softmax"}) {
    DealtReader reader({"", file("site-{agent}.csv"), ""}, builtin_loss(loss), {}, 1, 0);
    reader.open(false);
    const std::string message = polyhop::refusal([&] { reader.read({0, 1}); }).what();
    EXPECT_NE(message.find("not a whole number"), std::string::npos) << message;
    EXPECT_EQ(message.find("0.25"), std::string::npos) << message;
  }
}

TEST_F(DealtDataFiles, OfOwnFilesTheSummaryHoldsNoTargetsThatAreNumbersAndNoFeatures) {
  write("site-0.csv", "a,y\n0.125,7.75\n-3.5,11.25\n");
  DealtReader reader({"", file("site-{agent}.csv"), ""}, builtin_loss("least-squares"), {}, 1, 0);
  reader.open(false);
  reader.read({0, 1});
  // One agent, its rows, none that were skipped, its columns, dense, no words, the target's name, no columns left out,
  // no id, none that was to be dropped, the columns' names, no classes, none below 0.
  using Names = std::vector<std::string>;
  const auto told = [](const std::vector<double>& values) {
    return message(Index{1}, Index{0}, Index{2}, Index{0}, Index{1}, false, false, "y", Index{0}, "", Names{}, false,
                   Names{"a"}, Names{}, values, false);
  };
  EXPECT_EQ(reader.summary(), told({}));
  // Where the loss is to follow from the targets, that there are some that stand for no class: 1/2 for all of them.
  DealtReader open_loss({"", file("site-{agent}.csv"), ""}, LossSpec{}, {}, 1, 0);
  open_loss.open(false);
  open_loss.read({0, 1});
  EXPECT_EQ(open_loss.summary(), told({0.5}));
}

}  // namespace
}  // namespace polyhop::dealt_data_test
