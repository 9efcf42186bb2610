// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reader tells what is wrong in a policy with file, line and column, what it expected and what
// it found; errors.test shows how mp-opt passes that on.

#include "mp/Policy/PolicyJSON.h"

#include "gtest/gtest.h"

using namespace mpcore::policy;

namespace {

TEST(Policy, SaysWhatWasExpected) {
  auto message = [](const std::string &members) {
    auto policy = readPolicy("{\"mp_policy\": 1" + members + "}", "p.json", "bf16");
    return policy ? std::string() : llvm::toString(policy.takeError());
  };
  auto ofRule = [&](const std::string &rule) { return message(",\n\"rules\": [" + rule + "]"); };
  const std::string wide = R"("precision": "wide")";
  EXPECT_EQ(ofRule("{\"select\": {\"attribute\": {\"a\": true, \"b\": \"1\"}}, " + wide + "}"), "");
  const std::pair<std::string, const char *> cases[] = {
      {ofRule("7"), "2:11: expected an object"},
      {ofRule("{\"name\": 7}"), "2:20: expected a string"},
      {ofRule("{\"select\": {\"attribute\": 7}, " + wide + "}"),
       "2:36: expected an object of attribute names, each with the text it must have or true"},
      {ofRule("{\"select\": {\"attribute\": {\"a\": 7}}, " + wide + "}"),
       "2:42: expected the attribute's text, or true where it only has to be there"},
      {ofRule("{\"select\": {\"op\": \"x\"}, \"format\": \"f16\", " + wide + "}"),
       "2:11: 'format' goes with precision narrow only"},
      {ofRule("{" + wide + "}"), "2:11: a rule needs 'select'"},
      {ofRule("{\"select\": {\"op\": \"[\"}, " + wide + "}"),
       "2:29: bad wildcards: invalid glob pattern, unmatched '['"},
      {message(",\n\"rules\": 7"), "2:10: expected an array of rules"},
      {message(",\n\"format\": \"e4m3\""), "2:11: expected bf16 or f16 or tf32, found 'e4m3'"},
      {message(",\n\"evidence\": \"prove\""),
       "2:13: expected assumed or measured or proved, found 'prove'; did you mean 'proved'?"},
  };
  for (const auto &[found, expected] : cases)
    EXPECT_EQ(found, std::string("p.json:") + expected);
  EXPECT_EQ(llvm::toString(readPolicy("{}", "p.json", "bf16").takeError()),
            "p.json:1:1: expected \"mp_policy\": 1, the version of the layout, among the keys");
  EXPECT_EQ(llvm::toString(readPolicy(R"({"mp_policy": 2})", "p.json", "bf16").takeError()),
            "p.json:1:15: expected version 1");
}

} // namespace
