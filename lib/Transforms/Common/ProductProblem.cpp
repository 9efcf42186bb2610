// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the format of a contraction's factors.

#include "ProductProblem.h"

#include "mp/Interfaces/PrecisionOpInterface.h"

using namespace mlir;
using namespace mlir::mp;

mpcore::performance::MatmulProblem mlir::mp::productOf(Operation *op, Sizes &sizes) {
  FloatType format;
  for (OpOperand *factor : getFactors(op))
    format = getFloatFormat(factor->get().getType());
  mpcore::performance::MatmulProblem problem = sizes.countProduct(op);
  problem.format.clear();
  if (format)
    llvm::raw_string_ostream(problem.format) << format;
  return problem;
}
