// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mp/ToolSupport/OutputFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace mlir::mp;

namespace {

struct OutputFileTest : testing::Test {
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
    auto file = OutputFile::open(path);
    ASSERT_TRUE(bool(file)) << toString(file.takeError());
    (*file)->os() << text;
    if (commit)
      ASSERT_EQ(toString((*file)->commit()), "");
  }
};

TEST_F(OutputFileTest, AppearsOnlyWhenCommitted) {
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

TEST_F(OutputFileTest, KeepsPermissionsAndLinks) {
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

TEST_F(OutputFileTest, ReportsAFullDisk) {
  if (!sys::fs::exists("/dev/full"))
    GTEST_SKIP() << "no /dev/full here";
  path = "/dev/full";
  auto file = OutputFile::open(path);
  ASSERT_TRUE(bool(file));
  (*file)->os() << "text";
  EXPECT_EQ(toString((*file)->commit()),
            "cannot write output file '/dev/full': No space left on device");
}

TEST_F(OutputFileTest, NamesTheReason) {
  auto file = OutputFile::open((folder + "/no/such").str());
  EXPECT_EQ(toString(file.takeError()),
            ("cannot write output file '" + folder + "/no/such': No such file or directory").str());
  file = OutputFile::open(folder);
  EXPECT_EQ(toString(file.takeError()),
            ("cannot write output file '" + folder + "': Is a directory").str());
}

} // namespace
