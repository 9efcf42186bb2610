// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files of measured errors: what is written is read back, and what a file lacks is said.

#include "mp/Assignment/MeasuredErrors.h"

#include "gtest/gtest.h"

using mpcore::assignment::MeasuredErrors;

namespace {

TEST(MeasuredErrors, FilesSayWhatTheyLack) {
  auto message = [](const std::string &text) {
    auto errors = MeasuredErrors::parse(text);
    return errors ? std::string() : llvm::toString(errors.takeError());
  };
  auto ofFunctions = [&](const std::string &functions, const std::string &more = "") {
    return message(
        "{\"mp_sensitivity\": " + std::to_string(mpcore::assignment::kMeasuredErrorsVersion) +
        more + ", \"functions\": " + functions + "}");
  };
  auto ofContraction = [&](const std::string &contraction) {
    return ofFunctions(R"([{"name": "f", "hash": "1", "contractions": [)" + contraction + "]}]");
  };
  EXPECT_EQ(ofContraction(R"({"contraction": 0, "formats": {"f16": {"draws": [0.5, null]}}})"), "");
  EXPECT_EQ(message("{}"),
            "expected a file that mp-run --sensitivity wrote, found no 'mp_sensitivity'");
  EXPECT_EQ(message(R"({"mp_sensitivity": 99})"),
            "expected version " + std::to_string(mpcore::assignment::kMeasuredErrorsVersion) +
                ", found 99");
  EXPECT_EQ(ofFunctions("1"), "expected an array 'functions'");
  EXPECT_EQ(ofFunctions(R"([{"name": "f"}])"),
            "expected 'name', 'hash' and 'contractions' of each function");
  EXPECT_EQ(ofContraction(R"({"contraction": -1, "formats": {}})"),
            "expected 'contraction' and 'formats' in function 'f'");
  EXPECT_EQ(ofContraction(R"({"contraction": 0, "formats": {"f16": {"draws": []}}})"),
            "expected 'draws', an array of errors, of format 'f16'");
  EXPECT_EQ(ofContraction(R"({"contraction": 0, "formats": {"f16": {"draws": [-0.5]}}})"),
            "expected errors of at least 0, found -0.500000");
  EXPECT_EQ(ofFunctions(R"([{"name": "f", "hash": "1", "contractions": [], "sets": [{}]}])"),
            "expected 'name', 'contractions' and 'formats' of each of 'sets'");
  EXPECT_EQ(ofFunctions("[]", R"(, "weights": [{"argument": 0}])"),
            "expected 'argument' and 'formats' of each of 'weights'");
}

} // namespace
