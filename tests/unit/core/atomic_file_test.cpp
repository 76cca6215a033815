// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/atomic_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/error.hpp"
#include "support/temporary_folder.hpp"
#include "support/unprivileged.hpp"

namespace polyhop::atomic_file_test {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public test::TemporaryFolder {
 protected:
  static void put(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

  template <class Action>
  static void expect_error(Action action, const std::string& path, const std::string& reason) {
    try {
      action();
      ADD_FAILURE() << "no error for " << path;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("'" + path + "'"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
  }
  static void expect_no_open(const std::string& path, const std::string& reason) {
    expect_error([&] { const AtomicFile out(path); }, path, reason);
  }
};

TEST_F(AtomicFileTest, AppearsAsAWholeOnCommit) {
  AtomicFile out(file("curves.csv"));
  out.write("a,b\n");
  out.write(std::string("\0\xff", 2));
  EXPECT_FALSE(fs::exists(file("curves.csv")));
  out.commit();
  EXPECT_EQ(content(file("curves.csv")), std::string("a,b\n\0\xff", 6));
  EXPECT_EQ(entries(), 1);
}

TEST_F(AtomicFileTest, LeavesNothingBehindWithoutCommit) {
  put(file("old"), "old");
  {
    AtomicFile fresh(file("new"));
    AtomicFile replacement(file("old"));
    fresh.write("half");
    replacement.write(std::string(1000000, 'x'));
    EXPECT_EQ(entries(), 3);
  }
  EXPECT_EQ(entries(), 1);
  EXPECT_EQ(content(file("old")), "old");
}

TEST_F(AtomicFileTest, ReplacesAFileAndKeepsItsPermissions) {
  put(file("old"), "old");
  ASSERT_EQ(::chmod(file("old").c_str(), 0640), 0);
  AtomicFile out(file("old"));
  out.write("new");
  out.commit();
  EXPECT_EQ(content(file("old")), "new");
  EXPECT_EQ(fs::status(file("old")).permissions(), fs::perms{0640});
}

TEST_F(AtomicFileTest, GivesANewFileThePermissionsOfTheUmask) {
  const mode_t before = ::umask(027);
  AtomicFile out(file("new"));
  out.commit();
  ::umask(before);
  EXPECT_EQ(fs::status(file("new")).permissions(), fs::perms{0640});
}

TEST_F(AtomicFileTest, FollowsASymbolicLink) {
  fs::create_directory(file("real"));
  put(file("real/data"), "old");
  fs::create_symlink("real/data", file("link"));
  AtomicFile out(file("link"));
  out.write("new");
  out.commit();
  EXPECT_TRUE(fs::is_symlink(file("link")));
  EXPECT_EQ(content(file("real/data")), "new");
}

TEST_F(AtomicFileTest, CanBeMoved) {
  AtomicFile first(file("a"));
  first.write("one ");
  AtomicFile second(std::move(first));
  second.write("two");
  second.commit();
  EXPECT_EQ(content(file("a")), "one two");
}

TEST_F(AtomicFileTest, TwoWritersOfOneFileDoNotMix) {
  AtomicFile first(file("a"));
  AtomicFile second(file("a"));
  first.write("first");
  second.write("2nd");
  first.commit();
  EXPECT_EQ(content(file("a")), "first");
  second.commit();
  EXPECT_EQ(content(file("a")), "2nd");
  EXPECT_EQ(entries(), 1);
}

TEST_F(AtomicFileTest, RefusesImpossiblePathsBeforeAnythingIsWritten) {
  fs::create_directory(file("folder"));
  put(file("plain"), "");
  expect_no_open(file("missing/a"), "No such file or directory");
  expect_no_open(file("folder"), "Is a directory");
  expect_no_open(file("folder/"), "Is a directory");
  expect_no_open(file("new/"), "Is a directory");
  expect_no_open(file("plain/a"), "Not a directory");
  expect_no_open("", "No such file or directory");
  expect_no_open(file(std::string(300, 'x')), "File name too long");
  EXPECT_EQ(entries(), 2);
}

TEST_F(AtomicFileTest, TakesTheLongestNameThatTheSystemAllows) {
  AtomicFile out(file(std::string(255, 'x')));
  out.commit();
  EXPECT_TRUE(fs::exists(file(std::string(255, 'x'))));
}

TEST_F(AtomicFileTest, RefusesWhatIsReadOnly) {
  const test::Unprivileged somebody(folder_);
  put(file("fixed"), "old");
  ASSERT_EQ(::chmod(file("fixed").c_str(), 0444), 0);
  expect_no_open(file("fixed"), "Permission denied");
  ASSERT_EQ(::chmod(folder_.c_str(), 0555), 0);
  expect_no_open(file("new"), "Permission denied");
  ASSERT_EQ(::chmod(folder_.c_str(), 0755), 0);
}

TEST_F(AtomicFileTest, WritesToDevicesAsTheyAre) {
  AtomicFile out("/dev/null");
  out.write("gone");
  out.commit();
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(AtomicFileTest, ReportsAFullDisk) {
  AtomicFile small("/dev/full");
  small.write("x");
  expect_error([&] { small.commit(); }, "/dev/full", "No space left on device");
  AtomicFile large("/dev/full");
  expect_error([&] { large.write(std::string(1000000, 'x')); }, "/dev/full", "No space left on device");
}

TEST_F(AtomicFileTest, LeavesNothingBehindWhenWritingFails) {
  put(file("old"), "old");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 100000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  AtomicFile out(file("old"));
  expect_error([&] { out.write(std::string(1000000, 'x')); }, file("old"), "File too large");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(content(file("old")), "old");
  EXPECT_EQ(entries(), 1);
  EXPECT_THROW(out.commit(), Error);
}

TEST_F(AtomicFileTest, ReportsThatTheFolderHasGone) {
  fs::create_directory(file("folder"));
  AtomicFile out(file("folder/a"));
  fs::remove_all(file("folder"));
  expect_error([&] { out.commit(); }, file("folder/a"), "No such file or directory");
}

TEST_F(AtomicFileTest, RefusesToBeUsedAfterCommit) {
  AtomicFile out(file("a"));
  out.commit();
  EXPECT_THROW(out.write("x"), Error);
  EXPECT_THROW(out.commit(), Error);
  EXPECT_EQ(content(file("a")), "");
}

// A process that has a file open until it is killed.
class Writer {
 public:
  explicit Writer(const std::string& path) {
    int ends[2] = {-1, -1};
    if (::pipe(ends) != 0) throw Error("no pipe");
    child_ = ::fork();
    if (child_ == 0) {
      AtomicFile out(path);
      out.write(std::string(100'000, 'x'));
      (void)!::write(ends[1], "o", 1);
      for (;;) ::pause();
    }
    char opened = 0;
    EXPECT_EQ(::read(ends[0], &opened, 1), 1);
    ::close(ends[0]);
    ::close(ends[1]);
  }
  ~Writer() { kill(); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void kill() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(std::exchange(child_, 0), nullptr, 0);
  }

 private:
  pid_t child_ = 0;
};

TEST_F(AtomicFileTest, WhatAKilledProcessLeftIsRemovedByTheNextAndWhatALivingOneHasIsNot) {
  Writer living(file("curves.csv"));
  Writer killed(file("models.npz"));
  killed.kill();
  EXPECT_EQ(entries(), 2);
  {
    const AtomicFile next(file("summary.json"));
    EXPECT_EQ(entries(), 2);  // the living one's and its own
    const AtomicFile another(file("summary.json"));
    EXPECT_EQ(entries(), 3);
  }
  EXPECT_EQ(entries(), 1);
  living.kill();
  const AtomicFile last(file("summary.json"));
  EXPECT_EQ(entries(), 1);
}

TEST_F(AtomicFileTest, FilesOfOtherHostsAndOfOtherProgramsStay) {
  char host[65] = {};
  ASSERT_EQ(::gethostname(host, 64), 0);
  std::string here = host;
  std::ranges::replace(here, '.', '-');
  for (const std::string& name : std::vector<std::string>{
           ".curves.csv.other-" + here + ".123.0.tmp", ".curves.csv.123.0.tmp", ".a." + here + ".x.0.tmp",
           ".a." + here + "..0.tmp", "a." + here + ".123.0.tmp", ".a." + here + ".123.0.temp"}) {
    put(file(name), "theirs");
  }
  fs::create_directory(file(".folder." + here + ".1.0.tmp"));
  fs::create_symlink(file(".curves.csv.123.0.tmp"), file(".link." + here + ".1.0.tmp"));
  const long before = entries();
  put(file(".ours." + here + ".123.0.tmp"), "abandoned");
  AtomicFile(file("curves.csv")).commit();
  EXPECT_EQ(entries(), before + 1);
  EXPECT_FALSE(fs::exists(file(".ours." + here + ".123.0.tmp")));
}

}  // namespace
}  // namespace polyhop::atomic_file_test
