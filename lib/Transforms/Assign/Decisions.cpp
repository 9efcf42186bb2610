// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Creates the decisions of a function, and applies them as `mp.precision`.

#include "Decisions.h"
#include "mlir/IR/TensorEncoding.h"
#include "mp/Interfaces/Contraction.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::mp;

/// The format an op computes in as it stands: that of its first float result, else operand.
static FloatType getOwnFormat(Operation *op) {
  for (Type type : llvm::concat<const Type>(op->getResultTypes(), op->getOperandTypes()))
    if (FloatType format = getFloatFormat(type))
      return format;
  return {};
}

FloatType mlir::mp::getAssignableFormat(StringRef name, MLIRContext *context) {
  return llvm::StringSwitch<FloatType>(name)
      .Case("bf16", BFloat16Type::get(context))
      .Case("f16", Float16Type::get(context))
      .Case("tf32", FloatTF32Type::get(context))
      .Default({});
}

std::string mlir::mp::getFormatName(FloatType format) {
  // Printing looks through every dialect for aliases.
  if (format.isF32())
    return "f32";
  if (format.isBF16())
    return "bf16";
  if (format.isF16())
    return "f16";
  std::string name;
  llvm::raw_string_ostream(name) << format;
  return name;
}

std::string ComputeChoice::getName() const {
  return scaled  ? scaled->name.str()
         : split ? numerics::toString(*split).str()
                 : getFormatName(format);
}

/// A tensor of unknown rank, or one whose encoding allows no other elements: a sparse one may state
/// their values.
static bool isOpaque(Type type) {
  auto ranked = dyn_cast<RankedTensorType>(type);
  auto encoding = ranked ? dyn_cast_if_present<VerifiableTensorEncoding>(ranked.getEncoding())
                         : VerifiableTensorEncoding();
  if (!encoding)
    return isa<UnrankedTensorType>(type);
  ScopedDiagnosticHandler quiet(type.getContext(), [](Diagnostic &) { return success(); });
  auto refuse = [&] { return emitError(UnknownLoc::get(type.getContext())); };
  return failed(
      encoding.verifyEncoding(ranked.getShape(), Float16Type::get(type.getContext()), refuse));
}

bool mlir::mp::isNarrowable(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getElementType().isF32() && !isOpaque(type);
}

/// Has a tensor for an operand or result whose type is not ours to change.
static bool touchesOpaque(Operation *op) {
  return llvm::any_of(llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()),
                      isOpaque);
}

FunctionDecisions::FunctionDecisions(FunctionOpInterface function, const CarriedStorage &carried,
                                     ModuleRanges &ranges)
    : function(function), carried(carried), ranges(ranges) {
  collect(function.getFunctionBody());
}

void FunctionDecisions::collect(Region &region) {
  for (Block &block : region)
    for (Operation &op : block) {
      auto interface = dyn_cast<PrecisionOpInterface>(op);
      TypeRule rule = interface ? interface.getTypeRule() : TypeRule::Frozen;
      if (rule == TypeRule::Container)
        for (Region &inner : op.getRegions())
          collect(inner);
      FloatType own = getOwnFormat(&op);
      if (!own || op.hasTrait<OpTrait::IsTerminator>())
        continue;
      bool isOpaque = touchesOpaque(&op);
      ops[&op] = {.interface = interface,
                  .opClass = interface ? interface.getOpClass() : OpClass::Barrier,
                  .rule = rule,
                  .compute = own,
                  .reason = "",
                  .keepsStorage = isOpaque,
                  .touchesOpaque = isOpaque};
    }
}

bool FunctionDecisions::canContractIn(Operation *op, FloatType format) {
  Decision *decision = find(op);
  return decision && canContractIn(op, *decision, format);
}

bool FunctionDecisions::canContractIn(Operation *op, const Decision &decision, FloatType format) {
  if (decision.opClass != OpClass::TensorCore || decision.rule == TypeRule::Frozen ||
      decision.touchesOpaque)
    return false;
  if (decision.askedFormat == format)
    return decision.canContract;
  decision.askedFormat = format;
  decision.canContract = false;
  PrecisionOpInterface interface = decision.interface;
  bool anyWide = false;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    if (interface.getOperandRole(index) != OperandRole::Factor)
      continue;
    FloatType found = getFloatFormat(operand.getType());
    if (found != format && !found.isF32())
      return false;
    anyWide |= found.isF32();
  }
  FloatType result =
      op->getNumResults() == 1 ? getFloatFormat(op->getResult(0).getType()) : FloatType();
  return decision.canContract = anyWide && result && result.isF32();
}

bool FunctionDecisions::canScale(Operation *op) {
  return viewContraction(op) && canContractIn(op, Float32Type::get(op->getContext()));
}

bool FunctionDecisions::isNarrowContraction(Operation *op) {
  Decision *decision = find(op);
  return decision && isNarrowContraction(op, *decision);
}

bool FunctionDecisions::mayStoreNarrow(Value value) const {
  const TiedValues *tied = carried.ties.find(value);
  return isa<OpResult>(value) && !(tied && tied->frozen.empty()) && isNarrowable(value.getType());
}

FloatType FunctionDecisions::getStorage(Value value) const {
  if (FloatType chosen = storages.lookup(value))
    return chosen;
  if (FloatType chosen = carried.lookup(carried.ties.find(value)))
    return chosen;
  return getFloatFormat(value.getType());
}

FloatType FunctionDecisions::getTakenFormat(OpOperand &operand) const {
  const TiedValues *tied = carried.ties.findFed(operand);
  if (!tied)
    return {};
  FloatType chosen = carried.lookup(tied);
  return chosen ? chosen : tied->format;
}

SmallVector<OpOperand *> FunctionDecisions::getReturned(unsigned index) const {
  SmallVector<OpOperand *> operands;
  for (Block &block : getFunction().getFunctionBody())
    if (!block.empty() && block.back().hasTrait<OpTrait::ReturnLike>() &&
        index < block.back().getNumOperands())
      operands.push_back(&block.back().getOpOperand(index));
  return operands;
}

/// Results alone do not say what an op carries that it only passes on inside.
static bool outSaysAll(Operation *op, const TiedStorage &ties) {
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    const TiedValues *tied = ties.findFed(operand);
    return !tied || llvm::any_of(tied->values, [&](Value v) { return v.getDefiningOp() == op; });
  });
}

void mlir::mp::writeDecisions(FunctionDecisions &decisions) {
  MLIRContext *context = decisions.getFunction()->getContext();
  Type none = NoneType::get(context);
  auto precisionName = StringAttr::get(context, kPrecisionAttrName);
  FunctionOpInterface function = decisions.getFunction();
  for (BlockArgument argument : function.getArguments())
    if (FloatType storage = decisions.getStorage(argument);
        storage != getFloatFormat(argument.getType()))
      function.setArgAttr(argument.getArgNumber(), kStorageAttrName, TypeAttr::get(storage));
  for (unsigned index = 0, e = function.isPrivate() ? 0 : function.getNumResults(); index < e;
       ++index)
    for (OpOperand *operand : ArrayRef(decisions.getReturned(index)).take_front(1))
      if (FloatType storage = decisions.getTakenFormat(*operand);
          storage && storage != getFloatFormat(operand->get().getType()))
        function.setResultAttr(index, kStorageAttrName, TypeAttr::get(storage));
  for (auto &[op, decision] : decisions.getOps()) {
    bool accumulates =
        decision.opClass == OpClass::TensorCore || decision.opClass == OpClass::Accumulate;
    PrecisionOpInterface interface = accumulates ? decision.interface : PrecisionOpInterface();
    bool narrowContraction = decisions.isNarrowContraction(op, decision);
    SmallVector<Type> in, out;
    for (auto [index, operand] : llvm::enumerate(op->getOpOperands())) {
      FloatType taken = decisions.getTakenFormat(operand);
      FloatType storage = taken ? taken : decisions.getStorage(operand.get());
      if (storage && narrowContraction && !decision.compute.isTF32()) {
        OperandRole role = interface.getOperandRole(index);
        if (role == OperandRole::Factor || role == OperandRole::Data ||
            decision.rule == TypeRule::Uniform)
          storage = decision.compute;
      }
      in.push_back(storage ? Type(storage) : none);
    }
    for (Value result : op->getResults()) {
      FloatType storage = decisions.getStorage(result);
      out.push_back(storage ? Type(storage) : none);
    }
    if (decision.rule == TypeRule::Container && outSaysAll(op, decisions.getCarried().ties))
      in.clear();
    FloatType accumulator = decision.accumulator;
    if (!accumulator && interface)
      accumulator = interface.getAccumulator();
    FloatType compute = decision.rule == TypeRule::Container ? FloatType() : decision.compute;
    op->setDiscardableAttr(
        precisionName, PrecisionAttr::get(context, in, compute, accumulator, out, *decision.origin,
                                          decision.reason,
                                          narrowContraction ? decision.evidence : Evidence::None));
    if (decision.split)
      op->setAttr(kSplitAttrName, StringAttr::get(context, numerics::toString(*decision.split)));
    if (decision.scaled)
      op->setAttr(kScaledAttrName,
                  decision.scaled->name == kScaledName
                      ? Attribute(DenseF64ArrayAttr::get(context, *decision.magnitudes))
                      : StringAttr::get(context, decision.scaled->name));
  }
}
