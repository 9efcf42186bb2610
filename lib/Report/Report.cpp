// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collecting the rows of a report from a module.

#include "mp/Report/Report.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Interfaces/PrecisionOpInterface.h"

using namespace mlir;
using namespace mlir::mp;

std::string mlir::mp::describeLocation(Location location) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto file = location->findInstanceOf<FileLineColLoc>())
    os << file.getFilename().getValue() << ':' << file.getLine() << ':' << file.getColumn();
  else if (auto name = location->findInstanceOf<NameLoc>())
    os << name.getName().getValue();
  else
    os << "unknown";
  return text;
}

static std::string formatName(Type type) {
  if (!type || isa<NoneType>(type))
    return "_";
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Bytes of a tensor stored in `format`; saturates instead of overflowing.
static int64_t bytesOf(Type type, Type format, int64_t assumedDim) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto stored = dyn_cast_or_null<FloatType>(format);
  if (!tensor || !stored)
    return 0;
  int64_t elements = 1;
  for (int64_t size : tensor.getShape())
    elements = llvm::SaturatingMultiply<uint64_t>(
        elements, ShapedType::isDynamic(size) ? assumedDim : size);
  return llvm::SaturatingMultiply<uint64_t>(elements, (stored.getWidth() + 7) / 8);
}

void Report::collectDecisions(ModuleOp module) {
  for (auto function : module.getOps<FunctionOpInterface>()) {
    int64_t ordinal = 0;
    function->walk<WalkOrder::PreOrder>([&](Operation *op) {
      auto precision = op->getAttrOfType<PrecisionAttr>(kPrecisionAttrName);
      if (!precision)
        return;
      OpRow row;
      row.function = function.getName();
      row.ordinal = ordinal++;
      row.op = op->getName().getStringRef();
      row.location = describeLocation(op->getLoc());
      row.opClass = getOpClass(op);
      row.compute = precision.getCompute() ? formatName(precision.getCompute()) : "";
      for (Type type : precision.getIn())
        row.in.push_back(formatName(type));
      for (Type type : precision.getOut())
        row.out.push_back(formatName(type));
      row.by = stringifyOrigin(precision.getOrigin());
      row.reason = precision.getReason();
      FloatType own = op->getNumResults() ? getFloatFormat(op->getResult(0).getType()) : FloatType();
      row.narrowed = row.opClass == OpClass::TensorCore && own && precision.getCompute() &&
                     precision.getCompute() != own && own.isF32();
      for (auto [operand, stored] : llvm::zip(op->getOperands(), precision.getIn())) {
        bytesBefore = llvm::SaturatingAdd<uint64_t>(
            bytesBefore, bytesOf(operand.getType(), getFloatFormat(operand.getType()), assumedDim));
        bytesAfter = llvm::SaturatingAdd<uint64_t>(
            bytesAfter, bytesOf(operand.getType(), stored, assumedDim));
      }
      for (auto [result, stored] : llvm::zip(op->getResults(), precision.getOut())) {
        bytesBefore = llvm::SaturatingAdd<uint64_t>(
            bytesBefore, bytesOf(result.getType(), getFloatFormat(result.getType()), assumedDim));
        bytesAfter = llvm::SaturatingAdd<uint64_t>(
            bytesAfter, bytesOf(result.getType(), stored, assumedDim));
      }
      ops.push_back(std::move(row));
    });
    if (ordinal == 0 && !function.isExternal())
      unassigned.push_back(function.getName().str());
  }
}

void Report::collectCasts(ModuleOp module) {
  for (auto function : module.getOps<FunctionOpInterface>())
    function->walk([&](Operation *op) {
      if (!op->hasAttr("inserted") || !isa<CastOp, RoundOp>(op))
        return;
      CastRow row;
      row.function = function.getName();
      row.location = describeLocation(op->getLoc());
      Value source = op->getOperand(0);
      row.from = formatName(getFloatFormat(source.getType()));
      auto round = dyn_cast<RoundOp>(op);
      row.to = formatName(round ? round.getFormat() : getFloatFormat(op->getResult(0).getType()));
      row.bytes = bytesOf(source.getType(), getFloatFormat(source.getType()), assumedDim);
      row.users = std::distance(op->user_begin(), op->user_end());
      auto argument = dyn_cast<BlockArgument>(source);
      row.ofArgument = argument && argument.getOwner()->getParentOp() == function;
      casts.push_back(std::move(row));
    });
}
