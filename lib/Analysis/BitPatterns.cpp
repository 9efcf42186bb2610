// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows integers backwards, from where their bits are read as floats to the constants they are,
// and complex numbers from where their parts are read.

#include "mp/Analysis/BitPatterns.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "mp/Analysis/DataMovement.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mp;
using Kind = FloatMeaning::Kind;

/// True for integers, or tensors of them, that may hold a float or a half of one: no truth values,
/// no indices. Complex numbers hold two.
static bool mayBeBits(Type type) {
  Type element = getElementTypeOrSelf(type);
  auto integer = dyn_cast<IntegerType>(element);
  return isa<ComplexType>(element) || (integer && integer.getWidth() >= 8);
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
  BitWalk(FloatType format, llvm::function_ref<bool(Attribute)> isSought,
          llvm::function_ref<ArrayRef<CallOpInterface>(FunctionOpInterface)> getCalls)
      : format(format), isSought(isSought), getCalls(getCalls) {}

  BitOrigins run(ArrayRef<Value> sources);

private:
  void read(Value source);
  void readYielded(Region &region, std::optional<unsigned> result = {});
  bool isSoughtAsFloat(Attribute constant) const;
  void visit(OpResult value);
  void visit(BlockArgument argument);
  Operation *findComputed();

  FloatType format;
  llvm::function_ref<bool(Attribute)> isSought;
  llvm::function_ref<ArrayRef<CallOpInterface>(FunctionOpInterface)> getCalls;
  llvm::SetVector<Value> values;
  BitOrigins origins;
  Value current;                                  ///< that is visited
  DenseMap<Value, SmallVector<Value, 2>> readers; ///< what is made of a value
  SmallVector<Value> computed;                    ///< not only chosen or moved
  llvm::SetVector<Value> open;                    ///< made of more than constants
};
} // namespace

void BitWalk::read(Value source) {
  if (mayBeBits(source.getType())) {
    values.insert(source);
    readers[source].push_back(current);
  } else if (getFloatFormat(source.getType())) {
    origins.floats.push_back(source);
    open.insert(current);
  }
}

/// Reads what a region gives its op as `result`; of a loop, any of that may be any of its
/// arguments.
void BitWalk::readYielded(Region &region, std::optional<unsigned> result) {
  for (Block &block : region)
    if (block.mightHaveTerminator())
      for (auto [index, operand] : llvm::enumerate(block.getTerminator()->getOperands()))
        if (index == result.value_or(index))
          read(operand);
}

bool BitWalk::isSoughtAsFloat(Attribute constant) const {
  if (auto parts = dyn_cast<ArrayAttr>(constant)) // of a complex number
    return llvm::any_of(parts, isSought);
  auto elements = dyn_cast<ElementsAttr>(constant);
  Type own = elements ? elements.getElementType() : cast<TypedAttr>(constant).getType();
  SmallVector<FloatType, 2> formats = {format};
  MLIRContext *context = constant.getContext();
  if (auto complex = dyn_cast<ComplexType>(own)) {
    if (auto part = dyn_cast<FloatType>(complex.getElementType()))
      formats.push_back(part);
  } else if (own.isInteger(16))
    formats.push_back(BFloat16Type::get(context));
  else if (own.isInteger(32))
    formats.push_back(Float32Type::get(context));
  else if (own.isInteger(64))
    formats.push_back(Float64Type::get(context));
  return llvm::any_of(formats, [&](FloatType as) {
    Attribute floats = readAsFloats(constant, as);
    return floats && isSought(floats);
  });
}

void BitWalk::visit(BlockArgument argument) {
  Block *block = argument.getOwner();
  Operation *parent = block->getParentOp();
  if (auto structured = dyn_cast<linalg::LinalgOp>(parent))
    return read(structured.getMatchingOpOperand(argument)->get());
  if (auto function = dyn_cast<FunctionOpInterface>(parent); function && block->isEntryBlock()) {
    ArrayRef<CallOpInterface> calls = getCalls ? getCalls(function) : ArrayRef<CallOpInterface>();
    if (calls.empty() || function.isPublic())
      open.insert(argument);
    for (CallOpInterface call : calls)
      read(call->getOperand(argument.getArgNumber()));
    return;
  }
  if (block->isEntryBlock()) {
    llvm::for_each(parent->getOperands(), [&](Value operand) { read(operand); });
    for (Region &region : parent->getRegions())
      readYielded(region);
    return;
  }
  forEachBranch(argument, [&](Block *, Value given) {
    if (given)
      read(given);
    else
      open.insert(argument);
  });
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
    return readYielded(structured->getRegion(0), value.getResultNumber());
  if (auto call = dyn_cast<CallOpInterface>(op)) {
    auto callee = getCalls ? dyn_cast_or_null<FunctionOpInterface>(call.resolveCallable())
                           : FunctionOpInterface();
    if (callee && !callee.isExternal())
      readYielded(callee.getFunctionBody(), value.getResultNumber());
    else
      open.insert(value);
    return;
  }
  bool isMade = isRemakeable(op);
  if (op->getNumOperands() == 0 && op->getNumRegions() == 0 && !isMade)
    open.insert(value);
  Kind kind = getFloatMeaning(op).kind;
  if (kind != Kind::Move && kind != Kind::Select && kind != Kind::Merge && !isMade &&
      op->getNumRegions() == 0) {
    computed.push_back(value);
    // An index that is no constant tells elements apart.
    if (llvm::any_of(op->getOperands(), [](Value operand) {
          return getElementTypeOrSelf(operand).isIndex() && !matchPattern(operand, m_Constant());
        }))
      open.insert(value);
  }
  llvm::for_each(op->getOperands(), [&](Value operand) { read(operand); });
  for (Region &region : op->getRegions())
    readYielded(region);
}

/// Returns an op that computes integers of constants alone.
Operation *BitWalk::findComputed() {
  for (size_t next = 0; next != open.size(); ++next)
    if (auto above = readers.find(open[next]); above != readers.end())
      open.insert_range(above->second);
  auto *found = llvm::find_if(computed, [&](Value value) { return !open.contains(value); });
  return found == computed.end() ? nullptr : found->getDefiningOp();
}

BitOrigins BitWalk::run(ArrayRef<Value> sources) {
  values.insert_range(sources);
  for (size_t next = 0; next != values.size() && !origins.constant; ++next) {
    current = values[next];
    if (auto argument = dyn_cast<BlockArgument>(current))
      visit(argument);
    else
      visit(cast<OpResult>(current));
  }
  if (!origins.constant)
    origins.constant = findComputed();
  return std::move(origins);
}

BitOrigins mlir::mp::findBitOrigins(
    ArrayRef<Value> sources, FloatType format, llvm::function_ref<bool(Attribute)> isSought,
    llvm::function_ref<ArrayRef<CallOpInterface>(FunctionOpInterface)> getCalls) {
  return BitWalk(format, isSought, getCalls).run(sources);
}
