// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks up modelled times and bytes of ops and casts, by fusion group.

#include "StorageCosts.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mp;

StorageCosts::StorageCosts(FunctionDecisions &decisions, const AssignSettings &settings)
    : decisions(decisions), model(settings.costs), options(settings.placement),
      asked(settings.askedTimes), groups(decisions.getFunction()), sizes(options.assumedDim) {
  // Totals stay below 2^60: each op makes a handful of terms, each paid as often as it runs.
  uint64_t terms = 16;
  for (auto &[op, decision] : decisions.getOps())
    terms = llvm::SaturatingAdd<uint64_t>(
        terms, sizes.countRuns(op) * 4 * (op->getNumOperands() + op->getNumResults() + 1));
  largest = std::max<int64_t>((int64_t(1) << 59) / terms, 1);
}

bool StorageCosts::readsAnyFormat(Operation *op) const {
  KernelKind kind = getKind(op);
  if (kind != KernelKind::Elementwise && kind != KernelKind::Reduction)
    return false;
  const Decision *decision = decisions.find(op);
  return decision && !decision->keepsStorage;
}

int64_t StorageCosts::ofBytes(Value value, FloatType format) {
  uint64_t bytes = sizes.countBytes(value, format.getWidth());
  return capped(countsMemory() ? int64_t(std::min<uint64_t>(bytes, largest))
                               : model.memoryTime(bytes));
}

int64_t StorageCosts::ofCast(Value value, FloatType from, FloatType to) {
  if (countsMemory())
    return ofBytes(value, to);
  uint64_t elements = sizes.countElements(value);
  auto name = [&] {
    return ("cast " + getFormatName(from) + " " + getFormatName(to) + " " + Twine(elements)).str();
  };
  return capped(timed(name, model.castTime(elements, from.getWidth(), to.getWidth())));
}

int64_t StorageCosts::timed(llvm::function_ref<std::string()> name, int64_t modelled) const {
  if (!asked && model.getMeasured().empty())
    return modelled;
  std::string key = name();
  int64_t time = model.measured(key).value_or(modelled);
  if (asked)
    asked->try_emplace(std::move(key), time);
  return time;
}

/// An op by what it computes in and the shapes it reads: "linalg.matmul bf16 128x768 768x3072".
static std::string nameContraction(Operation *op, FloatType format) {
  std::string name;
  llvm::raw_string_ostream os(name);
  os << op->getName() << " " << getFormatName(format);
  auto interface = cast<PrecisionOpInterface>(op);
  for (OpOperand &operand : op->getOpOperands())
    if (auto type = dyn_cast<ShapedType>(operand.get().getType());
        type && type.hasRank() &&
        interface.getOperandRole(operand.getOperandNumber()) == OperandRole::Factor) {
      os << " ";
      llvm::interleave(
          type.getShape(), os,
          [&](int64_t size) { ShapedType::isDynamic(size) ? os << "?" : os << size; }, "x");
    }
  return name;
}

StorageCosts::Transfers StorageCosts::countTransfers(Value value) {
  Operation *def = value.getDefiningOp();
  if (groups.isInternal(value) || isMadeInAnyFormat(value))
    return {false, false, 0};
  KernelKind kind = def ? getKind(def) : KernelKind::None;
  if (countsMemory())
    return {true, def && kind != KernelKind::View, 0};
  // The roofline of a contraction counts its result.
  bool isWritten =
      kind != KernelKind::View && kind != KernelKind::None && kind != KernelKind::Contraction;
  Operation *root = def ? groups.getRoot(def) : nullptr;
  llvm::SmallSetVector<Operation *, 4> readers; // kernels
  for (OpOperand &use : value.getUses()) {
    Operation *reader = groups.getRoot(use.getOwner());
    if (reader == root || !readsAnyFormat(use.getOwner()))
      continue;
    PrecisionOpInterface interface = decisions.find(use.getOwner())->interface;
    if (!interface || interface.getOperandRole(use.getOperandNumber()) != OperandRole::Init)
      readers.insert(reader);
  }
  int64_t runs = def ? sizes.countRuns(def) : 1, reads = 0;
  for (Operation *reader : readers)
    reads += sizes.countRuns(reader);
  return {true, isWritten, int64_t(llvm::divideCeil(reads, runs))};
}

int64_t StorageCosts::ofStoring(Value value, FloatType format) {
  if (value != counted) {
    counted = value;
    transfers = countTransfers(value);
  }
  if (!transfers.isStored)
    return 0;
  int64_t bytes = ofBytes(value, format);
  return capped((transfers.isWritten ? bytes : 0) + bytes * transfers.reads);
}

uint64_t StorageCosts::countTraffic(Operation *op, FloatType factors) {
  PrecisionOpInterface interface = decisions.find(op)->interface;
  uint64_t bytes = 0;
  for (OpOperand &operand : op->getOpOperands())
    if (FloatType own = getFloatFormat(operand.get().getType());
        own && interface.getOperandRole(operand.getOperandNumber()) == OperandRole::Factor)
      bytes = llvm::SaturatingAdd(
          bytes, sizes.countBytes(operand.get(), (own.isF32() ? factors : own).getWidth()));
  for (Value result : op->getResults())
    if (FloatType own = getFloatFormat(result.getType()))
      bytes = llvm::SaturatingAdd(bytes, sizes.countBytes(result, own.getWidth()));
  return bytes;
}

int64_t StorageCosts::ofContraction(Operation *op, FloatType format, FloatType factors) {
  if (countsMemory())
    return 0;
  auto [known, isNew] = multiplyAdds.try_emplace(op, 0);
  if (isNew) // asked for every way to compute
    known->second = sizes.countMultiplyAdds(op);
  uint64_t bytes = countTraffic(op, factors), products = known->second;
  std::optional<int64_t> time = model.contractionTime(getFormatName(format), "", products, bytes);
  return capped(timed([&] { return nameContraction(op, format); },
                      time.value_or(model.elementwiseTime(products, bytes))));
}

int64_t StorageCosts::ofSplit(Value value, unsigned bits) {
  if (countsMemory())
    return capped(int64_t(std::min<uint64_t>(sizes.countBytes(value, bits), largest)));
  return capped(model.castTime(sizes.countElements(value), 32, bits));
}

int64_t StorageCosts::ofScaled(Value value, FloatType format, bool measured) {
  FloatType f32 = Float32Type::get(value.getContext());
  return capped(ofCast(value, f32, format) +
                (measured && !countsMemory() ? ofBytes(value, f32) + ofLaunch() : 0));
}

int64_t StorageCosts::ofScaledProduct(Operation *op, FloatType format) {
  if (countsMemory())
    return 0;
  uint64_t elements = sizes.countElements(op->getResult(0));
  return capped(ofContraction(op, format, format) +
                model.elementwiseTime(
                    elements, llvm::SaturatingMultiply<uint64_t>(elements, 2 * sizeof(float))));
}

int64_t StorageCosts::ofProducts(Operation *op, numerics::SplitScheme scheme) {
  if (countsMemory())
    return 0;
  FloatType part = getPartType(op->getContext(), scheme), f32 = Float32Type::get(op->getContext());
  int64_t product = ofContraction(op, part, part.isTF32() ? f32 : part);
  uint64_t elements = sizes.countElements(op->getResult(0));
  // large + small (+ init) and whether small is NaN.
  int64_t join =
      model.elementwiseTime(llvm::SaturatingMultiply<uint64_t>(elements, 3),
                            llvm::SaturatingMultiply<uint64_t>(elements, 3 * sizeof(float)));
  int64_t count = numerics::partPairs(scheme).size();
  return capped(std::min(product, largest / count) * count + join);
}
