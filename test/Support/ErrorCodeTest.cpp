// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mp/Support/ErrorCode.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace mpcore::support;

namespace {

TEST(ErrorCode, NumbersAscendAndTheirHundredIsTheStatus) {
  int last = 100;
  for (const ErrorPage &page : errorPages()) {
    EXPECT_GT(int(page.code), last);
    last = int(page.code);
    EXPECT_FALSE(page.title.empty());
    EXPECT_TRUE(page.text.ends_with(".\n")) << last;
    ExitStatus expected = last < 400   ? ExitStatus::BadInput
                          : last < 700 ? ExitStatus::Failed
                          : last < 800 ? ExitStatus::Missing
                                       : ExitStatus::Internal;
    EXPECT_EQ(statusOf(page.code), expected);
  }
}

TEST(ErrorCode, IsFoundInMessages) {
  std::string message = toString(error(ErrorCode::CannotRead, "no such file"));
  EXPECT_EQ(message, "no such file [MP201]");
  EXPECT_EQ(toString(error(ErrorCode::BadOption, "option 'x': " + message)),
            "option 'x': no such file [MP201]");
  EXPECT_EQ(findCode("wrapped: " + message + "; twice"), ErrorCode::CannotRead);
  EXPECT_EQ(findCode("no number"), std::nullopt);
  EXPECT_EQ(findCode("[MP000] [MPx]"), std::nullopt);
}

TEST(ErrorCode, HasAPage) {
  std::string text;
  raw_string_ostream os(text);
  ASSERT_EQ(toString(printErrorPages("mp302", os)), "");
  EXPECT_TRUE(StringRef(text).starts_with("# MP302: an output is a file that is read\n\n"));
  EXPECT_TRUE(StringRef(text).ends_with(
      "\nExit status 2: wrong usage or input, or an output that cannot be written.\n"));
  EXPECT_EQ(
      toString(printErrorPages("MP999", os)),
      "no error has the number 'MP999'; --mp-explain-error=all prints those there are [MP101]");
  EXPECT_EQ(toString(printErrorPages("", os)),
            "'' is no number of an error, expected one such as MP301, or all [MP101]");
}

} // namespace
