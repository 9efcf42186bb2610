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

TEST(Memory, SizesAreForPeople) {
  EXPECT_EQ(formatBytes(0), "0 B");
  EXPECT_EQ(formatBytes(1023), "1023 B");
  EXPECT_EQ(formatBytes(1536), "1.5 KiB");
  EXPECT_EQ(formatBytes(uint64_t(4) << 40), "4 TiB");
}

} // namespace
