// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every op of the table, on every element type, shape and target: the PTX on the emulator against
// the same module compiled for the host. Thread order is reversed as well: no result may depend on
// it.

#include "../Support/Sample.h"
#include "Lowering.h"
#include "OpTable.h"
#include "mlir/Parser/Parser.h"
#include "mp/Execution/DeviceProgram.h"
#include "mp/Execution/Host/Program.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

const char *kTargets[] = {"sm_75", "sm_80", "sm_89", "sm_90a", "sm_120"};
const char *kTypes[] = {"f32", "f16", "bf16", "f64", "f8E4M3FN", "f8E5M2",
                        "i8",  "i16", "i32",  "i64", "i1"};

struct Shape {
  const char *name;
  MatrixShape type;
  std::vector<MatrixShape> sizes; ///< to run with
};

const Shape kShapes[] = {{"full", {16, 16}, {{16, 16}}},
                         {"ragged", {7, 37}, {{7, 37}}},
                         {"tiny", {1, 1}, {{1, 1}}},
                         {"empty", {0, 5}, {{0, 5}}},
                         {"dynamic", {-1, -1}, {{7, 37}, {1, 1}, {0, 5}, {1, 300}}}};

using Results = std::vector<std::vector<Array>>; ///< one list of results for each of the sizes

/// Returns the results on the host; the same for all targets.
const Results &hostResults(ModuleOp module, const std::string &type, const Shape &shape) {
  static std::map<std::pair<std::string, const Shape *>, Results> known;
  Results &results = known[{type, &shape}];
  if (!results.empty())
    return results;
  auto program = llvm::cantFail(Program::compile(module, "f"));
  for (MatrixShape sizes : shape.sizes)
    results.push_back(llvm::cantFail(program->run(opOperands(type, sizes.rows, sizes.columns))));
  return results;
}

void check(const std::string &type, const Shape &shape, const std::string &target,
           bool dispatches) {
  SCOPED_TRACE(type + " " + shape.name + " " + target + (dispatches ? " by dispatches" : ""));
  MLIRContext context(makeRegistry());
  std::vector<const OpCase *> cases;
  std::string text = opFunction(type, shape.type, cases);
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  ASSERT_TRUE(module) << text;
  const Results &expected = hostResults(*module, type, shape);
  DeviceOptions options;
  options.chip = target;
  options.dispatches = dispatches;
  options.orderedSums = true;
  options.launch.threads = 1;
  auto program = DeviceProgram::compile(*module, "f", options);
  ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());
  for (bool reverse : {false, true}) {
    (*program)->launchOptions().reverse = reverse;
    for (auto [i, sizes] : llvm::enumerate(shape.sizes)) {
      auto found = (*program)->run(opOperands(type, sizes.rows, sizes.columns));
      ASSERT_TRUE(bool(found)) << sizes.rows << 'x' << sizes.columns << ": "
                               << llvm::toString(found.takeError());
      ASSERT_EQ(found->size(), cases.size());
      for (auto [test, x, y] : llvm::zip_equal(cases, *found, expected[i]))
        if (auto difference = firstDifference(*test, x, y))
          ADD_FAILURE() << test->name << (reverse ? " reversed, " : ", ") << sizes.rows << 'x'
                        << sizes.columns << ": " << *difference;
    }
  }
}

/// A diagonal through the matrix that meets every type, shape and target: on both routes at night.
TEST(OpMatrix, EveryTypeShapeAndTargetOnce) {
  Sample some(2); // of an odd number of types, so that each is on one route
  for (bool dispatches : {false, true})
    for (size_t i = 0; i < std::size(kTypes); ++i)
      if (some.takes())
        check(kTypes[i], kShapes[i % 5], kTargets[(i + i / 5) % 5], dispatches);
}

using Combination = std::tuple<const char *, Shape, const char *>;
class OpMatrixAll : public testing::TestWithParam<Combination> {};

TEST_P(OpMatrixAll, Agrees) {
  auto [type, shape, target] = GetParam();
  for (bool dispatches : {false, true})
    check(type, *llvm::find_if(kShapes, [&](const Shape &s) { return s.name == shape.name; }),
          target, dispatches);
}

std::string nameOf(const testing::TestParamInfo<Combination> &info) {
  auto [type, shape, target] = info.param;
  return std::string(type) + "_" + shape.name + "_" + target;
}

INSTANTIATE_TEST_SUITE_P(Nightly, OpMatrixAll,
                         testing::Combine(testing::ValuesIn(kTypes), testing::ValuesIn(kShapes),
                                          testing::ValuesIn(kTargets)),
                         nameOf);

} // namespace
