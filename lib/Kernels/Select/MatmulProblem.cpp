// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts the products of a contraction and the bytes and instructions of its epilogue.

#include "MatmulProblem.h"

#include "StreamProblem.h"
#include "mp/Kernels/Passes.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mpcore::performance;

static double bytesOf(Type element) {
  return double(llvm::divideCeil(element.getIntOrFloatBitWidth(), 8));
}

MatmulProblem mlir::mp::problemOf(const EpiloguePlan &plan, Block &body) {
  const SmallVector<int64_t> ranges = plan.op.getStaticLoopRanges();
  auto sizeOf = [&](int loop) {
    return ShapedType::isDynamic(ranges[loop]) ? kAssumedSize : std::max<int64_t>(ranges[loop], 1);
  };
  auto extentOf = [&](ArrayRef<unsigned> loops) {
    int64_t product = 1;
    for (unsigned loop : loops)
      product *= sizeOf(int(loop));
    return product;
  };
  const Contraction &contraction = plan.contraction;
  MatmulProblem problem;
  problem.batch = extentOf(contraction.batch);
  problem.m = extentOf(contraction.m);
  problem.n = extentOf(contraction.n);
  problem.k = extentOf(contraction.k);
  const bool isInteger = isa<IntegerType>(contraction.format[0]);
  const StringRef mark = plan.op->getAttrOfType<StringAttr>(kMmaAttrName).getValue();
  problem.format = isInteger ? "i8" : mark.split('_').first.str();
  problem.result = isInteger ? "i32" : "f32";
  auto storedBits = [&](unsigned operand) {
    const OperandSource &source = plan.sources[operand];
    return source.narrowing ? getElementTypeOrSelf(source.tensor.getType()).getIntOrFloatBitWidth()
                            : 0;
  };
  problem.aBits = storedBits(0);
  problem.bBits = storedBits(1);
  // The model stores sums as they are; what the epilogue moves instead counts beside them.
  const double results = double(problem.batch) * double(problem.m) * double(problem.n);
  double bytes = -4 * results;
  const unsigned outputs = body.getTerminator()->getNumOperands();
  for (BlockArgument argument : body.getArguments()) {
    auto dims = plan.dims.find(argument);
    const bool isOutput = argument.getArgNumber() >= body.getNumArguments() - outputs;
    if (dims == plan.dims.end() || (argument.use_empty() && !isOutput))
      continue;
    double points = 1;
    for (int loop : dims->second)
      points *= loop < 0 ? 1 : double(sizeOf(loop));
    bytes += points * bytesOf(getElementTypeOrSelf(argument.getType()));
  }
  problem.epilogueBytes = bytes / results;
  for (auto op : body.getOps<linalg::LinalgOp>())
    if (op != plan.op && op != plan.sources[0].narrowing && op != plan.sources[1].narrowing)
      for (Operation &inner : op.getBlock()->without_terminator())
        problem.epilogueInstructions += instructionsOf(&inner);
  return problem;
}
