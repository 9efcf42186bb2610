// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mp/Support/JSON.h"
#include "gtest/gtest.h"

using namespace mpcore::support;

namespace {

std::string errorOf(llvm::StringRef text) {
  auto value = parseJSON(text);
  return value ? "" : llvm::toString(value.takeError());
}

TEST(JSON, RefusesKeysThatAnObjectHasTwice) {
  EXPECT_EQ(errorOf("{\"a\": 1,\n  \"b\": 2, \"a\": 3}"),
            "[2:11, byte=19]: key 'a' is given twice");
  EXPECT_EQ(errorOf(R"([{"x": {}, "y": [{"z": 1, "z": 2}]}])"),
            "[1:27, byte=26]: key 'z' is given twice");
  EXPECT_EQ(errorOf(R"({"a": 1, "\u0061": 2})"), "[1:10, byte=9]: key 'a' is given twice");
  EXPECT_EQ(errorOf(R"({"": 1, "": 2})"), "[1:9, byte=8]: key '' is given twice");
}

TEST(JSON, TakesEqualKeysOfDifferentObjectsAndEqualValues) {
  EXPECT_EQ(errorOf(R"({"a": {"a": "a"}, "b": ["a", "a", {"a": "\"a\": {"}, {"a": "\\"}]})"), "");
  EXPECT_EQ(errorOf(R"("text")"), "");
  EXPECT_EQ(errorOf("[[], {}, 1, null]"), "");
  EXPECT_NE(errorOf("{\"a\": 1"), "");
}

} // namespace
