// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mp/Support/Files.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

#include <chrono>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace mpcore::support;

namespace {

struct FilesTest : testing::Test {
  SmallString<128> folder;
  std::string path;

  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("mp-output", folder));
    path = (folder + "/out").str();
  }
  void TearDown() override { sys::fs::remove_directories(folder); }

  std::string content(StringRef name) {
    auto buffer = MemoryBuffer::getFile(name);
    return buffer ? (*buffer)->getBuffer().str() : "(none)";
  }
  int filesInFolder() {
    int count = 0;
    std::error_code code;
    for (sys::fs::directory_iterator it(folder, code), end; it != end; it.increment(code))
      ++count;
    return count;
  }
  void put(StringRef text, bool commit) {
    auto file = OutputFile::open(path, "-o");
    ASSERT_TRUE(bool(file)) << toString(file.takeError());
    (*file)->os() << text;
    if (commit)
      ASSERT_EQ(toString((*file)->commit()), "");
  }
};

TEST_F(FilesTest, AppearsOnlyWhenCommitted) {
  put("lost", false);
  EXPECT_EQ(filesInFolder(), 0);
  put("first", true);
  EXPECT_EQ(content(path), "first");
  put("lost", false);
  EXPECT_EQ(content(path), "first");
  put("second", true);
  EXPECT_EQ(content(path), "second");
  EXPECT_EQ(filesInFolder(), 1);
}

TEST_F(FilesTest, KeepsPermissionsAndLinks) {
  put("first", true);
  ASSERT_FALSE(sys::fs::setPermissions(path, sys::fs::owner_read | sys::fs::owner_write));
  std::string link = (folder + "/link").str(), real = path;
  ASSERT_FALSE(sys::fs::create_link(path, link));
  path = link;
  put("second", true);
  EXPECT_EQ(content(real), "second");
  EXPECT_EQ(filesInFolder(), 2);
  auto permissions = sys::fs::getPermissions(real);
  ASSERT_TRUE(bool(permissions));
  EXPECT_EQ(*permissions, sys::fs::owner_read | sys::fs::owner_write);
}

TEST_F(FilesTest, ReportsAFullDisk) {
  if (!sys::fs::exists("/dev/full"))
    GTEST_SKIP() << "no /dev/full here";
  path = "/dev/full";
  auto file = OutputFile::open(path, "-o");
  ASSERT_TRUE(bool(file));
  (*file)->os() << "text";
  EXPECT_EQ(toString((*file)->commit()),
            "cannot write output file '/dev/full': No space left on device [MP301]");
}

TEST_F(FilesTest, NamesTheReason) {
  auto file = OutputFile::open((folder + "/no/such").str(), "-o");
  EXPECT_EQ(toString(file.takeError()),
            ("cannot write output file '" + folder + "/no/such': No such file or directory [MP301]")
                .str());
  file = OutputFile::open(folder, "-o");
  EXPECT_EQ(toString(file.takeError()),
            ("cannot write output file '" + folder + "': Is a directory [MP301]").str());
}

TEST_F(FilesTest, AnOutputIsNoInput) {
  put("model", true);
  std::string link = (folder + "/link").str(), hard = (folder + "/hard").str();
  ASSERT_FALSE(sys::fs::create_link(path, link));
  ASSERT_FALSE(sys::fs::create_hard_link(path, hard));
  FilesOfRun run;
  ASSERT_EQ(toString(noteInput(path, "model.mlir", /*mayBeReplaced=*/true)), "");
  for (const std::string &name : {path, link, hard})
    EXPECT_EQ(toString(OutputFile::open(name, "report=r").takeError()),
              "report=r is the file that is read as model.mlir; name another output [MP302]");
  EXPECT_TRUE(bool(OutputFile::open(path, "-o", OutputFile::InPlace)));
  EXPECT_EQ(content(path), "model");
}

TEST_F(FilesTest, AnInputThatIsReadLaterIsNoOutputEither) {
  put("policy", true);
  auto file = OutputFile::open(path, "report=p");
  ASSERT_TRUE(bool(file));
  EXPECT_EQ(toString(readFile(path, "policy=p").takeError()),
            "report=p is the file that is read as policy=p; name another output [MP302]");
}

TEST_F(FilesTest, TwoOutputsAreTwoFiles) {
  {
    auto first = OutputFile::open(path, "report=x");
    ASSERT_TRUE(bool(first));
    EXPECT_EQ(pendingOutputs(), 1u);
    EXPECT_EQ(
        toString(OutputFile::open((folder + "/./out").str(), "html=x").takeError()),
        "html=x is the file that report=x writes; each output needs a file of its own [MP303]");
  }
  EXPECT_EQ(pendingOutputs(), 0u);
  put("one after the other", true); // as a program that converts many modules does
  put("one after the other", true);
}

TEST_F(FilesTest, OutputsOfARunAppearTogetherOrNotAtAll) {
  std::string other = (folder + "/other").str();
  auto write = [&](FilesOfRun &) {
    for (const std::string &name : {path, other})
      ASSERT_EQ(toString(writeFile(name, name, [](raw_ostream &os) { os << "new"; })), "");
  };
  {
    FilesOfRun run;
    write(run);
    EXPECT_EQ(content(path), "(none)");
  }
  EXPECT_EQ(filesInFolder(), 0);
  FilesOfRun run;
  write(run);
  ASSERT_EQ(toString(run.commit()), "");
  EXPECT_EQ(content(path) + content(other), "newnew");
}

TEST_F(FilesTest, NobodySaysThatNothingWasWrittenOnceOutputsAreInPlace) {
  {
    FilesOfRun run;
    put("first", true);
    ASSERT_EQ(toString(run.commit()), "");
    EXPECT_FALSE(claimEnd()); // until the next run
  }
  auto endsFirst = [&] {
    FilesOfRun run;
    put("second", true);
    bool claimed = claimEnd();
    std::thread ends([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      _exit(claimed && content(path) == "first" ? 0 : 1);
    });
    consumeError(run.commit()); // waits for the end
    _exit(2);
  };
  EXPECT_EXIT(endsFirst(), ::testing::ExitedWithCode(0), "");
}

TEST_F(FilesTest, ALateOutputIsOpenedBeforeAndMayBeWrittenAgain) {
  LateOutput output;
  ASSERT_EQ(toString(output.open(path, "report=out")), "");
  LateOutput copy(output); // has nothing open, and would collide if it had
  EXPECT_EQ(content(path), "(none)");
  ASSERT_EQ(toString(output.write([](raw_ostream &os) { os << 1; })), "");
  ASSERT_EQ(toString(output.write([](raw_ostream &os) { os << 2; })), "");
  EXPECT_EQ(content(path), "2");
  ASSERT_EQ(toString(copy.write([](raw_ostream &os) { os << 3; })), "");
  EXPECT_EQ(content(path), "3");
  EXPECT_NE(toString(LateOutput().open((folder + "/no/such").str(), "x")), "");
}

TEST_F(FilesTest, FoldersFollowTheUmask) {
  mode_t before = umask(022);
  std::string made = (folder + "/a/b").str();
  EXPECT_EQ(toString(makeFolder(made, "dir=a/b")), "");
  umask(before);
  auto permissions = sys::fs::getPermissions(made);
  ASSERT_TRUE(bool(permissions));
  EXPECT_EQ(*permissions, sys::fs::all_read | sys::fs::all_exe | sys::fs::owner_write);
}

} // namespace
