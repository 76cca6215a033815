// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/toml_reader.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/core/random.hpp"
#include "support/unprivileged.hpp"

namespace polyhop::toml_reader_test {
namespace {

constexpr const char* example = R"(# Ein Beispiel: größer
name = "five rules"
seeds = "0..4"
iterations = 2_000
target = 1e-6

[graph]
topology = "ring"
agents = 20

[problem]
partition = { kind = "dirichlet", alpha = 0.5 }
label.first = 'é'
note = """
one \
   été"""

[[method]]
name = "GAP"
step = { rule = "gap", sweeps = 4 }

[[method]]
name = "constant"
mu = [
  0.1, # ü
  inf,
]
)";

InputError error_of(std::string_view text) {
  try {
    read_toml(text);
  } catch (const InputError& error) {
    return error;
  }
  ADD_FAILURE() << "accepted: " << text;
  return {"", "", 0};
}

void expect_refused(std::string_view text, int line, const std::string& part) {
  const InputError error = error_of(text);
  EXPECT_EQ(error.line(), line) << error.what();
  EXPECT_NE(error.message().find(part), std::string::npos) << error.what();
}

std::vector<std::string> keys_of(const Value& table) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : *table.as<Value::Table>()) keys.push_back(key);
  return keys;
}

const Value& at(const Value& table, std::string_view key) {
  const Value* value = table.find(key);
  if (value == nullptr) throw Error("no key " + std::string(key));
  return *value;
}

/// A folder of its own, removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "polyhop_toml_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
  }

 private:
  std::filesystem::path path_;
};

void expect_file_refused(const std::string& path, int line, const std::string& part) {
  try {
    read_toml_file(path);
    ADD_FAILURE() << "accepted: " << path;
  } catch (const InputError& error) {
    EXPECT_EQ(error.file(), path);
    EXPECT_EQ(error.line(), line);
    EXPECT_NE(error.message().find(part), std::string::npos) << error.what();
  }
}

TEST(TomlReader, KeepsTheOrderOfTheFile) {
  const Value root = read_toml(example);
  EXPECT_EQ(keys_of(root),
            (std::vector<std::string>{"name", "seeds", "iterations", "target", "graph", "problem", "method"}));
  EXPECT_EQ(keys_of(at(root, "graph")), (std::vector<std::string>{"topology", "agents"}));
  EXPECT_EQ(keys_of(at(at(root, "problem"), "partition")), (std::vector<std::string>{"kind", "alpha"}));
}

TEST(TomlReader, KeepsTheOrderOfFirstMentionWhenATableFollowsItsPart) {
  EXPECT_EQ(keys_of(read_toml("[b.x]\n[a]\n[b]\nz = 1\ny = 2")), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(keys_of(at(read_toml("[b.x]\n[a]\n[b]\nz = 1\ny = 2"), "b")), (std::vector<std::string>{"x", "z", "y"}));
}

TEST(TomlReader, GivesEveryValueItsLine) {
  const Value root = read_toml(example);
  EXPECT_EQ(root.line, 1);
  EXPECT_EQ(at(root, "iterations").line, 4);
  EXPECT_EQ(at(root, "graph").line, 7);
  EXPECT_EQ(at(at(root, "graph"), "agents").line, 9);
  EXPECT_EQ(at(at(root, "problem"), "partition").line, 12);
  EXPECT_EQ(at(at(at(root, "problem"), "partition"), "alpha").line, 12);
  EXPECT_EQ(at(at(root, "problem"), "label").line, 13);
  EXPECT_EQ(at(at(root, "problem"), "note").line, 14);
  const Value& methods = at(root, "method");
  EXPECT_EQ(methods.line, 18);
  ASSERT_NE(methods.as<Value::Array>(), nullptr);
  const Value& second = methods.as<Value::Array>()->at(1);
  EXPECT_EQ(second.line, 22);
  EXPECT_EQ(at(second, "mu").line, 24);
  EXPECT_EQ(at(second, "mu").as<Value::Array>()->at(1).line, 26);
}

TEST(TomlReader, TellsTheKindsOfValuesApart) {
  const Value v = read_toml("i = 3\nx = 3.0\nb = true\ns = '3'\nh = 0xff\nl = [1, 'a']\nt = {}");
  EXPECT_EQ(*at(v, "i").as<std::int64_t>(), 3);
  EXPECT_EQ(*at(v, "x").as<double>(), 3.0);
  EXPECT_TRUE(*at(v, "b").as<bool>());
  EXPECT_EQ(*at(v, "s").as<std::string>(), "3");
  EXPECT_EQ(*at(v, "h").as<std::int64_t>(), 255);
  EXPECT_EQ(at(v, "l").as<Value::Array>()->size(), 2U);
  EXPECT_TRUE(at(v, "t").as<Value::Table>()->empty());
}

TEST(TomlReader, PassesInfinityAndNanOn) {
  const Value v = read_toml("a = inf\nb = -inf\nc = nan");
  EXPECT_EQ(*at(v, "a").as<double>(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(*at(v, "b").as<double>(), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(*at(v, "c").as<double>()));
}

TEST(TomlReader, ReadsTheExtremeIntegersAndRefusesTheNext) {
  const Value v = read_toml("a = 9223372036854775807\nb = -9223372036854775808");
  EXPECT_EQ(*at(v, "a").as<std::int64_t>(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(*at(v, "b").as<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
  expect_refused("\na = 9223372036854775808", 2, "not representable in 64 bits");
}

TEST(TomlReader, ReadsAnEmptyTextAndAByteOrderMark) {
  EXPECT_TRUE(read_toml("").as<Value::Table>()->empty());
  EXPECT_TRUE(read_toml("\xef\xbb\xbf# nothing").as<Value::Table>()->empty());
  EXPECT_EQ(*at(read_toml("\xef\xbb\xbf"
                          "a = 1\r\n"),
                "a")
                 .as<std::int64_t>(),
            1);
}

TEST(TomlReader, KeepsCharactersOutsideAsciiInStringsAndKeys) {
  const Value v =
      read_toml("\"é\" = 'ﬦ'\nb = \"\"\"\\\n  é ü\\\n\n \t漢\"\"\"  # é\nc = '''é''é'''\nd = \"\"\"\"é\"\"\"\"\"");
  EXPECT_EQ(*at(v, "é").as<std::string>(), "ﬦ");
  EXPECT_EQ(*at(v, "b").as<std::string>(), "é ü漢");
  EXPECT_EQ(*at(v, "c").as<std::string>(), "é''é");
  EXPECT_EQ(*at(v, "d").as<std::string>(), "\"é\"\"");
  EXPECT_EQ(at(v, "c").line, 6);
}

TEST(TomlReader, RefusesCharactersOutsideAsciiElsewhere) {
  expect_refused("a = 1\n  é = 1", 2, "unexpected character 'é' (U+00E9)");
  expect_refused("\xef\xba\xbf", 1, "U+FEBF");
  expect_refused("a = \xef\xac\xa6", 1, "U+FB26");
  expect_refused("a = 1\"é\"", 1, "U+00E9");
  expect_refused("a = [1, 2\xe3\x80\x80]", 1, "U+3000");
  expect_refused("a = \"\"\"\\é\"\"\"", 1, "unknown escape");
  expect_refused(
      "a = 1\n\xef\xbb\xbf"
      "b = 2",
      2, "U+FEFF");
}

TEST(TomlReader, SurvivesWhatTheParserAssertsAgainst) {
  expect_refused("[)", 1, "expected bare key starting character or string delimiter");
  expect_refused("a = [}", 1, "text needs quotes");
  expect_refused("[[", 1, "");
  expect_refused("a = +", 1, "");
  expect_refused("a = [1_", 1, "");
}

TEST(TomlReader, RefusesDatesAndTimes) {
  expect_refused("[a]\nb = 2024-05-01", 2, "dates and times are not used here");
  EXPECT_EQ(error_of("[a]\nb = 2024-05-01").path(), "a.b");
  expect_refused("b = 07:32:00", 1, "dates and times");
  expect_refused("b = 2024-05-01T07:32:00Z", 1, "dates and times");
  expect_refused("b = 2024-05-01 07:32:00", 1, "dates and times");
  // Behind such a date the parser looks at what follows as if it were part of the value.
  expect_refused("b = 2024-05-01 1#é", 1, "dates and times");
  expect_refused("b = 2024-05-01 1\n\"é\" = 1", 1, "dates and times");
  EXPECT_EQ(keys_of(read_toml("2024-05-01 = 1")), std::vector<std::string>{"2024-05-01"});
}

TEST(TomlReader, SaysWhereTheFirstBadByteStands) {
  expect_refused("a = 1\nb = \"é\xff\"", 2, "0xFF is not valid UTF-8; expected UTF-8 text (column 7)");
  expect_refused("\xc0\xaf", 1, "0xC0");
  expect_refused("'\xed\xa0\x80'=1", 1, "0xED");
  expect_refused("'\xf4\x90\x80\x80'=1", 1, "0xF4");
  expect_refused("a = 'x\xe2\x82", 1, "0xE2");
  expect_refused(std::string_view("a = 1\n\0", 7), 2, "NUL");
  expect_refused("a = 1\nb = \"\\u0000\"", 2, "NUL");
}

TEST(TomlReader, RefusesDeepNestingWithoutUsingTheStack) {
  const std::string many_brackets(100000, '[');
  std::string many_tables;
  std::string many_parts = "a";
  for (int i = 0; i < 100000; ++i) {
    many_tables += "{a=";
    many_parts += ".a";
  }
  expect_refused("x = " + many_brackets, 1, "nested more than 32 deep");
  expect_refused("x = " + many_tables, 1, "nested more than 32 deep");
  expect_refused(many_parts + " = 1", 1, "more than 16 parts");
  expect_refused("[" + many_parts + "]", 1, "more than 16 parts");
  expect_refused(many_brackets, 1, "");
  EXPECT_NO_THROW(read_toml("x = " + std::string(32, '[') + std::string(32, ']')));
  EXPECT_NO_THROW(read_toml("a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p = [1.5, 2.5, 3.5]"));
}

TEST(TomlReader, ExplainsMistakesInPlainWords) {
  expect_refused("[graph]\ntopology = ring", 2, "text needs quotes");
  expect_refused("topology = torus", 1, "text needs quotes");
  expect_refused("kind = iid", 1, "text needs quotes");
  expect_refused("seeds = 0..4", 1, "ranges need quotes: \"0..4\"");
  expect_refused("seeds = 0-4", 1, "ranges need quotes: \"0..4\"");
  expect_refused("iterations = 2,000", 1, "numbers have no commas in TOML");
  expect_refused("name = normal", 1, "text needs quotes");
  expect_refused("a = 1\na = 2", 2, "cannot redefine existing integer 'a'");
  expect_refused("[a]\n[a]", 2, "cannot redefine existing table 'a'");
  expect_refused("a = \"open", 1, "the text ends before the string does");
  expect_refused(
      "a = \"open\nb = 'é'", 1,
      "control characters other than TAB (U+0009) are explicitly prohibited; is a closing quote missing? (column 10)");
  expect_refused("a = 'open\nb = 1", 1, "; is a closing quote missing?");
  expect_refused("[method]\n[method]", 2, "cannot redefine existing table 'method'; write [[method]] for each method");
  expect_refused("a b = 1", 1, "expected '=', saw 'b' (column 3)");
  expect_refused("seeds = [1 2]", 1, "expected comma or closing ']'");
}

TEST(TomlReader, RefusesTextsThatAreTooLarge) {
  EXPECT_THROW(read_toml(std::string(TomlLimits::bytes + 1, '\n')), InputError);
  EXPECT_NO_THROW(read_toml(std::string(TomlLimits::bytes, '\n')));
}

TEST(TomlReader, ReadsAFileAndNamesItInErrors) {
  const Folder folder;
  EXPECT_EQ(read_toml_file(folder.file("good.toml", example)).text(), read_toml(example).text());
  expect_file_refused(folder.file("bad.toml", "a = 1\nb = ?"), 2, "text needs quotes");
}

TEST(TomlReader, RefusesPathsThatAreNoReadableFiles) {
  const Folder folder;
  expect_file_refused(folder.file("missing.toml"), 0, "No such file");
  expect_file_refused("", 0, "No such file");
  expect_file_refused(folder.file(""), 0, "is a folder; expected a file");
  expect_file_refused("/dev/zero", 0, "a device");
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_file_refused(pipe, 0, "a pipe");
  const std::string large = folder.file("large.toml", "");
  std::filesystem::resize_file(large, TomlLimits::bytes + 1);
  expect_file_refused(large, 0, "larger than 16 MB");
}

TEST(TomlReader, RefusesAFileWithoutPermission) {
  const Folder folder;
  const test::Unprivileged somebody(folder.file(""));
  const std::string path = folder.file("secret.toml", "a = 1");
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  expect_file_refused(path, 0, "Permission denied");
}

TEST(ApplySetting, SetsWhatIsThereAndMakesWhatIsMissing) {
  Value root = read_toml(example);
  apply_setting(root, "graph.agents=50");
  apply_setting(root, "record.steps = \"agents\"");
  EXPECT_EQ(at(at(root, "graph"), "agents").text(), "50");
  EXPECT_EQ(at(root, "record").text(), "{ steps = \"agents\" }");
  EXPECT_EQ(at(at(root, "graph"), "agents").line, 0);
  Value nothing;
  apply_setting(nothing, "a.b=1");
  EXPECT_EQ(nothing.text(), "{ a = { b = 1 } }");
}

TEST(ApplySetting, FindsEntriesOfAListByIndexAndByName) {
  Value root = read_toml(example);
  const auto& methods = *at(root, "method").as<Value::Array>();
  apply_setting(root, "method.0.step.sweeps=5");
  EXPECT_EQ(at(at(methods[0], "step"), "sweeps").text(), "5");
  apply_setting(root, "method.GAP.step.sweeps=6");
  EXPECT_EQ(at(at(methods[0], "step"), "sweeps").text(), "6");
  apply_setting(root, "method.constant.mu.0=0.5");
  EXPECT_EQ(at(methods[1], "mu").text(), "[0.5, inf]");
  apply_setting(root, "method.1.name=GAP 0.5");
  apply_setting(root, "method.\"GAP 0.5\".mu=1");
  EXPECT_EQ(at(methods[1], "mu").text(), "1");
}

TEST(ApplySetting, ReadsAValueAsTomlOrElseAsAText) {
  const auto read = [](const std::string& value) {
    Value root;
    apply_setting(root, "x=" + value);
    return at(root, "x").text();
  };
  EXPECT_EQ(read("5"), "5");
  EXPECT_EQ(read(" 1e-3 "), "0.001");
  EXPECT_EQ(read("true"), "true");
  EXPECT_EQ(read("[1, 2]"), "[1, 2]");
  EXPECT_EQ(read("{ rule = \"gap\" }"), "{ rule = \"gap\" }");
  EXPECT_EQ(read("\"5\""), "\"5\"");
  EXPECT_EQ(read("ring"), "\"ring\"");
  EXPECT_EQ(read("0..19"), "\"0..19\"");
  EXPECT_EQ(read("2024-05-01"), "\"2024-05-01\"");
  EXPECT_EQ(read("a=b"), "\"a=b\"");
  EXPECT_EQ(read("Größe"), "\"Größe\"");
  EXPECT_EQ(read(""), "\"\"");
  EXPECT_EQ(read("1\ny = 2"), "\"1\\u000ay = 2\"");
}

TEST(ApplySetting, SaysWhatIsWrong) {
  const auto expect = [](const std::string& setting, const std::string& part) {
    Value root = read_toml(example);
    const std::string before = root.text();
    try {
      apply_setting(root, setting);
      ADD_FAILURE() << "accepted: " << setting;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
    EXPECT_EQ(root.text(), before);
  };
  expect("graph.agents", "has no '='");
  expect("=5", "empty part");
  expect("graph..agents=5", "empty part");
  expect("\"graph=5", "not closed");
  expect("\"graph\"x=5", "after a closing quote");
  expect("name.first=5", "name is text, \"five rules\", which has no key \"first\"");
  expect("method.2.name=5", "method has 2 entries, numbered from 0; found the index 2");
  expect("method.GAB.name=5", "did you mean 'GAP'?");
  expect("method.\"0\".name=5", "none with the name \"0\"");
  expect("a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a=1", "more than 16 parts");
  expect("x=\xff", "UTF-8");
}

TEST(ApplySetting, RefusesANameThatTwoEntriesShare) {
  Value root = read_toml("[[m]]\nname = 'a'\n[[m]]\nname = 'a'");
  EXPECT_THROW(apply_setting(root, "m.a.x=1"), InputError);
  EXPECT_NO_THROW(apply_setting(root, "m.1.x=1"));
}

/// The example with a few random edits: bytes changed, removed, doubled, and pieces that are known to be awkward.
std::string mutated(Stream& random) {
  static const std::vector<std::string> pieces = {"[",       "]",
                                                  "[[",      "]]",
                                                  "{",       "}",
                                                  "\"",      "'",
                                                  "\"\"\"",  "'''",
                                                  "\\",      "\\\n",
                                                  "=",       ",",
                                                  ".",       "#",
                                                  "\n",      "\r",
                                                  " ",       "2024-05-01 1",
                                                  "é",       "ﬦ",
                                                  "\u3041",  "+",
                                                  "-",       "_",
                                                  "0x",      "1e5",
                                                  "inf",     "a.b.c=",
                                                  ")",       "\u00a0",
                                                  "\\u00e9", "\xef\xba\xbf",
                                                  "\xff",    "true",
                                                  "1\"é\""};
  std::string text = example;
  const Index edits = 1 + random.below(6);
  for (Index e = 0; e < edits; ++e) {
    const auto place = static_cast<std::size_t>(random.below(static_cast<Index>(text.size())));
    const auto length = static_cast<std::size_t>(random.below(12));
    const auto& piece = pieces[random.below(static_cast<Index>(pieces.size()))];
    switch (random.below(5)) {
      case 0:
        text[place] = static_cast<char>(random.below(256));
        break;
      case 1:
        text.erase(place, length);
        break;
      case 2:
        text.insert(place, text.substr(place, length));
        break;
      case 3:
        text.replace(place, length, piece);
        break;
      default:
        text.insert(place, piece);
        break;
    }
  }
  return text;
}

TEST(TomlReader, ReadsOrRefusesAnyMutatedText) {
  constexpr int texts = 5000;
  int accepted = 0;
  for (int i = 0; i < texts; ++i) {
    Stream random(1, Purpose::shuffle, i);
    const std::string text = mutated(random);
    try {
      const Value value = read_toml(text);
      EXPECT_NE(value.as<Value::Table>(), nullptr);
      ++accepted;
    } catch (const InputError& error) {
      EXPECT_GT(error.line(), 0) << "text " << i << ": " << error.what();
      EXPECT_FALSE(error.message().empty());
    }
  }
  // The edits are small enough that both ends are seen.
  EXPECT_GT(accepted, texts / 20);
  EXPECT_LT(accepted, texts / 2);
}

}  // namespace
}  // namespace polyhop::toml_reader_test
