// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits reciprocal roots.

#include "ReciprocalRoot.h"

#include "ScalarMath.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::mp;

Value mlir::mp::reciprocalRoot(ImplicitLocOpBuilder &b, Value x) {
  ScalarMath m(b, b.getF32Type());
  // Residuals of smaller arguments would be subnormal; powers of four leave the significand.
  Value tiny = m.less(x, m.c(0x1p-96));
  x = m.select(tiny, m.mul(x, m.c(0x1p96)), x);
  Value start = LLVM::CallIntrinsicOp::create(b, x.getType(),
                                              b.getStringAttr("llvm.nvvm.rsqrt.approx.ftz.f"), x)
                    .getResult(0);
  Value quotient = refineReciprocalRoot(m, x, start);
  quotient = m.select(tiny, m.mul(quotient, m.c(0x1p48)), quotient);
  // Steps make NaN of zero and infinity, for which the instruction is exact.
  return m.select(m.isNaN(quotient), start, quotient);
}
