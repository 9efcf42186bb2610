// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Joins the loops of a body's ops through the tensors between them.

#include "StreamPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mp/Interfaces/LoopNest.h"

#include "llvm/ADT/IntEqClasses.h"

using namespace mlir;
using namespace mlir::mp;

int64_t LoopPlan::extent(ArrayRef<unsigned> some) const {
  int64_t product = 1;
  bool dynamic = false;
  for (unsigned loop : some) {
    dynamic |= ShapedType::isDynamic(loops[loop].size);
    product *= ShapedType::isDynamic(loops[loop].size) ? 1 : loops[loop].size;
  }
  return product == 0 ? 0 : dynamic ? ShapedType::kDynamic : product;
}

namespace {

/// Numbers the dimensions of tensors and the loops of ops, and joins those that are one.
class Joiner {
public:
  Joiner(Block &body, LoopPlan &plan, std::string &reason)
      : body(body), plan_(plan), reason(reason),
        inputs(body.getNumArguments() - body.getTerminator()->getNumOperands()) {}

  LogicalResult run() {
    if (int64_t bytes = argumentBytes(); bytes > kMostArgumentBytes)
      return refuse("its operands take " + Twine(bytes) +
                    " bytes of arguments, of which a kernel " + "has " + Twine(kMostArgumentBytes));
    for (BlockArgument argument : body.getArguments())
      if (!argument.use_empty() || argument.getArgNumber() >= inputs)
        number(argument);
    for (Operation &op : body.without_terminator())
      if (failed(join(op)))
        return failure();
    // Outputs are the last arguments: their loops are those of the results.
    auto results = body.getTerminator()->getOperands();
    for (auto [result, output] :
         llvm::zip_equal(results, body.getArguments().take_back(results.size())))
      sameDims(result, output);
    return makeLoops();
  }

private:
  LogicalResult refuse(const Twine &why) {
    reason = why.str();
    return failure();
  }

  /// A kernel's parameters hold 4 KiB on every target.
  static constexpr int64_t kMostArgumentBytes = 4096;

  /// A pointer for each operand, and sizes, strides and offset where they are not known.
  int64_t argumentBytes() const {
    int64_t words = 0;
    for (Type type : body.getArgumentTypes()) {
      auto shaped = dyn_cast<ShapedType>(type);
      const bool isDynamic = shaped && shaped.hasRank() && !shaped.hasStaticShape();
      words += isDynamic ? 2 + 2 * shaped.getRank() : 1;
    }
    return 8 * words;
  }

  unsigned newNode(int64_t size) {
    sizes.push_back(size);
    return sizes.size() - 1;
  }

  /// True for what kernels read at any index, as bodies that gather do: an operand, not what ops of
  /// the kernel make.
  bool isInput(Value value) const {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == &body && argument.getArgNumber() < inputs;
  }

  /// True for an operand that bodies read at indices they compute, and nobody reads otherwise: its
  /// sizes are those of no loop.
  bool isGatheredAlone(Value value) const {
    return isInput(value) && !value.use_empty() &&
           llvm::all_of(value.getUsers(), llvm::IsaPred<tensor::ExtractOp>);
  }

  /// Tensors whose elements are all alike have no loops: one may stand for several.
  void number(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || isa_and_nonnull<tensor::EmptyOp, arith::ConstantOp>(value.getDefiningOp()) ||
        isGatheredAlone(value))
      return;
    SmallVector<int> &nodes = plan_.dims[value];
    for (int64_t size : type.getShape())
      nodes.push_back(newNode(size));
  }

  void same(int a, int b) { joins.push_back({a, b}); }
  void sameDims(Value a, Value b) {
    if (plan_.dims.count(a) && plan_.dims.count(b))
      for (auto [x, y] : llvm::zip_equal(plan_.dims[a], plan_.dims[b]))
        same(x, y);
  }

  LogicalResult join(Operation &op) {
    for (Value result : op.getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (isa<TensorType>(result.getType()) && !type)
        return refuse("a tensor has no rank");
      number(result);
    }
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      return joinLinalg(linalgOp);
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      return joinReshape(op);
    if (isa<tensor::EmptyOp>(op))
      return success();
    if (isa<tensor::CastOp>(op)) {
      sameDims(op.getOperand(0), op.getResult(0));
      return success();
    }
    if (isa<arith::ConstantOp>(op)) {
      DenseElementsAttr dense;
      if (isa<TensorType>(op.getResult(0).getType()) &&
          !(matchPattern(&op, m_Constant(&dense)) && dense.isSplat()))
        return refuse("it holds a constant of several values, which should be an operand");
      return success();
    }
    if (OpTrait::hasElementwiseMappableTraits(&op)) {
      for (Value operand : op.getOperands())
        for (Value result : op.getResults())
          if (isa<TensorType>(operand.getType()) && isa<TensorType>(result.getType()))
            sameDims(operand, result);
      return success();
    }
    if (llvm::none_of(op.getResultTypes(), llvm::IsaPred<TensorType>) && op.getNumRegions() == 0)
      return success(); // scalars
    return refuse("it holds '" + op.getName().getStringRef() + "'");
  }

  LogicalResult joinLinalg(linalg::LinalgOp op) {
    SmallVector<int> &loops = plan_.opLoops[op];
    for (unsigned i = 0; i < op.getNumLoops(); ++i)
      loops.push_back(newNode(ShapedType::kDynamic));
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      if (failed(joinAccess(operand.get(), map, loops)) ||
          (op.isDpsInit(&operand) && failed(joinAccess(op.getTiedOpResult(&operand), map, loops))))
        return failure();
    }
    const bool gathers = !op.getBlock()->getOps<tensor::ExtractOp>().empty();
    for (Operation &inner : op.getBlock()->without_terminator()) {
      if (gathers && isa<cf::AssertOp>(inner)) // checked where elements are gathered
        continue;
      bool takesTensor = llvm::any_of(inner.getOperandTypes(), llvm::IsaPred<TensorType>);
      if (auto extract = dyn_cast<tensor::ExtractOp>(inner))
        takesTensor = !(plan_.gathers = isInput(extract.getTensor()));
      if (inner.getNumRegions() != 0 || !isMemoryEffectFree(&inner) || takesTensor ||
          isa_and_nonnull<complex::ComplexDialect>(inner.getDialect()))
        return refuse("a body of it holds '" + inner.getName().getStringRef() + "'");
    }
    return success();
  }

  LogicalResult joinAccess(Value tensor, AffineMap map, ArrayRef<int> loops) {
    auto found = plan_.dims.find(tensor);
    if (found == plan_.dims.end())
      return success();
    for (auto [expr, node] : llvm::zip_equal(map.getResults(), found->second)) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        same(node, loops[dim.getPosition()]);
      else if (!(isa<AffineConstantExpr>(expr) && sizes[node] == 1))
        return refuse("an index of it is neither a loop nor zero");
    }
    return success();
  }

  /// Reshapes that only add or drop dimensions of size one.
  LogicalResult joinReshape(Operation &op) {
    bool expands = isa<tensor::ExpandShapeOp>(op);
    SmallVector<ReassociationIndices> groups =
        expands ? cast<tensor::ExpandShapeOp>(op).getReassociationIndices()
                : cast<tensor::CollapseShapeOp>(op).getReassociationIndices();
    Value wide = expands ? op.getResult(0) : op.getOperand(0);
    Value thin = expands ? op.getOperand(0) : op.getResult(0);
    if (!plan_.dims.count(op.getOperand(0))) { // all of its elements are alike
      plan_.dims.erase(op.getResult(0));
      return success();
    }
    for (auto [position, group] : llvm::enumerate(groups)) {
      int found = -1;
      for (int64_t dim : group) {
        int node = plan_.dims[wide][dim];
        if (sizes[node] == 1)
          continue;
        if (found >= 0)
          return refuse("a reshape in it splits a dimension");
        found = node;
      }
      if (found >= 0)
        same(found, plan_.dims[thin][position]);
    }
    return success();
  }

  /// Classes of nodes become loops; the nodes in `dims` and `opLoops` become loop numbers.
  LogicalResult makeLoops() {
    llvm::IntEqClasses classes(sizes.size());
    for (auto [a, b] : joins)
      classes.join(a, b);
    classes.compress();
    SmallVector<int64_t> classSize(classes.getNumClasses(), ShapedType::kDynamic);
    for (auto [node, size] : llvm::enumerate(sizes))
      if (!ShapedType::isDynamic(size))
        classSize[classes[node]] = size;
    SmallVector<int> loopOf(classes.getNumClasses(), -1);
    // The value with most dimensions gives the order; results before arguments.
    Value lead;
    auto consider = [&](Value value) {
      if (plan_.dims.count(value) && (!lead || plan_.dims[value].size() > plan_.dims[lead].size()))
        lead = value;
    };
    llvm::for_each(body.getTerminator()->getOperands(), consider);
    llvm::for_each(body.getArguments(), consider);
    auto addLoops = [&](Value value) {
      for (int node : plan_.dims[value]) {
        unsigned c = classes[node];
        if (classSize[c] != 1 && loopOf[c] < 0) {
          loopOf[c] = plan_.loops.size();
          plan_.loops.push_back({classSize[c]});
        }
      }
    };
    if (lead)
      addLoops(lead);
    for (BlockArgument argument : body.getArguments())
      if (plan_.dims.count(argument))
        addLoops(argument);
    SmallVector<bool> known(plan_.loops.size());
    for (BlockArgument argument : body.getArguments())
      if (auto found = plan_.dims.find(argument); found != plan_.dims.end())
        for (auto [dim, node] : llvm::enumerate(found->second))
          if (int loop = loopOf[classes[node]]; loop >= 0 && !known[loop]) {
            known[loop] = true;
            plan_.loops[loop].argument = argument.getArgNumber();
            plan_.loops[loop].dimension = dim;
          }
    auto rename = [&](SmallVector<int> &nodes) {
      for (int &node : nodes) {
        if (classSize[classes[node]] != 1 && loopOf[classes[node]] < 0)
          return refuse("the size of a loop is that of no operand");
        node = loopOf[classes[node]];
      }
      return success();
    };
    for (auto &[value, nodes] : plan_.dims) {
      if (failed(rename(nodes)))
        return failure();
      SmallVector<int> real = nodes;
      llvm::erase(real, -1);
      llvm::sort(real);
      if (std::unique(real.begin(), real.end()) != real.end())
        return refuse("two dimensions of a tensor are one loop");
    }
    for (auto &[op, nodes] : plan_.opLoops)
      if (failed(rename(nodes)))
        return failure();
    return success();
  }

  Block &body;
  LoopPlan &plan_;
  std::string &reason;
  const unsigned inputs;
  SmallVector<int64_t> sizes; ///< of nodes
  SmallVector<std::pair<int, int>> joins;
};

} // namespace

FailureOr<LoopPlan> mlir::mp::planLoops(Block &body, std::string &reason) {
  LoopPlan plan;
  if (failed(Joiner(body, plan, reason).run()))
    return failure();
  return plan;
}
