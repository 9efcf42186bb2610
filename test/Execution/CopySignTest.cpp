// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// copysign has the sign of its second operand, compiled for the host with LLVM's optimisations and
// without: LLVM 22 for x86 takes the sign bit of a number loaded as bf16 for zero.

#include "CastProgram.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mp/Execution/Host/Program.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mpcore;
using namespace mlir::mp::test;
using mlir::mp::Array;
using numerics::Format;

static constexpr const char *kBySigns = R"(
func.func @f(%sign: tensor<?x$>) -> tensor<?x$> {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : $
  %size = tensor.dim %sign, %c0 : tensor<?x$>
  %empty = tensor.empty(%size) : tensor<?x$>
  %0 = linalg.map ins(%sign : tensor<?x$>) outs(%empty : tensor<?x$>)
    (%s: $, %o: $) {
      %1 = math.copysign %one, %s : $
      linalg.yield %1 : $
    }
  return %0 : tensor<?x$>
})";

static void checkSigns(Format format, bool optimise) {
  auto context = makeExecutionContext();
  std::string text = llvm::join(llvm::split(kBySigns, '$'), numerics::toString(format));
  auto module = parseSourceString<ModuleOp>(text, context.get());
  ASSERT_TRUE(module);
  mlir::mp::ProgramOptions options;
  options.optimise = optimise;
  auto program = mlir::mp::Program::compile(*module, "f", options);
  ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());
  std::vector<uint64_t> patterns = patternsOf(format, 5000);
  Array signs = castArguments(format, patterns)[0];
  auto results = (*program)->run({signs});
  ASSERT_TRUE(bool(results)) << llvm::toString(results.takeError());
  uint64_t top = uint64_t(1) << (numerics::info(format).bits - 1);
  for (auto [i, pattern] : llvm::enumerate(patterns))
    ASSERT_EQ((*results)[0].value(i), pattern & top ? -1 : 1) << i << " of " << pattern;
}

TEST(CopySign, HasTheSignOfTheSecondOperand) {
  for (Format format : {Format::BF16, Format::F16, Format::F32, Format::F8E5M2})
    for (bool optimise : {true, false})
      checkSigns(format, optimise);
}
