// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads off some ops of a block the dispatch around them, and writes it.

#include "DispatchBody.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "mp/Kernels/Passes.h"

using namespace mlir;
using namespace mlir::mp;

static bool addsUnitsOnly(ArrayRef<ReassociationIndices> groups, ArrayRef<int64_t> wide) {
  return llvm::all_of(groups, [&](const ReassociationIndices &group) {
    return llvm::count_if(group, [&](int64_t dim) { return wide[dim] != 1; }) <= 1;
  });
}

bool mlir::mp::isUnitReshape(Operation *op) {
  if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(op))
    return addsUnitsOnly(expand.getReassociationIndices(), expand.getResultType().getShape());
  auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(op);
  return collapse &&
         addsUnitsOnly(collapse.getReassociationIndices(), collapse.getSrcType().getShape());
}

Value mlir::mp::skipUnitReshapes(Value value) {
  while (isUnitReshape(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

bool mlir::mp::isFill(Operation *op) {
  auto fill = dyn_cast_or_null<linalg::LinalgOp>(op);
  if (!fill || !fill.hasPureTensorSemantics() || op->getNumResults() != 1)
    return false;
  auto written = fill.getBlock()->getTerminator()->getOperand(0);
  if (isa<linalg::FillOp>(op))
    written = op->getOperand(0);
  else if (fill.getNumDpsInputs() != 0)
    return false;
  return matchPattern(written, m_Constant()) &&
         !fill.payloadUsesValueFromOperand(fill.getDpsInitOperand(0));
}

static bool isUniformConstant(Operation *op) {
  Attribute value;
  if (!matchPattern(op, m_Constant(&value)))
    return false;
  auto elements = dyn_cast<ElementsAttr>(value);
  return !elements || elements.isSplat();
}

namespace {

class BodyReader {
public:
  BodyReader(ArrayRef<linalg::LinalgOp> list, ArrayRef<Operation *> again) : list(list) {
    for (linalg::LinalgOp op : list)
      members.insert(op);
    repeated.insert(again.begin(), again.end());
    if (llvm::none_of(list, [](linalg::LinalgOp op) { return op->hasAttr(kMmaAttrName); }))
      findShared();
  }

  FailureOr<DispatchBody> read() {
    for (linalg::LinalgOp op : list)
      for (OpResult result : op->getResults())
        if (escapes(result) && failed(addOutput(op, result)))
          return failure();
    for (linalg::LinalgOp op : list)
      addOp(op);
    return std::move(body);
  }

private:
  /// Finds what members read in more than one shape. Operands of products stay arguments.
  void findShared() {
    DenseMap<Value, Value> read;
    for (linalg::LinalgOp op : list)
      for (Value input : op.getDpsInputs()) {
        Value base = skipUnitReshapes(input);
        if (read.try_emplace(base, input).first->second != input)
          shared.insert(base);
      }
  }

  /// True if something outside needs the value.
  bool escapes(Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      Operation *owner = list.front()->getBlock()->findAncestorOpInBlock(*user);
      if (owner && members.contains(owner))
        return false;
      return !isUnitReshape(user) || escapes(user->getResult(0));
    });
  }

  LogicalResult addOutput(linalg::LinalgOp op, OpResult result) {
    DispatchOutput output{result, {}, {}, nullptr};
    Value init = op.getDpsInits()[result.getResultNumber()];
    if (isFill(init.getDefiningOp())) {
      output.fill = init.getDefiningOp();
      init = cast<linalg::LinalgOp>(output.fill).getDpsInits()[0];
    }
    output.empty = init.getDefiningOp<tensor::EmptyOp>();
    bool isInner = !output.empty && isRepeatedOrMember(init.getDefiningOp());
    if (isInner) {
      output.fill = nullptr;
      if (!cast<RankedTensorType>(result.getType()).hasStaticShape())
        return failure();
    } else {
      handedIn.insert(op.getDpsInitOperand(result.getResultNumber()));
      if (!output.empty)
        output.destination = init;
    }
    if (output.fill)
      fills[op].push_back(output.fill);
    body.outputs.push_back(output);
    return success();
  }

  bool isRepeatedOrMember(Operation *op) {
    return op && (members.contains(op) || repeated.contains(op) || isa<tensor::EmptyOp>(op) ||
                  isFill(op) || isUniformConstant(op) ||
                  (isUnitReshape(op) && isSharedOrMember(skipUnitReshapes(op->getResult(0)))));
  }

  bool isSharedOrMember(Value base) {
    return shared.contains(base) || isRepeatedOrMember(base.getDefiningOp());
  }

  void addOp(Operation *op) {
    if (!seen.insert(op).second)
      return;
    for (OpOperand &operand : op->getOpOperands())
      if (!handedIn.contains(&operand))
        addValue(operand.get());
    addCaptured(op);
    for (Operation *fill : fills.lookup(op)) {
      for (Value input : cast<linalg::LinalgOp>(fill).getDpsInputs())
        addValue(input);
      addCaptured(fill);
    }
    body.ops.push_back(op);
  }

  void addCaptured(Operation *op) {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    llvm::for_each(captured, [&](Value value) { addValue(value); });
  }

  void addValue(Value value) {
    Operation *op = value.getDefiningOp();
    if (!isRepeatedOrMember(op))
      body.inputs.insert(value);
    else if (!members.contains(op))
      addOp(op);
  }

  ArrayRef<linalg::LinalgOp> list;
  llvm::DenseSet<Operation *> members, repeated, seen;
  llvm::DenseSet<Value> shared;         ///< of which the body has views of its own
  llvm::DenseSet<OpOperand *> handedIn; ///< destinations that become outputs
  DenseMap<Operation *, SmallVector<Operation *, 1>> fills; ///< of such, by the member that writes
  DispatchBody body;
};

} // namespace

FailureOr<DispatchBody> mlir::mp::readBody(ArrayRef<linalg::LinalgOp> members,
                                           ArrayRef<Operation *> repeated) {
  return BodyReader(members, repeated).read();
}

void mlir::mp::writeBody(const DispatchBody &body, Block &block) {
  IRMapping mapping;
  for (Value input : body.inputs)
    mapping.map(input, block.addArgument(input.getType(), input.getLoc()));
  DenseMap<OpResult, std::pair<const DispatchOutput *, Value>> outputs;
  for (const DispatchOutput &output : body.outputs)
    outputs[output.result] = {&output,
                              block.addArgument(output.result.getType(), output.result.getLoc())};
  OpBuilder b(body.ops.front()->getContext()); // the block may be in no region
  b.setInsertionPointToEnd(&block);
  for (Operation *op : body.ops) {
    // The destination of an output is its argument, in which what fills it does so first.
    SmallVector<std::pair<unsigned, Value>> destinations;
    for (OpResult result : op->getResults()) {
      auto [output, argument] = outputs.lookup(result);
      if (!output || (!output->empty && !output->destination))
        continue;
      Value init = argument;
      if (output->fill) {
        // Arguments that a clone before has mapped would be missing in this one.
        IRMapping filling = mapping;
        for (BlockArgument inner : output->fill->getRegion(0).getArguments())
          filling.erase(inner);
        Operation *fill = b.clone(*output->fill, filling);
        cast<linalg::LinalgOp>(fill).getDpsInitsMutable()[0].set(argument);
        init = fill->getResult(0);
      }
      destinations.push_back({result.getResultNumber(), init});
    }
    auto copy = b.clone(*op, mapping);
    for (auto [index, init] : destinations)
      cast<linalg::LinalgOp>(copy).getDpsInitsMutable()[index].set(init);
  }
  SmallVector<Value> yields;
  for (const DispatchOutput &output : body.outputs)
    yields.push_back(mapping.lookup(output.result));
  mpk::YieldOp::create(b, body.ops.back()->getLoc(), yields);
}

mpk::DispatchOp mlir::mp::makeDispatch(OpBuilder &builder, Location loc, const DispatchBody &body) {
  SmallVector<Value> destinations;
  SmallVector<Type> types;
  for (const DispatchOutput &output : body.outputs) {
    types.push_back(output.result.getType());
    Value destination = output.destination;
    if (output.empty)
      destination = builder.clone(*output.empty)->getResult(0);
    else if (!destination)
      destination =
          tensor::EmptyOp::create(builder, loc, cast<RankedTensorType>(types.back()).getShape(),
                                  cast<RankedTensorType>(types.back()).getElementType());
    destinations.push_back(destination);
  }
  auto dispatch = mpk::DispatchOp::create(builder, loc, types, body.inputs.getArrayRef(),
                                          destinations, mpk::ScheduleAttr());
  writeBody(body, dispatch.getBody().emplaceBlock());
  return dispatch;
}
