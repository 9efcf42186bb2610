// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mp/ToolSupport/InputCheck.h"
#include "mp/ToolSupport/Driver.h"
#include "gtest/gtest.h"

#include <cstdlib>

using namespace llvm;
using namespace mlir::mp;

namespace {

/// Returns the message of checkText for `text`; empty for none.
std::string check(StringRef text, unsigned limit = 4) {
  return toString(checkText(MemoryBufferRef(text, "in"), limit));
}

TEST(InputCheck, CountsEveryKindOfBracket) {
  EXPECT_EQ(check("{([<>])}"), "");
  EXPECT_EQ(check("{([\n <(>])}"),
            "in:2:3: error: nested more than 4 brackets deep; mp accepts at most that");
}

TEST(InputCheck, ArrowsAndComparisonsAreNoBrackets) {
  EXPECT_EQ(check("<(d0) -> (d0)> <(d0) -> (d0)>"), "");
  EXPECT_EQ(check("affine_set<(d0) : (d0 - 1 >= 0, d0 <= 4)>", 2), "");
  EXPECT_NE(check("-> -> -> <<<<<"), "");
}

TEST(InputCheck, StringsAndCommentsDoNotCount) {
  EXPECT_EQ(check("\"((((((\\\"((((\" // (((((("), "");
  EXPECT_EQ(check("(((( // -----\n(((("), "");
}

TEST(InputCheck, SaysWhatIsNoText) {
  EXPECT_NE(check(StringRef("a\0b", 3)).find("in:1:2: error: found a NUL byte"), std::string::npos);
  EXPECT_NE(check("\xef\xbb\xbfmodule").find("byte order mark"), std::string::npos);
  EXPECT_NE(check("\xff\xfem").find("UTF-16"), std::string::npos);
}

#if !defined(__has_feature) || !__has_feature(address_sanitizer)
/// Runs `read` under a watch of one second in a tool of its own.
int watch(function_ref<void(BytecodeWatch &)> read) {
  return runTool("mp-test", 0, nullptr, [&](ToolArguments &) {
    BytecodeWatch watch(MemoryBufferRef("", "in"), /*seconds=*/1);
    read(watch);
    return 0;
  });
}

void spin() {
  for (volatile int i = 0;; i = i + 1) {
  }
}

TEST(BytecodeWatchDeathTest, BlamesCrashAndHangOnTheFile) {
  testing::FLAGS_gtest_death_test_style = "fast";
  EXPECT_EXIT(exit(watch([](BytecodeWatch &) { abort(); })), testing::ExitedWithCode(2),
              "in: error: damaged bytecode: the reader crashed;");
  EXPECT_EXIT(exit(watch([](BytecodeWatch &) { spin(); })), testing::ExitedWithCode(2),
              "in: error: damaged bytecode: the reader did not finish within 1 s;");
}

TEST(BytecodeWatchDeathTest, LeavesAloneWhatComesAfter) {
  testing::FLAGS_gtest_death_test_style = "fast";
  EXPECT_EXIT(exit(watch([](BytecodeWatch &) {})), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(exit(watch([](BytecodeWatch &watch) {
                watch.end();
                abort();
              })),
              testing::ExitedWithCode(70), "mp-test: internal error");
}
#endif

} // namespace
