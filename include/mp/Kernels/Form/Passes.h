// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that form dispatches, and undo them.

#ifndef MP_KERNELS_FORM_PASSES_H
#define MP_KERNELS_FORM_PASSES_H

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Dialect/MPK/MPKDialect.h"
#include "mp/Target/TargetName.h"

namespace mlir::mp {

/// Says how `mp-form-dispatches` runs attention: each product and the softmax as kernels of their
/// own, or as one, which adds in another order.
enum class AttentionForm { Unfused, Fused };
inline auto wordsOf(AttentionForm) {
  using enum AttentionForm;
  static constexpr support::Word<AttentionForm> all[] = {
      {Unfused, "unfused", "each product and the softmax a kernel of its own"},
      {Fused, "fused", "one kernel, whose scores never reach memory"}};
  return llvm::ArrayRef(all);
}
constexpr llvm::StringLiteral absentWord(AttentionForm) { return "auto"; }

#define GEN_PASS_DECL
#include "mp/Kernels/Form/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "mp/Kernels/Form/Passes.h.inc"

} // namespace mlir::mp

#endif // MP_KERNELS_FORM_PASSES_H
