// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Appends values inside a function to its results, so that a run returns them.

#include "mp/Execution/Compare/Trace.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mp/Dialect/MP/Formats.h"
#include "mp/Dialect/MP/SplitOps.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"

#include <set>

using namespace mlir;
using namespace mlir::mp;

/// Moves, fills or converts values, or reads none.
static bool onlyMoves(Operation *op) {
  FloatMeaning::Kind kind = getFloatMeaning(op).kind;
  return getMovement(op) != Movement::None || isRemakeable(op) ||
         kind == FloatMeaning::Kind::Cast || kind == FloatMeaning::Kind::SplitResidual ||
         kind == FloatMeaning::Kind::Merge ||
         isa_and_nonnull<tensor::TensorDialect, bufferization::BufferizationDialect>(
             op->getDialect());
}

/// The format among `value`'s own and those it is cast to, moved about at most, that reaches least
/// far down.
static void findStored(Value value, std::optional<numerics::Format> &least) {
  std::optional<numerics::Format> own = getNumericsFormat(value.getType());
  if (own && (!least || numerics::info(*own).minSubnormal > numerics::info(*least).minSubnormal))
    least = own;
  for (Operation *user : value.getUsers())
    if (onlyMoves(user) && user->getNumResults() == 1 &&
        getFloatFormat(user->getResult(0).getType()))
      findStored(user->getResult(0), least);
}

std::vector<std::string> mlir::mp::narrowedFormats(ModuleOp module) {
  std::set<std::string> formats;
  module->walk([&](Operation *op) {
    FloatType format;
    if (auto round = dyn_cast<RoundOp>(op))
      format = cast<FloatType>(round.getFormat());
    else if (isa<CastOp, arith::TruncFOp>(op) &&
             getFloatFormat(op->getResult(0).getType()).getWidth() <
                 getFloatFormat(op->getOperand(0).getType()).getWidth())
      format = getFloatFormat(op->getResult(0).getType());
    if (auto known = format ? getNumericsFormat(format) : std::nullopt)
      formats.insert(numerics::info(*known).name.str());
  });
  return {formats.begin(), formats.end()};
}

/// Returns the name of the op, for split products that of the contraction which they stand for.
static StringRef nameOfOp(Operation *op) {
  auto joined = dyn_cast<JoinSplitOp>(op);
  SmallVector<Operation *> products = joined ? getProducts(joined) : SmallVector<Operation *>();
  return (products.empty() ? op : products.back())->getName().getStringRef();
}

std::vector<TracedValue> mlir::mp::tracedValues(func::FuncOp function) {
  std::vector<TracedValue> traced;
  DenseSet<Operation *> parts = findSplitProducts(function);
  for (Operation &op : function.getBody().front()) {
    if (onlyMoves(&op) || parts.contains(&op))
      continue;
    for (OpResult result : op.getResults()) {
      if (!isa<RankedTensorType>(result.getType()) || !getFloatFormat(result.getType()))
        continue;
      std::string label = std::to_string(traced.size()) + " " + nameOfOp(&op).str();
      if (auto name = dyn_cast<NameLoc>(op.getLoc()))
        label += " " + name.getName().str();
      traced.push_back({result, label, {}});
      findStored(result, traced.back().storedAs);
    }
  }
  return traced;
}

static bool correspond(const TracedValue &x, const TracedValue &y) {
  auto xType = cast<RankedTensorType>(x.value.getType());
  auto yType = cast<RankedTensorType>(y.value.getType());
  return nameOfOp(x.value.getDefiningOp()) == nameOfOp(y.value.getDefiningOp()) &&
         xType.getShape() == yType.getShape();
}

std::vector<std::pair<size_t, size_t>> mlir::mp::matchTraces(ArrayRef<TracedValue> result,
                                                             ArrayRef<TracedValue> reference) {
  constexpr size_t lookAhead = 64;
  std::vector<std::pair<size_t, size_t>> pairs;
  size_t i = 0, j = 0;
  while (i < result.size() && j < reference.size()) {
    // The smallest number of values to skip on both sides together.
    bool found = false;
    for (size_t skip = 0; skip < lookAhead && !found; ++skip)
      for (size_t left = 0; left <= skip && !found; ++left) {
        size_t x = i + left, y = j + skip - left;
        found = x < result.size() && y < reference.size() && correspond(result[x], reference[y]);
        if (found) {
          pairs.push_back({x, y});
          i = x + 1;
          j = y + 1;
        }
      }
    if (!found)
      break;
  }
  return pairs;
}

llvm::Error mlir::mp::returnValues(func::FuncOp function, ArrayRef<Value> values) {
  auto module = function->getParentOfType<ModuleOp>();
  // An initialiser that names its step (mp.init_of) calls nothing.
  auto uses = SymbolTable::getSymbolUses(function, module);
  if (!uses || llvm::any_of(*uses, [](const SymbolTable::SymbolUse &use) {
        return !use.getUser()->hasAttr(kInitOfAttrName);
      }))
    return llvm::createStringError("--per-op: @" + function.getName() +
                                   " is called within the module; choose another --entry");
  if (!function.getBody().hasOneBlock())
    return llvm::createStringError("--per-op: @" + function.getName() +
                                   " has control flow between blocks");
  Operation *terminator = function.getBody().front().getTerminator();
  SmallVector<Type> types(function.getResultTypes());
  for (Value value : values) {
    terminator->insertOperands(terminator->getNumOperands(), value);
    types.push_back(value.getType());
  }
  function.setType(FunctionType::get(function.getContext(), function.getArgumentTypes(), types));
  if (ArrayAttr attributes = function.getAllResultAttrs()) {
    SmallVector<Attribute> extended(attributes.begin(), attributes.end());
    extended.resize(types.size(), DictionaryAttr::get(function.getContext()));
    function.setAllResultAttrs(extended);
  }
  return llvm::Error::success();
}
