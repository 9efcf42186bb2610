// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mp/ToolSupport/InputCheck.h"
#include "gtest/gtest.h"

#include <cstdlib>

using namespace llvm;
using namespace mlir::mp;

namespace {

/// What checkText says of `text`; empty for nothing.
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

std::string probe(function_ref<void()> parse, unsigned seconds = 1) {
  return toString(probeInChild(MemoryBufferRef("", "in"), seconds, parse));
}

TEST(InputCheck, ProbeSurvivesCrashAndHang) {
  EXPECT_EQ(probe([] {}), "");
  EXPECT_EQ(probe([] { _Exit(1); }), "") << "a failure in words is for the real run to report";
  EXPECT_NE(probe([] { abort(); }).find("the reader crashed"), std::string::npos);
  EXPECT_NE(probe([] {
              for (volatile int i = 0;; i = i + 1) {
              }
            }).find("did not finish within 1 s"),
            std::string::npos);
}

} // namespace
