// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports scaled values.

#include "mp/Analysis/FunctionWalk.h"
#include "mp/Analysis/Locations.h"
#include "mp/Dialect/MP/Scaling.h"
#include "mp/Report/Report.h"
#include "mp/Target/Targets.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::mp;

template <typename T> static std::string textOf(T printed) {
  std::string text;
  llvm::raw_string_ostream(text) << printed;
  return text;
}

static ScaledOperand describeOperand(Value codes, ValueRange scales) {
  ScaledOperand operand{textOf(codes.getType()),
                        {},
                        codes.getDefiningOp() &&
                            codes.getDefiningOp()->hasTrait<OpTrait::ConstantLike>()};
  for (Type type : scales.getTypes())
    operand.scales.push_back(textOf(type));
  return operand;
}

/// Returns the storage formats of the operands of a contraction of scaled values, or of the one
/// read back.
static SmallVector<std::string> storedFormats(Operation *op) {
  SmallVector<std::string> formats;
  auto add = [&](Value codes) {
    formats.push_back(textOf(cast<RankedTensorType>(codes.getType()).getElementType()));
  };
  if (auto product = dyn_cast<ScaledMatmulOp>(op)) {
    add(product.getA());
    add(product.getB());
  } else {
    add(cast<DequantizeOp>(op).getSource());
  }
  return formats;
}

void Report::collectScaling(ModuleOp module) {
  walkFunctions(module, [&](FunctionOpInterface function) {
    function->walk([&](Operation *op) {
      ScaledRow row{
          function.getName().str(), describeLocation(op->getLoc()), textOf(op->getName()), {}};
      if (auto product = dyn_cast<ScaledMatmulOp>(op); product && product.getInserted()) {
        row.operands.push_back(describeOperand(product.getA(), product.getScalesA()));
        row.operands.push_back(describeOperand(product.getB(), product.getScalesB()));
      } else if (auto restored = dyn_cast<DequantizeOp>(op); restored && restored.getInserted()) {
        row.operands.push_back(describeOperand(restored.getSource(), restored.getScales()));
      } else {
        return;
      }
      for (const std::string &format : storedFormats(op))
        if (row.stored.empty() || row.stored != format)
          row.stored += (row.stored.empty() ? "" : " x ") + format;
      scaled.push_back(std::move(row));
    });
  });
}

/// Says why the target computes wide on values stored so; empty if it multiplies them as they are.
static std::string whyWide(StringRef target, StringRef stored) {
  auto model = target::lookupTarget(target);
  if (!model) {
    llvm::consumeError(model.takeError());
    return "";
  }
  auto [first, second] = stored.split(" x ");
  for (StringRef format : {first, second})
    if (!format.empty() && format != "i4" && format != "i8")
      if (std::string why = llvm::toString(target::checkFormat(*model, format)); !why.empty())
        return why;
  return "";
}

void Report::printScaling(raw_ostream &os) const {
  llvm::MapVector<StringRef, int64_t> products;
  int64_t restored = 0, ahead = 0, running = 0;
  for (const ScaledRow &row : scaled) {
    if (row.operands.size() == 2)
      ++products[row.stored];
    else
      ++restored;
    for (const ScaledOperand &operand : row.operands)
      ++(operand.aheadOfTime ? ahead : running);
  }
  if (scaled.empty())
    return;
  // Scaled contractions of the problem have their price in it.
  bool chosen = llvm::any_of(ops, [](const OpRow &row) { return row.scaled; });
  os << "  scaled: ";
  llvm::interleaveComma(
      products, os, [&](auto &entry) { os << entry.second << " contractions " << entry.first; });
  if (restored)
    os << (products.empty() ? "" : ", ") << restored << " operands stored narrow and read wide";
  os << "; " << ahead << " operands stored ahead of time, " << running
     << " scaled at run time (no part of the modelled bytes" << (chosen ? "" : " and times")
     << ")\n";
  for (auto &[stored, count] : products)
    if (std::string why = whyWide(target, stored); !why.empty())
      os << "  " << count << " of them compute wide on narrow storage: " << why << "\n";
}

llvm::json::Array Report::scalingToJSON() const {
  llvm::json::Array rows;
  for (const ScaledRow &row : scaled) {
    llvm::json::Array operands;
    for (const ScaledOperand &operand : row.operands)
      operands.push_back(llvm::json::Object{{"type", operand.type},
                                            {"scales", llvm::json::Array(operand.scales)},
                                            {"ahead_of_time", operand.aheadOfTime}});
    rows.push_back(llvm::json::Object{{"function", llvm::json::fixUTF8(row.function)},
                                      {"location", llvm::json::fixUTF8(row.location)},
                                      {"op", row.op},
                                      {"stored", row.stored},
                                      {"operands", std::move(operands)}});
  }
  return rows;
}
