// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-find-empty-rows: tell rows that are minus infinity throughout by their maximum,
// which is that (exact).

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mp/Analysis/Idioms/EmptyRows.h"
#include "mp/Kernels/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_FINDEMPTYROWS
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {

struct FindEmptyRows : mlir::mp::impl::FindEmptyRowsBase<FindEmptyRows> {
  using Base::Base;

  void runOnOperation() override {
    for (auto [asking, maxima] : findEmptyRows(getOperation())) {
      linalg::GenericOp question = asking;
      auto maximum =
          llvm::find_if(maxima, [&](linalg::GenericOp op) { return agree(op, question); });
      if (maximum != maxima.end())
        answer(question, maximum->getResult(0));
    }
  }

  /// True if a reduction has its results in the order of its rows.
  static bool isInOrder(linalg::GenericOp op) {
    int64_t last = -1;
    return llvm::all_of(op.getIndexingMapsArray()[1].getResults(), [&](AffineExpr expr) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      return !dim || std::exchange(last, dim.getPosition()) < int64_t(dim.getPosition());
    });
  }

  /// True if both have their results in the same places.
  static bool agree(linalg::GenericOp maximum, linalg::GenericOp question) {
    return cast<ShapedType>(maximum.getResultTypes()[0]).getShape() ==
               cast<ShapedType>(question.getResultTypes()[0]).getShape() &&
           isInOrder(maximum) && isInOrder(question);
  }

  static void answer(linalg::GenericOp question, Value maximum) {
    OpBuilder b(question);
    Location loc = question.getLoc();
    const int64_t rank = cast<ShapedType>(maximum.getType()).getRank();
    Value empty =
        tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, maximum), b.getI1Type());
    SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(unsigned(rank)));
    SmallVector<utils::IteratorType> loops(size_t(rank), utils::IteratorType::parallel);
    auto made = linalg::GenericOp::create(
        b, loc, empty.getType(), maximum, empty, maps, loops,
        [](OpBuilder &inner, Location at, ValueRange x) {
          auto type = cast<FloatType>(x[0].getType());
          Value lowest = arith::ConstantOp::create(
              inner, at, inner.getFloatAttr(type, APFloat::getInf(type.getFloatSemantics(), true)));
          linalg::YieldOp::create(inner, at,
                                  ValueRange(arith::CmpFOp::create(
                                      inner, at, arith::CmpFPredicate::OEQ, x[0], lowest)));
        });
    question.getResult(0).replaceAllUsesWith(made.getResult(0));
    question.erase();
  }
};

} // namespace
