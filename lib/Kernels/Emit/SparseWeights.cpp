// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stores constants as mma.sp takes them.

#include "SparseWeights.h"

#include "../Select/ConstantMatrix.h"
#include "mp/Kernels/Passes.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mpcore::layouts;

Value SparseConstants::global(OpBuilder &builder, Location loc, StringRef name,
                              ArrayRef<int64_t> shape, Type element, ArrayRef<char> bytes) {
  auto value = DenseElementsAttr::getFromRawBuffer(RankedTensorType::get(shape, element), bytes);
  memref::GlobalOp &global = made[value];
  auto type = MemRefType::get(shape, element);
  if (!global) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    global = memref::GlobalOp::create(builder, loc, (name + "_" + Twine(made.size() - 1)).str(),
                                      builder.getStringAttr("private"), type, value,
                                      /*constant=*/true, builder.getI64IntegerAttr(64));
  }
  return memref::GetGlobalOp::create(builder, loc, type, global.getSymName());
}

/// One dimension that counts points of `loops`, the last the fastest, of `factor` each; then one
/// that no loop moves in.
static LinearAccess accessBy(ArrayRef<unsigned> loops, ArrayRef<int64_t> ranges, int64_t factor) {
  LinearAccess access;
  access.constants = {0, 0};
  access.coefficients.assign(2, SmallVector<int64_t>(ranges.size(), 0));
  for (unsigned loop : llvm::reverse(loops)) {
    access.coefficients[0][loop] = factor;
    factor *= ranges[loop];
  }
  return access;
}

SparseConstants::Stored SparseConstants::store(OpBuilder &builder, linalg::GenericOp op,
                                               const Contraction &contraction, Value buffer) {
  const SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto matrix = ConstantMatrix::read(buffer, contraction.access[0], contraction, ranges);
  assert(matrix && "marked contractions have constants");
  std::vector<char> values, words;
  std::optional<SparseRows> last;
  for (int64_t b = 0; b < matrix->batches(); ++b) {
    last = compressRows(
        {matrix->bits()}, matrix->rows(), matrix->products(),
        [&](int64_t row, int64_t k) { return matrix->pattern(b, row, k); },
        [&](uint16_t value) { return matrix->isZero(value); });
    for (uint16_t value : last->values)
      for (unsigned byte = 0; byte < matrix->bits(); byte += 8)
        values.push_back(char(value >> byte));
    for (uint32_t word : last->words)
      for (unsigned byte = 0; byte < 32; byte += 8)
        words.push_back(char(word >> byte));
  }
  const int64_t batches = matrix->batches(), rows = matrix->rows();
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  Location loc = buffer.getLoc();
  Stored stored;
  stored.values =
      global(builder, loc, "sparse_values", {batches * rows, last->stored()}, element, values);
  stored.words =
      global(builder, loc, "sparse_metadata", {batches * last->tiles(), last->wordsPerTile()},
             builder.getI32Type(), words);
  SmallVector<unsigned> outer(contraction.batch);
  llvm::append_range(outer, contraction.m);
  stored.valueAccess = accessBy(outer, ranges, 1);
  stored.wordAccess = accessBy(contraction.batch, ranges, last->tiles());
  return stored;
}

void SparseConstants::replaceA(OpBuilder &builder, linalg::GenericOp op, Contraction &contraction,
                               MutableArrayRef<ProductArguments> products) {
  const auto loop = unsigned(op->getAttrOfType<IntegerAttr>(kMmaSparseAttrName).getInt());
  llvm::erase(contraction.k, loop);
  contraction.k.push_back(loop);
  for (ProductArguments &product : products) {
    Stored stored = store(builder, op, contraction, product.operands.front().buffer);
    product.operands.front() = {stored.values, stored.valueAccess, {}, {}};
    product.operands.push_back({stored.words, stored.wordAccess, {}, {}});
  }
}

void mlir::mp::planSparse(GemmPlan &plan, ArrayRef<GemmOperand> operands) {
  SparsePlan sparse;
  sparse.operand = unsigned(operands.size() - 1);
  sparse.shape = {plan.instruction->elementBits};
  auto shapeOf = [&](unsigned operand) {
    return cast<MemRefType>(operands[operand].buffer.getType()).getShape();
  };
  auto loop = [&](unsigned operand, int64_t size, int64_t step) {
    StridedLoop made{Size::known(size), {}};
    made.step.assign(operands.size() + plan.padded.size(), Size::known(0));
    made.step[operand] = Size::known(step);
    return made;
  };
  const int64_t stored = shapeOf(0)[1], words = shapeOf(sparse.operand)[1];
  const int64_t batches = *knownExtent(plan.batch), all = shapeOf(sparse.operand)[0];
  sparse.values = {loop(0, stored, 1)};
  sparse.words = {loop(sparse.operand, words, 1)};
  sparse.tiles = {loop(sparse.operand, batches ? all / batches : 0, words)};
  plan.stageA = {/*alongK=*/true, /*vector=*/128 / plan.instruction->elementBits,
                 /*asynchronous=*/true};
  plan.sparse = sparse;
}
