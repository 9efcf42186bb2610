// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the function to call, and the types it takes and returns.

#include "IndexArguments.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Execution/Executable.h"
#include "mp/Kernels/Host/Passes.h"
#include "mp/Support/ErrorCode.h"
#include "mp/Support/Words.h"

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

static std::string typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

llvm::Expected<func::FuncOp> mlir::mp::findEntry(ModuleOp module, StringRef entry) {
  SmallVector<func::FuncOp> candidates;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && function.isPublic())
      candidates.push_back(function);
  // The initialiser of a train step is found when asked for, and else left out.
  llvm::erase_if(candidates, [&](func::FuncOp function) {
    return function->hasAttr(kInitOfAttrName) && function.getName() != entry;
  });
  std::string names;
  SmallVector<StringRef> known;
  for (func::FuncOp function : candidates) {
    StringRef name = function.getName();
    if (name == entry || (entry.empty() && name == "main"))
      return function;
    names += (names.empty() ? "@" : ", @") + name.str();
    known.push_back(name);
  }
  if (candidates.empty())
    return createStringError("the module has no public function with a body");
  if (entry.empty() && candidates.size() == 1)
    return candidates.front();
  if (entry.empty())
    return createStringError(
        "no @main and more than one public function: choose with --entry one of " + names);
  return createStringError("--entry=" + entry.str() + " is no public function of the module" +
                           support::listWords(entry, known, "functions"));
}

static std::string nameOfLocation(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (auto name = dyn_cast<NameLoc>(part))
        return name.getName().str();
  return "";
}

static llvm::Expected<Parameter> parameterOf(Type type, bool buffers, const Twine &what) {
  Parameter parameter;
  parameter.isTensor = isa<TensorType, BaseMemRefType>(type);
  auto ranked = dyn_cast<ShapedType>(type);
  auto buffer = dyn_cast<MemRefType>(type);
  if (isa<VectorType>(type) || (ranked && !ranked.hasRank()) ||
      (buffer && !(buffers && buffer.getLayout().isIdentity())))
    ranked = {};
  if (ranked)
    for (int64_t size : ranked.getShape())
      parameter.shape.push_back(ShapedType::isDynamic(size) ? -1 : size);
  auto element =
      isa<ShapedType>(type) && !ranked ? std::nullopt : ElementType::of(getElementTypeOrSelf(type));
  if (isa<FloatTF32Type>(getElementTypeOrSelf(type)))
    return createStringError(what + " is " + typeText(type) +
                             ", but nothing is stored as tf32: expected f32, rounded where it is "
                             "read (mp.round)");
  if (!element || (!ranked && !isa<FloatType, IntegerType, IndexType>(type)))
    return createStringError(what + " is " + typeText(type) +
                             (isa<BaseMemRefType>(type) || buffers
                                  ? ", expected a contiguous buffer"
                                  : ", expected a ranked tensor") +
                             " or scalar of floats or integers of at most "
                             "64 bits");
  parameter.type = *element;
  return parameter;
}

bool mlir::mp::isLoweredForDevices(ModuleOp module) {
  return module->hasAttr(gpu::GPUDialect::getContainerModuleAttrName());
}

llvm::Expected<Signature> mlir::mp::signatureOf(func::FuncOp function) {
  bool buffers = isLoweredForDevices(function->getParentOfType<ModuleOp>());
  Signature signature;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto parameter =
        parameterOf(type, buffers, "argument " + Twine(i) + " of @" + function.getName());
    if (!parameter)
      return parameter.takeError();
    parameter->name = nameOfLocation(function.getArgument(i).getLoc());
    for (StringRef attribute : {"mp.name", "ml_program.identifier"})
      if (auto name = function.getArgAttrOfType<StringAttr>(i, attribute))
        parameter->name = name.str();
    parameter->type.isUnsigned |= bool(function.getArgAttr(i, kUnsignedAttrName));
    if (auto role = function.getArgAttrOfType<StringAttr>(i, kRoleAttrName))
      parameter->role = role.str();
    if (auto state = function.getArgAttrOfType<IntegerAttr>(i, kStateAttrName))
      parameter->nextValue = state.getInt();
    if (auto sizes = function.getArgAttrOfType<DenseI64ArrayAttr>(i, kDimAttrName))
      parameter->likelyShape.append(sizes.asArrayRef().begin(), sizes.asArrayRef().end());
    if (!parameter->type.isFloat && !function.isExternal())
      parameter->indexBound = findIndexBound(function.getArgument(i));
    if (auto range = function.getArgAttrOfType<ArrayAttr>(i, kRangeAttrName))
      parameter->range = {cast<FloatAttr>(range[0]).getValueAsDouble(),
                          cast<FloatAttr>(range[1]).getValueAsDouble()};
    signature.arguments.push_back(std::move(*parameter));
  }
  for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
    auto parameter =
        parameterOf(type, buffers, "result " + Twine(i) + " of @" + function.getName());
    if (!parameter)
      return parameter.takeError();
    if (auto name = function.getResultAttrOfType<StringAttr>(i, "ml_program.identifier"))
      parameter->name = name.str();
    parameter->type.isUnsigned |= bool(function.getResultAttr(i, kUnsignedAttrName));
    signature.results.push_back(std::move(*parameter));
  }
  return signature;
}

/// No value is so large that the arithmetic of addresses wraps.
static llvm::Error checkSizes(ModuleOp module) {
  std::string problem;
  module->walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      auto shaped = dyn_cast<ShapedType>(type);
      if (!shaped || !shaped.hasStaticShape() || isa<VectorType>(type) ||
          elementCount(shaped.getShape()).value_or(INT64_MAX) <= (int64_t(1) << 56))
        continue;
      llvm::raw_string_ostream(problem) << op->getLoc() << ": a value of type " << type
                                        << " is too large to run: more than 2^56 elements";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return problem.empty() ? llvm::Error::success()
                         : support::error(support::ErrorCode::TooLarge, problem);
}

llvm::Expected<Entry> mlir::mp::isolateEntry(ModuleOp module, StringRef entry) {
  auto function = findEntry(module, entry);
  if (!function)
    return function.takeError();
  auto signature = signatureOf(*function);
  if (!signature)
    return signature.takeError();
  Entry isolated = {function->getName().str(), std::move(*signature),
                    cast<ModuleOp>(module->clone())};
  for (auto other : isolated.module->getOps<func::FuncOp>())
    if (other.getName() != isolated.name)
      other.setPrivate();
  // Nothing can call into these.
  for (ModuleOp nested : llvm::make_early_inc_range(isolated.module->getOps<ModuleOp>()))
    nested.erase();
  if (llvm::Error error = checkSizes(*isolated.module))
    return std::move(error);
  return isolated;
}

llvm::Error mlir::mp::checkArgument(const Array &array, const Parameter &parameter,
                                    const Twine &what) {
  bool same = array.type == parameter.type && array.shape.size() == parameter.shape.size();
  for (size_t dim = 0; same && dim < array.shape.size(); ++dim)
    same = parameter.shape[dim] < 0 || parameter.shape[dim] == array.shape[dim];
  if (same)
    return llvm::Error::success();
  return createStringError(what + ": expected " + parameter.typeStr() + ", found " +
                           array.typeStr());
}

Executable::~Executable() = default;

llvm::Error Executable::checkArguments(ArrayRef<Array> arguments) const {
  ArrayRef<Parameter> parameters = signature().arguments;
  if (arguments.size() != parameters.size())
    return createStringError(Twine("expected ") + Twine(parameters.size()) + " arguments, found " +
                             Twine(arguments.size()));
  for (auto [i, argument] : llvm::enumerate(arguments))
    if (llvm::Error error = checkArgument(argument, parameters[i], "argument " + Twine(i)))
      return error;
  return llvm::Error::success();
}
