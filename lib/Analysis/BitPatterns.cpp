// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows integers backwards, from where their bits are read as floats to the constants they are.

#include "mp/Analysis/BitPatterns.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mp;
using Kind = FloatMeaning::Kind;

/// True for integers, or tensors of them, that may hold a float or a half of one: no truth values,
/// no indices.
static bool mayBeBits(Type type) {
  auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  return integer && integer.getWidth() >= 8;
}

SmallVector<Value> mlir::mp::getBitSources(Operation *op) {
  SmallVector<Value> sources;
  if (op->getNumResults() != 1 || op->getNumRegions() > 0 ||
      !getFloatFormat(op->getResult(0).getType()))
    return sources;
  for (Value operand : op->getOperands())
    if (mayBeBits(operand.getType()))
      sources.push_back(operand);
  if (!sources.empty() && (getFloatMeaning(op).kind != Kind::Unknown || isa<CallOpInterface>(op)))
    sources.clear();
  return sources;
}

/// Returns the elements of an integer constant, read as floats; null where they are no whole number
/// of floats.
static Attribute readAsFloats(Attribute constant, FloatType format) {
  if (auto number = dyn_cast<IntegerAttr>(constant)) {
    APInt bits = number.getValue();
    if (bits.getBitWidth() == format.getWidth())
      return FloatAttr::get(format, APFloat(format.getFloatSemantics(), bits));
    constant = DenseElementsAttr::get(
        cast<ShapedType>(RankedTensorType::get({1}, number.getType())), bits);
  }
  auto elements = dyn_cast<ElementsAttr>(constant);
  std::optional<ArrayRef<char>> raw = elements ? getRawElements(elements) : std::nullopt;
  size_t width = format.getWidth() / 8;
  if (!raw || format.getWidth() % 8 != 0 || raw->size() % width != 0)
    return {};
  // Raw data hold the element of a splat once.
  auto count = static_cast<int64_t>(raw->size() / width);
  return DenseElementsAttr::getFromRawBuffer(RankedTensorType::get({count}, format), *raw);
}

namespace {
/// A walk backwards over integers of 8 bits and more.
class BitWalk {
public:
  BitWalk(ArrayRef<Value> sources, FloatType format, llvm::function_ref<bool(Attribute)> isSought,
          llvm::function_ref<ArrayRef<CallOpInterface>(FunctionOpInterface)> getCalls)
      : format(format), isSought(isSought), getCalls(getCalls) {
    for (Value source : sources)
      add(source);
  }

  BitOrigins run();

private:
  void add(Value value);
  void addYielded(Region &region, unsigned result);
  bool isSoughtAsFloat(Attribute constant) const;
  void visit(OpResult value);
  void visit(BlockArgument argument);

  FloatType format;
  llvm::function_ref<bool(Attribute)> isSought;
  llvm::function_ref<ArrayRef<CallOpInterface>(FunctionOpInterface)> getCalls;
  llvm::SetVector<Value> values;
  BitOrigins origins;
  Operation *computed = nullptr; ///< an op that makes other integers
  bool isConstant = true;        ///< all that was met so far comes from constants
};
} // namespace

void BitWalk::add(Value value) {
  if (mayBeBits(value.getType()))
    values.insert(value);
  else if (getFloatFormat(value.getType()))
    origins.floats.push_back(value);
}

/// Adds what a region gives its op; of a loop, that is also what its arguments are.
void BitWalk::addYielded(Region &region, unsigned result) {
  for (Block &block : region)
    if (block.mightHaveTerminator())
      for (auto [index, operand] : llvm::enumerate(block.getTerminator()->getOperands()))
        if (index == result || result == ~0u)
          add(operand);
}

bool BitWalk::isSoughtAsFloat(Attribute constant) const {
  auto elements = dyn_cast<ElementsAttr>(constant);
  Type own = elements ? elements.getElementType() : cast<TypedAttr>(constant).getType();
  SmallVector<FloatType, 2> formats = {format};
  MLIRContext *context = constant.getContext();
  if (own.isInteger(16))
    formats.push_back(BFloat16Type::get(context));
  else if (own.isInteger(32))
    formats.push_back(Float32Type::get(context));
  else if (own.isInteger(64))
    formats.push_back(Float64Type::get(context));
  return llvm::any_of(formats, [&](FloatType read) {
    Attribute floats = readAsFloats(constant, read);
    return floats && isSought(floats);
  });
}

void BitWalk::visit(BlockArgument argument) {
  Block *block = argument.getOwner();
  Operation *parent = block->getParentOp();
  if (auto structured = dyn_cast<linalg::LinalgOp>(parent))
    return add(structured.getMatchingOpOperand(argument)->get());
  if (auto function = dyn_cast<FunctionOpInterface>(parent); function && block->isEntryBlock()) {
    ArrayRef<CallOpInterface> calls = getCalls ? getCalls(function) : ArrayRef<CallOpInterface>();
    isConstant &= !calls.empty() && !function.isPublic();
    for (CallOpInterface call : calls)
      add(call->getOperand(argument.getArgNumber()));
    return;
  }
  if (block->isEntryBlock()) {
    llvm::for_each(parent->getOperands(), [&](Value operand) { add(operand); });
    for (Region &region : parent->getRegions())
      addYielded(region, ~0u);
    return;
  }
  for (auto predecessor = block->pred_begin(); predecessor != block->pred_end(); ++predecessor) {
    auto branch = dyn_cast<BranchOpInterface>((*predecessor)->getTerminator());
    Value fed =
        branch
            ? branch.getSuccessorOperands(predecessor.getSuccessorIndex())[argument.getArgNumber()]
            : Value();
    isConstant &= fed != nullptr;
    if (fed)
      add(fed);
  }
}

void BitWalk::visit(OpResult value) {
  Operation *op = value.getOwner();
  Attribute constant;
  if (op->getNumOperands() == 0 && matchPattern(op, m_Constant(&constant))) {
    if (isSoughtAsFloat(constant))
      origins.constant = op;
    return;
  }
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return addYielded(structured->getRegion(0), value.getResultNumber());
  if (auto call = dyn_cast<CallOpInterface>(op)) {
    auto callee = getCalls ? dyn_cast_or_null<FunctionOpInterface>(call.resolveCallable())
                           : FunctionOpInterface();
    isConstant &= callee && !callee.isExternal();
    if (callee && !callee.isExternal())
      addYielded(callee.getFunctionBody(), value.getResultNumber());
    return;
  }
  isConstant &= op->getNumOperands() > 0 || op->getNumRegions() > 0 || isRemakeable(op);
  Kind kind = getFloatMeaning(op).kind;
  if (kind != Kind::Move && kind != Kind::Select && kind != Kind::Merge && !isRemakeable(op) &&
      op->getNumRegions() == 0)
    computed = op;
  llvm::for_each(op->getOperands(), [&](Value operand) { add(operand); });
  for (Region &region : op->getRegions())
    addYielded(region, ~0u);
}

BitOrigins BitWalk::run() {
  for (size_t next = 0; next != values.size() && !origins.constant; ++next)
    if (auto argument = dyn_cast<BlockArgument>(values[next]))
      visit(argument);
    else
      visit(cast<OpResult>(values[next]));
  if (!origins.constant && computed && isConstant && origins.floats.empty())
    origins.constant = computed;
  return std::move(origins);
}

BitOrigins mlir::mp::findBitOrigins(
    ArrayRef<Value> sources, FloatType format, llvm::function_ref<bool(Attribute)> isSought,
    llvm::function_ref<ArrayRef<CallOpInterface>(FunctionOpInterface)> getCalls) {
  return BitWalk(sources, format, isSought, getCalls).run();
}
