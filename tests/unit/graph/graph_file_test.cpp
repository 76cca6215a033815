// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/graph/graph_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/graph/graph_text.hpp"
#include "polyhop/graph/topology.hpp"

namespace polyhop::graph_file_test {
namespace {

class GraphFile : public ::testing::Test {
 protected:
  GraphFile()
      : folder_(std::filesystem::temp_directory_path() /
                ("polyhop_" + std::to_string(::getpid()) + "_" +
                 ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~GraphFile() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    const std::string file = folder_ / name;
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }

  NetworkGraph read(const std::string& name, const std::string& text, Weights weights = Weights::metropolis) const {
    return read_network(write(name, text), {}, weights);
  }

  /// The message without the folder.
  std::string error(const std::string& name, const std::string& text, Weights weights = Weights::metropolis,
                    std::optional<Index> agents = {}) const {
    return error_of(write(name, text), weights, agents);
  }

  std::string error_of(const std::string& file, Weights weights = Weights::metropolis,
                       std::optional<Index> agents = {}) const {
    try {
      static_cast<void>(read_network(file, agents, weights));
    } catch (const InputError& e) {
      const std::string what = e.what();
      const std::string prefix = folder_.string() + "/";
      return what.substr(0, prefix.size()) == prefix ? what.substr(prefix.size()) : what;
    }
    return "";
  }

  std::filesystem::path folder_;
};

std::vector<double> dense(const CombinationMatrix& a) {
  std::vector<double> out(a.agents() * a.agents(), 0);
  for (Index k = 0; k < a.agents(); ++k) {
    for (Index e = a.rows().offset[k]; e < a.rows().offset[k + 1]; ++e) {
      out[k * a.agents() + a.rows().column[e]] = a.rows().weight[e];
    }
  }
  return out;
}

void expect_matrix(const NetworkGraph& network, const std::vector<double>& expected) {
  const auto found = dense(network.matrix);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-15);
}

// The path 0 - 1 - 2 with a_01 = 0.5, a_12 = 0.25.
const std::vector<double> path_matrix = {0.5, 0.5, 0, 0.5, 0.25, 0.25, 0, 0.25, 0.75};

TEST_F(GraphFile, ReadsAnEdgeListWithComments) {
  const NetworkGraph network = read("g.txt", "\xef\xbb\xbf# a path\n0 1\r\n% more\n\n2,1  # and back\n1 2\n");
  EXPECT_EQ(network.graph.agents(), 3);
  EXPECT_EQ(network.graph.edges(), 2);
}

TEST_F(GraphFile, TakesTheHeaderOfACsvFile) {
  EXPECT_EQ(read("g.csv", "source,target,weight\n0,1,0.5\n1,2,0.25").graph.edges(), 2);
  EXPECT_EQ(error("g.txt", "source target\n0 1"),
            "g.txt:1: graph.file: found \"source\" as an agent, expected an integer from 0 to 2147483646");
}

TEST_F(GraphFile, PassesOverWeightsUnlessTheyAreAskedFor) {
  expect_matrix(read("g.edges", "0 1 0.5\n1 1 0.1\n"), {0.5, 0.5, 0.5, 0.5});
  expect_matrix(read("g.edges", "0 1 0\n"), {0.5, 0.5, 0.5, 0.5});
}

TEST_F(GraphFile, GivenWeightsOfLinksLeaveTheRestToTheDiagonal) {
  expect_matrix(read("g.edges", "1 0 0.5\n1 2 0.25\n", Weights::given), path_matrix);
  expect_matrix(read("h.edges", "0 1 0.5\n1 0 0.5\n1 2 +2.5e-1\n0 0 0.5\n", Weights::given), path_matrix);
}

TEST_F(GraphFile, RoundingLeavesNothingToTheDiagonal) {
  // In doubles 0.2 + 0.4 + 0.3 + 0.1 is above 1.
  const NetworkGraph star = read("g.edges", "0 1 0.2\n0 2 0.4\n0 3 0.3\n0 4 0.1\n", Weights::given);
  EXPECT_EQ(dense(star.matrix)[0], 0);
}

TEST_F(GraphFile, GivenWeightsOfZeroAreNoLinks) {
  EXPECT_EQ(read("g.edges", "0 1 0.5\n1 2 0.25\n0 2 0\n", Weights::given).graph.edges(), 2);
}

TEST_F(GraphFile, ReadsGraphmlWithAnyIds) {
  const std::string text =
      "<?xml version=\"1.0\"?>\n<graphml>\n<key id=\"d7\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>\n"
      "<graph edgedefault=\"undirected\">\n<edge source=\"n &amp; m\" target=\"x\"><data key=\"d7\">0.5</data></edge>\n"
      "<node id=\"n &amp; m\"/><node id=\"x\"/><node id=\"42\"/>\n<edge source=\"x\" target=\"42\" weight=\"0.25\"/>\n"
      "</graph></graphml>\n";
  expect_matrix(read("g.graphml", text, Weights::given), path_matrix);
  EXPECT_EQ(read("g.xml", text).graph.edges(), 2);
}

TEST_F(GraphFile, ReadsMatrixMarketOfEveryKind) {
  expect_matrix(read("s.mtx",
                     "%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 5\n1 1 .5\n2 1 .5\n2 2 .25\n3 2 .25\n"
                     "3 3 .75\n",
                     Weights::given),
                path_matrix);
  expect_matrix(read("g.mtx",
                     "%%MatrixMarket matrix coordinate real general\n3 3 7\n1 1 .5\n2 1 .5\n1 2 .5\n2 2 .25\n3 2 .25\n"
                     "2 3 .25\n3 3 .75\n",
                     Weights::given),
                path_matrix);
  const std::string pattern_text = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n";
  EXPECT_EQ(read("p.mtx", pattern_text).graph.edges(), 2);
  EXPECT_EQ(error("p.mtx", pattern_text, Weights::given),
            "p.mtx:3: graph.file: no weight here, but graph.weights is \"given\"");
}

TEST_F(GraphFile, ReadsADenseMatrix) {
  expect_matrix(read("g.dense", "0.5 0.5 0\n0.5, 0.25, 0.25\n0 0.25 0.75", Weights::given), path_matrix);
  EXPECT_EQ(read("g.mat", "0 1 0\n1 0 1\n0 1 0").graph.edges(), 2);
  expect_matrix(read("one.mat", "1\n", Weights::given), {1});
}

TEST_F(GraphFile, NumberOfAgentsMustAgreeWhereItIsStated) {
  EXPECT_EQ(read_network(write("g.txt", "0 1\n1 2\n"), 3, Weights::metropolis).graph.agents(), 3);
  EXPECT_EQ(error("g.txt", "0 1\n1 5\n", Weights::metropolis, 3),
            "g.txt:2: graph.file: found agent 5, expected 0 to 2 as graph.agents is 3");
  EXPECT_EQ(error("g.mat", "0 1\n1 0\n", Weights::metropolis, 3),
            "g.mat: graph.file: has 2 agents, but graph.agents is 3");
}

TEST_F(GraphFile, RefusesWhatIsNotAFile) {
  EXPECT_EQ(error_of(folder_ / "none.txt"), "none.txt: graph.file: no such file");
  std::filesystem::create_directory(folder_ / "folder.txt");
  EXPECT_EQ(error_of(folder_ / "folder.txt"), "folder.txt: graph.file: is a folder; expected a file");
  const std::string pipe = folder_ / "pipe.txt";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(error_of(pipe), "pipe.txt: graph.file: is a pipe, device or socket, expected a regular file");
  EXPECT_EQ(error_of(folder_ / "pipes.txt"), "pipes.txt: graph.file: no such file; did you mean 'pipe.txt'?");
  EXPECT_EQ(error("g.png", "0 1").substr(0, 51), "g.png: graph.file: found extension \".png\", expected");
}

TEST_F(GraphFile, RefusesALargeFileBeforeReadingIt) {
  const std::string file = write("large.txt", "0 1\n");
  std::filesystem::resize_file(file, 1'000'000'001);  // sparse: takes no space
  EXPECT_EQ(error_of(file), "large.txt: graph.file: has 1000000001 bytes, expected at most 1000000000");
}

TEST_F(GraphFile, NamesTheLineThatIsWrong) {
  EXPECT_EQ(error("g.txt", ""), "g.txt: graph.file: is empty");
  EXPECT_EQ(error("g.txt", "# nothing\n"), "g.txt: graph.file: holds no agents");
  EXPECT_EQ(error("g.txt", "0 1\n1\n"),
            "g.txt:2: graph.file: found 1 columns, expected two agents and perhaps a weight");
  EXPECT_EQ(error("g.txt", "0 1\n1 -2\n"),
            "g.txt:2: graph.file: found \"-2\" as an agent, expected an integer from 0 to 2147483646");
  EXPECT_EQ(error("g.txt", "0 1 nan\n"), "g.txt:1: graph.file: found \"nan\" as a weight, expected a finite number");
  EXPECT_EQ(error("g.csv", "0,1\n1,,2\n"), "g.csv:2: graph.file: a comma with nothing before it, expected a number");
  EXPECT_EQ(error("g.csv", "0,1,\n"), "g.csv:1: graph.file: a comma with nothing after it, expected a number");
  EXPECT_EQ(error("g.txt", "0 1\n2 3\n1 0\n"),
            "g.txt: graph.file: not connected: agent 2 cannot be reached from agent 0");
  EXPECT_EQ(
      error("g.txt", "0 2000000000\n"),
      "g.txt: graph.file: has 2000000001 agents but only 1 links, too few to connect them; agents are numbered from 0 "
      "without gaps");
}

TEST_F(GraphFile, NamesWhatIsWrongWithGraphml) {
  EXPECT_EQ(error("g.graphml", "<graphml>\n<graph>\n<node id=\"a\"></graph>").substr(0, 32),
            "g.graphml:3: graph.file: not XML");
  EXPECT_EQ(error("g.graphml", "<html/>"),
            "g.graphml: graph.file: no <graphml> with a <graph> inside, expected a GraphML file");
  EXPECT_EQ(error("g.graphml", "<graphml><graph>\n<node id=\"a\"/>\n<node id=\"a\"/></graph></graphml>"),
            "g.graphml:3: graph.file: node id \"a\" appears twice");
  EXPECT_EQ(
      error("g.graphml", "<graphml><graph>\n<node id=\"a\"/>\n<edge source=\"a\" target=\"b\"/></graph></graphml>"),
      "g.graphml:3: graph.file: target \"b\" of an edge is not the id of any node");
  EXPECT_EQ(error("g.graphml", std::string("\0\x01<<", 4)).substr(0, 32), "g.graphml:1: graph.file: not XML");
  std::string deep = "<graphml><graph>";
  for (int i = 0; i < 200000; ++i) deep += "<node>";
  EXPECT_NE(error("g.graphml", deep), "");
}

TEST_F(GraphFile, NamesWhatIsWrongWithMatrices) {
  const std::string head = "%%MatrixMarket matrix coordinate real general\n";
  EXPECT_EQ(error("g.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n"),
            "g.mtx:1: graph.file: found \"%%MatrixMarket matrix array real general\", expected \"%%MatrixMarket matrix "
            "coordinate real|integer|pattern general|symmetric\"");
  EXPECT_EQ(error("g.mtx", head + "2 3 1\n1 1 1\n"),
            "g.mtx:2: graph.file: found 2 rows and 3 columns, expected a square matrix of at most 2147483647");
  EXPECT_EQ(error("g.mtx", head + "2 2 2\n1 1 1\n"), "g.mtx:2: graph.file: announces 2 entries, found 1");
  EXPECT_EQ(error("g.mtx", head + "2 2 1\n1 1 1\n2 2 1\n"), "g.mtx:2: graph.file: announces 1 entries, found 2");
  EXPECT_EQ(error("g.mtx", head + "2 2 1\n0 1 1\n"),
            "g.mtx:3: graph.file: found \"0\" as an agent, expected an integer from 1 to 2");
  EXPECT_EQ(error("g.mtx", head + "2 2 2\n1 1 1\n1 1 1\n", Weights::given),
            "g.mtx:4: graph.file: row 0, column 0 (counted from 0) is 1 in line 3 and 1 here, expected it once");
  EXPECT_EQ(error("g.mat", "1 0\n0 1 0\n"), "g.mat:2: graph.file: row 1 has 3 numbers, the rows above have 2");
  EXPECT_EQ(error("g.mat", "1 0 0\n0 1 0\n"),
            "g.mat:2: graph.file: found 2 rows and 3 columns, expected a square matrix");
  EXPECT_EQ(error("g.mat", "1\n1\n"), "g.mat:2: graph.file: more rows than the 1 columns, expected a square matrix");
  EXPECT_EQ(error("g.mat", "1 inf\n0 1\n"), "g.mat:1: graph.file: found \"inf\" as a value, expected a finite number");
}

TEST_F(GraphFile, ChecksAGivenMatrixAndNamesTheEntry) {
  EXPECT_EQ(
      error("g.mat", "0.5 0.5\n0.4 0.6\n", Weights::given),
      "g.mat:1: graph.file: not symmetric: row 0, column 1 (counted from 0) is 0.5, but row 1, column 0 (counted from "
      "0) is 0.4");
  EXPECT_EQ(error("g.mat", "0.5 0.5\n0.5 0.4\n", Weights::given),
            "g.mat:2: graph.file: row 1 (counted from 0) sums to 0.9, expected 1 to within 1e-9");
  EXPECT_EQ(error("g.mat", "1.5 -0.5\n-0.5 1.5\n", Weights::given),
            "g.mat:1: graph.file: row 0, column 1 (counted from 0) is -0.5, expected no negative weight");
  EXPECT_EQ(error("g.mat", "1 0\n0 1\n", Weights::given),
            "g.mat:2: graph.file: not connected: agent 1 cannot be reached from agent 0");
  EXPECT_EQ(error("g.mat", "0 1\n1 0\n", Weights::given),
            "g.mat:1: graph.file: not primitive: every diagonal entry is 0, expected some agent k with a_kk > 0");
  EXPECT_EQ(error("g.txt", "0 1 0.3\n1 0 0.4\n", Weights::given),
            "g.txt:2: graph.file: row 0, column 1 (counted from 0) is 0.3 in line 1 and 0.4 here, expected a symmetric "
            "matrix");
  EXPECT_EQ(
      error("g.txt", "0 1 0.75\n1 2 0.5\n", Weights::given),
      "g.txt: graph.file: row 1, column 1 (counted from 0) is -0.25, expected no negative weight (the diagonal is 1 "
      "minus the row's other weights)");
  EXPECT_EQ(error("g.txt", "0 1 0.5\n1 2\n", Weights::given),
            "g.txt:2: graph.file: no weight here, but graph.weights is \"given\"");
}

TEST_F(GraphFile, IsReadThroughTheOptions) {
  GraphOptions options;
  options.topology = Topology::file;
  options.file = write("g.edges", "0 1 0.5\n1 2 0.25\n");
  options.weights = Weights::given;
  expect_matrix(make_network(options, 0), path_matrix);
}

TEST(GraphText, KeepsTheLineOfEveryEntry) {
  const GraphText text = parse_edge_list("# head\n0 1\n\n1 2 0.5\n", false);
  ASSERT_EQ(text.entries.size(), 2U);
  EXPECT_EQ(text.entries[0].line, 2);
  EXPECT_EQ(text.entries[1].line, 4);
  EXPECT_EQ(text.agents, 3);
}

}  // namespace
}  // namespace polyhop::graph_file_test
