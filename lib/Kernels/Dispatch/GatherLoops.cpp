// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes tensor.gather and tensor.scatter as loops over slices.

#include "GatherLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

/// The slices' side of either op: a tensor whose leading dimensions are those of the indices
/// without the last, which holds coordinates along `chosen` dimensions of the table. The others
/// follow; a chosen one is dropped or of size 1.
struct Slices {
  Value indices, table;
  ArrayRef<int64_t> chosen;
  int64_t rank; ///< of all slices together

  int64_t leading() const { return cast<RankedTensorType>(indices.getType()).getRank() - 1; }
  bool dropsChosen() const {
    return rank ==
           leading() + cast<RankedTensorType>(table.getType()).getRank() - int64_t(chosen.size());
  }

  /// Returns the index in the table of the element at `position` of the slices.
  SmallVector<Value> inTable(ImplicitLocOpBuilder &b, ValueRange position) const {
    SmallVector<Value> place;
    int64_t next = leading();
    for (int64_t dim = 0, e = cast<RankedTensorType>(table.getType()).getRank(); dim < e; ++dim) {
      const int64_t *coordinate = llvm::find(chosen, dim);
      if (coordinate == chosen.end()) {
        place.push_back(position[next++]);
        continue;
      }
      next += !dropsChosen();
      SmallVector<Value> at(position.take_front(leading()));
      at.push_back(arith::ConstantIndexOp::create(b, coordinate - chosen.begin()));
      Value index = tensor::ExtractOp::create(b, indices, at);
      place.push_back(index.getType().isIndex()
                          ? index
                          : arith::IndexCastOp::create(b, b.getIndexType(), index));
    }
    return place;
  }
};

void mlir::mp::lowerGather(tensor::GatherOp op, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  RankedTensorType type = op.getResultType();
  Slices slices{op.getIndices(), op.getSource(), op.getGatherDims(), type.getRank()};
  // Sizes of run time are those of the indices, then those of the table's other dimensions.
  SmallVector<Value> dynamic;
  auto addSize = [&](int64_t dim, Value of, int64_t ofDim) {
    if (type.isDynamicDim(dim))
      dynamic.push_back(tensor::DimOp::create(b, of, ofDim));
  };
  for (int64_t dim = 0; dim < slices.leading(); ++dim)
    addSize(dim, op.getIndices(), dim);
  for (int64_t dim = 0, next = slices.leading(); dim < op.getSourceType().getRank(); ++dim) {
    bool isChosen = llvm::is_contained(op.getGatherDims(), dim);
    if (!isChosen)
      addSize(next, op.getSource(), dim);
    next += !isChosen || !slices.dropsChosen();
  }
  Value empty = tensor::EmptyOp::create(b, type, dynamic);
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, type, ValueRange(), empty, b.getMultiDimIdentityMap(type.getRank()), loops,
      [&](OpBuilder &nested, Location loc, ValueRange) {
        ImplicitLocOpBuilder body(loc, nested);
        SmallVector<Value> position;
        for (int64_t dim = 0; dim < type.getRank(); ++dim)
          position.push_back(linalg::IndexOp::create(body, dim));
        Value element =
            tensor::ExtractOp::create(body, op.getSource(), slices.inTable(body, position));
        linalg::YieldOp::create(body, element);
      });
  rewriter.replaceOp(op, generic);
}

void mlir::mp::lowerScatter(tensor::ScatterOp op, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  int64_t rank = op.getSourceType().getRank();
  Slices slices{op.getIndices(), op.getDest(), op.getScatterDims(), rank};
  Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
  SmallVector<Value> from(rank, zero), to, step(rank, one);
  for (int64_t dim = 0; dim < rank; ++dim)
    to.push_back(tensor::DimOp::create(b, op.getSource(), dim));
  scf::LoopNest nest =
      scf::buildLoopNest(b, op.getLoc(), from, to, step, op.getDest(),
                         [&](OpBuilder &nested, Location loc, ValueRange position,
                             ValueRange carried) -> scf::ValueVector {
                           ImplicitLocOpBuilder body(loc, nested);
                           Value element =
                               tensor::ExtractOp::create(body, op.getSource(), position);
                           return {tensor::InsertOp::create(body, element, carried.front(),
                                                            slices.inTable(body, position))};
                         });
  rewriter.replaceOp(op, nest.results);
}
