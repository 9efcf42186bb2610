// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-choose-layouts: channels lie last where kernels are modelled to gain more by that
// than transpositions take (changes rounding: sums are in another order).

#include "LayoutProblem.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Assignment/Solve.h"
#include "mp/Dialect/MP/Layout.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Target/Targets.h"
#include "mp/Transforms/Optimize/Passes.h"
#include "llvm/Support/Format.h"

namespace mlir::mp {
#define GEN_PASS_DEF_CHOOSELAYOUTS
#include "mp/Transforms/Optimize/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {
/// Writes the ops of a block that move, in the block's order.
class LayoutWriter {
public:
  explicit LayoutWriter(const Ranks &ranks) : ranks(ranks) {}

  void move(Operation *op, Moves moves) {
    if (moves == Moves::Away || moves == Moves::Back)
      return; // meets the transposition that undoes it
    OpBuilder builder(op);
    Value result = moves == Moves::InLoops       ? moveLoops(builder, cast<linalg::LinalgOp>(op))
                   : moves == Moves::WithPadding ? movePadding(builder, cast<tensor::PadOp>(op))
                                                 : moveElements(builder, op);
    written.push_back({op, result});
    if (result.getType() == op->getResult(0).getType() && !mayMove(result, ranks))
      op->getResult(0).replaceAllUsesWith(result);
    else
      last[op->getResult(0)] = result;
  }

  /// Brings back what others read as it lay, and drops the ops that have moved.
  void finish() {
    for (auto [op, result] : llvm::reverse(written)) {
      if (!op->use_empty()) {
        OpBuilder builder(op);
        builder.setInsertionPointAfter(op);
        op->getResult(0).replaceAllUsesWith(
            transpose(builder, result, invertPermutationVector(channelsLast(rankOf(result)))));
      }
      op->erase();
    }
  }

private:
  static int64_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

  /// The value with channels last.
  Value asLast(Value value) {
    if (Value known = last.lookup(value))
      return known;
    OpBuilder builder(value.getContext());
    if (Operation *def = value.getDefiningOp())
      builder.setInsertionPointAfter(def);
    else
      builder.setInsertionPointToStart(value.getParentBlock());
    Value moved = isUniform(value) ? makeUniform(builder, value)
                                   : transpose(builder, value, channelsLast(rankOf(value)));
    return last[value] = moved;
  }

  Value makeUniform(OpBuilder &builder, Value value) {
    auto type = withChannelsLast(cast<RankedTensorType>(value.getType()));
    if (auto fill = value.getDefiningOp<linalg::FillOp>())
      return linalg::FillOp::create(builder, value.getLoc(), fill.getInputs(),
                                    asLast(fill.getOutputs()[0]))
          .getResult(0);
    if (auto empty = value.getDefiningOp<tensor::EmptyOp>()) {
      SmallVector<OpFoldResult> sizes = empty.getMixedSizes();
      applyPermutationToVector(sizes, channelsLast(type.getRank()));
      return tensor::EmptyOp::create(builder, value.getLoc(), sizes, type.getElementType());
    }
    SplatElementsAttr splat;
    matchPattern(value, m_Constant(&splat));
    return arith::ConstantOp::create(builder, value.getLoc(), splat.resizeSplat(type));
  }

  static Value transpose(OpBuilder &builder, Value value, ArrayRef<int64_t> order) {
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, value.getLoc(), value);
    for (OpFoldResult size : sizes)
      if (auto dim = dyn_cast<Value>(size))
        if (auto read = dim.getDefiningOp<tensor::DimOp>())
          read->setAttr(kLayoutAttrName, builder.getUnitAttr());
    applyPermutationToVector(sizes, order);
    Value empty = tensor::EmptyOp::create(builder, value.getLoc(), sizes,
                                          getElementTypeOrSelf(value.getType()));
    auto turned = linalg::TransposeOp::create(builder, value.getLoc(), value, empty, order);
    turned->setAttr(kLayoutAttrName, builder.getUnitAttr());
    return turned->getResult(0);
  }

  IRMapping moveOperands(Operation *op) {
    IRMapping moved;
    for (OpOperand *operand : movedOperands(op, ranks))
      moved.map(operand->get(), asLast(operand->get()));
    return moved;
  }

  Value moveLoops(OpBuilder &builder, linalg::LinalgOp op) {
    const LoopOrder loops = loopsMoved(op, ranks);
    SmallVector<Value> operands(op->getOperands());
    for (auto [operand, isMoved] : llvm::zip_equal(operands, loops.isMoved))
      if (isMoved)
        operand = asLast(operand);
    SmallVector<utils::IteratorType> kinds;
    for (int64_t loop : loops.order)
      kinds.push_back(op.getIteratorTypesArray()[loop]);
    ValueRange inputs = ValueRange(operands).drop_back(), init = ValueRange(operands).take_back();
    auto moved = linalg::GenericOp::create(builder, op->getLoc(), init.getTypes(), inputs, init,
                                           loops.maps, kinds);
    IRMapping mapping;
    op->getRegion(0).cloneInto(&moved.getRegion(), mapping);
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      if (attribute.getNameDialect() != op->getDialect()) // which keeps the maps of named ops there
        moved->setAttr(attribute.getName(), attribute.getValue());
    moved->setAttr(kLayoutAttrName, builder.getDenseI64ArrayAttr(loops.order));
    return moved->getResult(0);
  }

  Value moveElements(OpBuilder &builder, Operation *op) {
    IRMapping mapping = moveOperands(op);
    OperationState state(op->getLoc(), op->getName());
    for (Value operand : op->getOperands())
      state.addOperands(mapping.lookupOrDefault(operand));
    state.addTypes(withChannelsLast(cast<RankedTensorType>(op->getResult(0).getType())));
    state.attributes = op->getAttrs();
    state.propertiesAttr = op->getPropertiesAsAttribute();
    return builder.create(state)->getResult(0);
  }

  Value movePadding(OpBuilder &builder, tensor::PadOp op) {
    auto permuted = [&](ArrayRef<int64_t> sizes) {
      SmallVector<int64_t> moved(sizes);
      applyPermutationToVector(moved, channelsLast(int64_t(sizes.size())));
      return moved;
    };
    auto moved = tensor::PadOp::create(builder, op.getLoc(), withChannelsLast(op.getResultType()),
                                       asLast(op.getSource()), permuted(op.getStaticLow()),
                                       permuted(op.getStaticHigh()), ValueRange(), ValueRange(),
                                       op.getNofold());
    IRMapping mapping;
    op.getRegion().cloneInto(&moved.getRegion(), mapping);
    moved->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    moved->setAttr(kLayoutAttrName, builder.getUnitAttr());
    return moved;
  }

  const Ranks &ranks;
  llvm::DenseMap<Value, Value> last; ///< values with channels last
  SmallVector<std::pair<Operation *, Value>> written;
};

/// Holds what was chosen for a function.
struct ChosenLayout {
  int64_t convolutions = 0, moved = 0, transpositions = 0, time = 0, before = 0;
  bool isOptimal = true;
};

struct ChooseLayouts : mlir::mp::impl::ChooseLayoutsBase<ChooseLayouts> {
  using ChooseLayoutsBase::ChooseLayoutsBase;

  void runOnOperation() override {
    auto model = target::lookupTarget(chip);
    auto costs = model ? mpcore::performance::CostModel::create(*model)
                       : llvm::Expected<mpcore::performance::CostModel>(model.takeError());
    if (!costs) {
      emitError(getOperation().getLoc(), "mp-choose-layouts: ") << toString(costs.takeError());
      return signalPassFailure();
    }
    LayoutCosts times(*costs);
    for (auto function : getOperation().getOps<FunctionOpInterface>()) {
      SmallVector<Block *> blocks;
      function.walk([&](Block *block) {
        if (llvm::any_of(*block, [](Operation &op) { return isConvolution(&op); }))
          blocks.push_back(block);
      });
      ChosenLayout chosen;
      for (Block *block : blocks)
        choose(*block, times, chosen);
      if (!blocks.empty())
        report(function, chosen, *costs);
    }
  }

private:
  void choose(Block &block, LayoutCosts &times, ChosenLayout &chosen) {
    Ranks ranks;
    for (Operation &op : block)
      if (isConvolution(&op) && op.getNumResults() == 1)
        if (int64_t rank = cast<RankedTensorType>(op.getResult(0).getType()).getRank(); rank > 2)
          ranks.insert(rank);
    LayoutProblem layouts(block, ranks, times);
    llvm::Expected<assignment::Solution> solution = assignment::solve(layouts.getProblem());
    if (!solution)
      llvm::report_fatal_error(solution.takeError()); // the problem is well formed
    const assignment::Labels asTheyAre(layouts.getProblem().nodes.size(), 0);
    chosen.before += assignment::evaluate(layouts.getProblem(), asTheyAre).cost;
    chosen.time += solution->score.cost;
    chosen.transpositions += solution->score.casts;
    chosen.isOptimal &= solution->provenOptimal;
    LayoutWriter writer(ranks);
    for (auto [op, node] : layouts.getOps()) {
      const bool isLast = solution->labels[node] != 0;
      chosen.convolutions += isConvolution(op);
      chosen.moved += isLast && isConvolution(op);
      if (isLast)
        writer.move(op, movesOf(op, ranks));
    }
    writer.finish();
  }

  void report(FunctionOpInterface function, const ChosenLayout &chosen,
              const mpcore::performance::CostModel &costs) {
    std::string text;
    llvm::raw_string_ostream(text)
        << chosen.moved << " of " << chosen.convolutions << " convolutions channels last, "
        << chosen.transpositions << " transpositions: modelled "
        << llvm::format("%.2f us on ", double(chosen.time) * 1e-6) << costs.part().name
        << llvm::format(", %.2f us as they lie, ", double(chosen.before) * 1e-6)
        << (chosen.isOptimal ? "optimal" : "not proven optimal");
    function->setAttr(kLayoutPlanAttrName, StringAttr::get(&getContext(), text));
    remark::passed(function.getLoc(), remarks::kLayouts.in(function)) << remark::add("{0}", text);
  }
};
} // namespace
