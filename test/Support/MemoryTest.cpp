// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mp/Support/Memory.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace mpcore::support;

namespace {

TEST(Memory, ComparesSizesWithWhatIsFree) {
  EXPECT_GT(residentMemory(), 100'000u);
  EXPECT_GT(availableMemory(), 1'000'000u);
  EXPECT_EQ(toString(checkMemory(1000, "a little")), "");
  std::string message = toString(checkMemory(uint64_t(1) << 60, "tensor<?xf32>"));
  EXPECT_NE(message.find("tensor<?xf32> takes 1 EiB, but only "), std::string::npos) << message;
  EXPECT_NE(message.find(" of memory are free [MP601]"), std::string::npos) << message;
}

TEST(Memory, KeepsTheLimitThatIsSet) {
  setMemoryLimit(residentMemory() + (64 << 20));
  EXPECT_LE(availableMemory(), uint64_t(64) << 20);
  EXPECT_NE(toString(checkMemory(uint64_t(1) << 30, "x")).find("(--max-memory)"),
            std::string::npos);
  setMemoryLimit(1);
  EXPECT_EQ(availableMemory(), 0u);
  setMemoryLimit(0);
}

TEST(Memory, ReadsSizesAsPeopleWriteThem) {
  EXPECT_EQ(parseBytes("1000"), 1000u);
  EXPECT_EQ(parseBytes("4k"), 4096u);
  EXPECT_EQ(parseBytes("3M"), uint64_t(3) << 20);
  EXPECT_EQ(parseBytes("2G"), uint64_t(2) << 30);
  EXPECT_EQ(parseBytes("1T"), uint64_t(1) << 40);
  EXPECT_EQ(parseBytes("18446744073709551615"), ~uint64_t(0));
  for (const char *text : {"", "K", "0", "0G", "-1", "1.5G", "4GB", "4 G", "16777216T", "1e9"})
    EXPECT_FALSE(parseBytes(text)) << text;
}

TEST(Memory, SizesAreForPeople) {
  EXPECT_EQ(formatBytes(0), "0 B");
  EXPECT_EQ(formatBytes(1023), "1023 B");
  EXPECT_EQ(formatBytes(1536), "1.5 KiB");
  EXPECT_EQ(formatBytes(uint64_t(4) << 40), "4 TiB");
}

} // namespace
