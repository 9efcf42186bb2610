// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the state that scaling appends: its first values, its update and its uses.

#include "ErasureState.h"
#include "ErasureScaling.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mp/Analysis/Training/TrainingRoles.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mp;

static constexpr StringLiteral kScalingRoles[] = {"amax_history", "encode_scale", "decode_scale",
                                                  kRoleRandomSeed, kRoleRandomOffset};

static Operation *terminatorOf(FunctionOpInterface function) {
  return function.getFunctionBody().front().getTerminator();
}

/// Ops of scaling that may stand without a counterpart where nothing but such ops and the state
/// reads them.
static bool isKeeper(Operation *op) {
  return isa<UpdateAmaxHistoryOp, RandomBitsOp>(op) ||
         (isa<arith::AddIOp>(op) &&
          op->getResult(0).getType() ==
              RankedTensorType::get({}, IntegerType::get(op->getContext(), 64)));
}

static llvm::DenseSet<Operation *> findKeepers(FunctionOpInterface converted,
                                               unsigned firstResult) {
  llvm::DenseSet<Operation *> ops;
  for (Operation &op : llvm::reverse(converted.getFunctionBody().front())) {
    bool serves =
        isKeeper(&op) && llvm::all_of(op.getUses(), [&](OpOperand &use) {
          Operation *user = use.getOwner();
          return isInsertedScaling(user) || ops.contains(user) ||
                 (user == terminatorOf(converted) && use.getOperandNumber() >= firstResult);
        });
    if (serves)
      ops.insert(&op);
  }
  return ops;
}

FailureOr<AppendedScaling> mlir::mp::readAppendedScaling(FunctionOpInterface original,
                                                         FunctionOpInterface converted) {
  AppendedScaling appended;
  if (!original.getFunctionBody().hasOneBlock() || !converted.getFunctionBody().hasOneBlock())
    return appended;
  unsigned arguments = original.getNumArguments(),
           results = terminatorOf(original)->getNumOperands();
  if (converted.getNumArguments() < arguments ||
      terminatorOf(converted)->getNumOperands() < results)
    return appended; // named when signatures are compared
  appended.arguments = converted.getNumArguments() - arguments;
  appended.results = terminatorOf(converted)->getNumOperands() - results;
  for (unsigned i = arguments, e = converted.getNumArguments(); i != e; ++i) {
    auto role = converted.getArgAttrOfType<StringAttr>(i, kRoleAttrName);
    auto state = converted.getArgAttrOfType<IntegerAttr>(i, kStateAttrName);
    bool known = role && llvm::is_contained(kScalingRoles, role.getValue()) && state &&
                 state.getInt() >= results && state.getInt() < results + appended.results;
    if (!known)
      return converted.emitOpError()
             << "argument #" << i
             << " is none of the original, nor state of scaling that a result replaces";
  }
  // Each result belongs to an argument; those of the function of first values are constants.
  bool isInit = converted->hasAttr(kInitOfAttrName);
  for (unsigned i = results, e = results + appended.results; i != e; ++i) {
    Operation *def = terminatorOf(converted)->getOperand(i).getDefiningOp();
    bool fine = isInit ? def && def->hasTrait<OpTrait::ConstantLike>()
                       : appended.arguments == appended.results;
    if (!fine)
      return converted.emitOpError()
             << "result #" << i << " is none of the original, nor state of scaling";
  }
  appended.ops = findKeepers(converted, results);
  return appended;
}

bool mlir::mp::isInitOfScaling(FunctionOpInterface function) {
  return function->hasAttr(kInitOfAttrName) && function.getNumArguments() == 0 &&
         function.getFunctionBody().hasOneBlock() &&
         llvm::all_of(function.getFunctionBody().front().without_terminator(),
                      [](Operation &op) { return op.hasTrait<OpTrait::ConstantLike>(); });
}

bool mlir::mp::areReciprocalConstants(Value encode, Value decode) {
  DenseFPElementsAttr x, y;
  if (!matchPattern(encode, m_Constant(&x)) || !matchPattern(decode, m_Constant(&y)) ||
      !x.isSplat() || !y.isSplat())
    return false;
  double product =
      x.getSplatValue<APFloat>().convertToDouble() * y.getSplatValue<APFloat>().convertToDouble();
  return std::abs(product - 1) <= 0x1p-22;
}

/// Returns the value that replaces an argument of a function in the next step; null if nothing
/// does.
static Value nextState(BlockArgument argument) {
  auto function = dyn_cast_or_null<FunctionOpInterface>(argument.getOwner()->getParentOp());
  auto state = function
                   ? function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), kStateAttrName)
                   : IntegerAttr();
  Operation *terminator = argument.getOwner()->getTerminator();
  return state && state.getInt() >= 0 && state.getInt() < terminator->getNumOperands()
             ? terminator->getOperand(state.getInt())
             : Value();
}

/// Returns the first value of an appended argument: appended arguments are last, as their first
/// values are.
static Value firstState(BlockArgument argument) {
  auto function = cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  for (auto init : function->getParentOfType<ModuleOp>().getOps<func::FuncOp>()) {
    auto of = init->getAttrOfType<FlatSymbolRefAttr>(kInitOfAttrName);
    unsigned fromEnd = function.getNumArguments() - argument.getArgNumber();
    if (of && of.getValue() == function.getName() && fromEnd <= init.getNumResults())
      return terminatorOf(init)->getOperand(init.getNumResults() - fromEnd);
  }
  return {};
}

bool mlir::mp::areThreadedScales(Value encode, Value decode) {
  auto e = dyn_cast<BlockArgument>(encode), d = dyn_cast<BlockArgument>(decode);
  if (!e || !d || !nextState(e) || !nextState(d))
    return false;
  auto scales = nextState(e).getDefiningOp<ComputeScaleOp>();
  if (!scales || nextState(e) != scales.getEnc() || nextState(d) != scales.getScale())
    return false;
  Value first = firstState(e), partner = firstState(d);
  return first && partner && areReciprocalConstants(first, partner);
}
