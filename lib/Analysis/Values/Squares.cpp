// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes products apart into factors, and strikes out what it has seen before.

#include "mp/Analysis/Values/Squares.h"

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using domains::UnaryFn;
using Kind = ValueNode::Kind;

std::optional<double> mlir::mp::findScaleOfSquares(const ValueNumbering &values,
                                                   const View &product) {
  constexpr unsigned mostFactors = 12;
  SmallVector<View> pending = {product}, once;
  double scale = 1;
  for (unsigned left = mostFactors; left > 0 && !pending.empty(); --left) {
    View view = pending.pop_back_val();
    if (!view)
      return std::nullopt;
    const ValueNode &node = values.get(view);
    bool isProduct = node.kind == Kind::Binary && node.binary == BinaryFn::Mul;
    bool isNegation = node.kind == Kind::Unary && node.unary == UnaryFn::Neg;
    if (isProduct || isNegation) {
      scale = isNegation ? -scale : scale;
      for (const View &operand : node.operands)
        pending.push_back(values.compose(view, operand));
    } else if (std::optional<double> constant = values.constantOf(view.node)) {
      scale *= *constant;
    } else if (auto *twin = llvm::find(once, view); twin != once.end()) {
      once.erase(twin);
    } else {
      once.push_back(view);
    }
  }
  return pending.empty() && once.empty() && scale != 0 ? std::optional(scale) : std::nullopt;
}
