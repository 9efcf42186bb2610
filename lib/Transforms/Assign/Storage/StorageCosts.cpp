// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks up modelled times and bytes of ops and casts, by fusion group.

#include "StorageCosts.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mp;

StorageCosts::StorageCosts(FunctionDecisions &decisions, const AssignSettings &settings)
    : decisions(decisions), model(settings.costs), options(settings.placement),
      asked(settings.askedTimes), groups(decisions.getFunction()), sizes(options.assumedDim),
      dispatches(
          decisions.getFunction(), groups, sizes,
          [&](Operation *op) { return hasTiles(op) ? decisions.find(op)->compute : FloatType(); },
          settings.costs.attentionTime({.format = "f16"}).has_value()) {
  // Totals stay below 2^60: each op makes a handful of terms, each paid as often as it runs.
  uint64_t terms = 16;
  for (auto &[op, decision] : decisions.getOps())
    terms = llvm::SaturatingAdd<uint64_t>(
        terms, sizes.countRuns(op) * 4 * (op->getNumOperands() + op->getNumResults() + 1));
  largest = std::max<int64_t>((int64_t(1) << 59) / terms, 1);
}

bool StorageCosts::readsAnyFormat(Operation *op) const {
  if (!computesInRegisters(getKind(op)))
    return false;
  const Decision *decision = decisions.find(op);
  return decision && !decision->keepsStorage;
}

int64_t StorageCosts::ofBytes(Value value, FloatType format) {
  uint64_t bytes = sizes.countBytes(value, format.getWidth());
  return capped(countsMemory() ? int64_t(std::min<uint64_t>(bytes, largest))
                               : model.memoryTime(bytes));
}

bool StorageCosts::hasTiles(Operation *op) {
  const Decision *decision = decisions.find(op);
  return decision && runsInTiles(op, decision->compute);
}

bool StorageCosts::canContractIn(FloatType format) {
  auto known = llvm::find_if(contracts, [&](auto &entry) { return entry.first == format; });
  if (known == contracts.end()) {
    contracts.emplace_back(format, model.hasProducts(getFormatName(format)));
    known = std::prev(contracts.end());
  }
  return known->second;
}

/// True of a product without a dimension of rows or of columns, batches of them included.
static bool multipliesVectors(Operation *op) {
  auto rankOf = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type ? type.getRank() : 8;
  };
  const int64_t a = rankOf(op->getOperand(0)), b = rankOf(op->getOperand(1)),
                c = rankOf(op->getResult(0));
  return a + c - b < 2 || b + c - a < 2;
}

bool StorageCosts::runsInTiles(Operation *op, FloatType format) {
  // mp-select-contractions leaves less to loops.
  constexpr int64_t shortest = 128, leastInF32 = 16;
  const mpcore::performance::MatmulProblem &size = sizeOf(op);
  if (format.isF32())
    return std::min({size.m, size.n, size.k}) >= leastInF32;
  return canContractIn(format) && !(multipliesVectors(op) && size.k < shortest);
}

const mpcore::performance::MatmulProblem &StorageCosts::sizeOf(Operation *op) {
  auto [known, isNew] = products.try_emplace(op);
  if (isNew) // asked for every way to compute
    known->second = sizes.countProduct(op);
  return known->second;
}

/// Returns what `value` shows the elements of.
Value StorageCosts::skipViews(Value value) const {
  for (Operation *def; (def = value.getDefiningOp()) && dispatches.showsOperand(def);)
    value = def->getOperand(0);
  return value;
}

bool StorageCosts::isMade(Value value) {
  Operation *def = skipViews(value).getDefiningOp();
  if (!def)
    return false;
  KernelKind kind = getKind(def);
  return computesInRegisters(kind) || (kind == KernelKind::Contraction && hasTiles(def));
}

const StorageCosts::Products &StorageCosts::productsThatRead(Value value) {
  auto [known, isNew] = readers.try_emplace(value);
  if (isNew) // values that many ops read are asked for by each
    for (Operation *user : value.getUsers())
      if (getKind(user) == KernelKind::Contraction) {
        ++known->second.count;
        known->second.areNarrow &= hasTiles(user) && !decisions.find(user)->compute.isF32();
      }
  return known->second;
}

int64_t StorageCosts::ofReadingWide(Value value, FloatType from, FloatType to) {
  uint64_t more = std::max<int64_t>(ofBytes(value, from) - ofBytes(value, to), 0),
           times = std::max<uint64_t>(productsThatRead(value).count, 1);
  return capped(int64_t(std::min<uint64_t>(llvm::SaturatingMultiply(more, times), largest)));
}

bool StorageCosts::mayConvertInReaders(Value value, FloatType from, FloatType to) {
  return from.isF32() && to.getWidth() < 32 && productsThatRead(value).areNarrow &&
         ofReadingWide(value, from, to) <=
             model.castTime(sizes.countElements(value), from.getWidth(), to.getWidth());
}

bool StorageCosts::isConvertedByReaders(Value value, FloatType from, FloatType to) {
  Value source = skipViews(value);
  Operation *def = source.getDefiningOp();
  bool isFixed = (!def || !decisions.find(def)) && decisions.getStorage(source) == from;
  return isFixed && !isMadeInAnyFormat(source) && mayConvertInReaders(value, from, to);
}

int64_t StorageCosts::ofCast(Value value, FloatType from, FloatType to) {
  if (countsMemory())
    return ofBytes(value, to);
  if (value != copied) {
    copied = value;
    copiedBy = !isMade(value)                 ? Copied::Apart
               : dispatches.isInternal(value) ? Copied::Inside
                                              : Copied::Beside;
  }
  if (copiedBy != Copied::Apart)
    return copiedBy == Copied::Inside ? 0 : ofBytes(value, to);
  // Zeros around a tensor are of its format, and a cast stays behind a transposition.
  Operation *def = value.getDefiningOp();
  if (!(def && dispatches.isFolded(def)) && isConvertedByReaders(value, from, to))
    return 0; // counted with each product
  if (def && getKind(def) == KernelKind::Other && mayConvertInReaders(value, from, to))
    return ofReadingWide(value, from, to);
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
  for (OpOperand *factor : getFactors(op))
    if (auto type = dyn_cast<ShapedType>(factor->get().getType()); type && type.hasRank()) {
      os << " ";
      llvm::interleave(
          type.getShape(), os,
          [&](int64_t size) { ShapedType::isDynamic(size) ? os << "?" : os << size; }, "x");
    }
  return name;
}

StorageCosts::Transfers StorageCosts::countTransfers(Value value) {
  Operation *def = value.getDefiningOp();
  if (isMadeInAnyFormat(value) || dispatches.isInternal(value))
    return {false, false, 0};
  KernelKind kind = def ? getKind(def) : KernelKind::None;
  if (countsMemory())
    return {true, def && !dispatches.showsOperand(def), 0};
  bool isWritten = kind != KernelKind::None && !dispatches.showsOperand(def);
  std::optional<unsigned> made = def ? dispatches.getKernel(def) : std::nullopt;
  int64_t runs = def ? sizes.countRuns(def) : 1, reads = 0;
  llvm::SmallSetVector<unsigned, 4> readers;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    std::optional<unsigned> reader = dispatches.getKernel(user);
    if ((reader && reader == made) || !readsAnyFormat(user))
      continue;
    PrecisionOpInterface interface = decisions.find(user)->interface;
    if (interface && interface.getOperandRole(use.getOperandNumber()) == OperandRole::Init)
      continue;
    if (!reader || readers.insert(*reader))
      reads += sizes.countRuns(user);
  }
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

int64_t StorageCosts::ofKernel(Operation *op, FloatType format, FloatType factors, bool converts) {
  mpcore::performance::MatmulProblem problem = sizeOf(op);
  problem.format = getFormatName(format);
  unsigned *bits[] = {&problem.aBits, &problem.bBits};
  for (OpOperand &operand : op->getOpOperands().take_front(2))
    if (FloatType own = getFloatFormat(operand.get().getType());
        converts && own && own.isF32() && isConvertedByReaders(operand.get(), own, factors))
      *bits[operand.getOperandNumber()] = own.getWidth();
  return runsInTiles(op, format) ? model.timeOf(problem) : model.productInLoops(problem);
}

StorageCosts::AttentionTimes StorageCosts::ofAttention(Operation *values, FloatType format) {
  Operation *logits = dispatches.getLogits(values);
  const mpcore::performance::MatmulProblem first = sizeOf(logits), second = sizeOf(values);
  const std::optional<int64_t> time =
      model.attentionTime({.batch = second.batch,
                           .queries = first.m * first.n / std::max<int64_t>(second.k, 1),
                           .keys = second.k,
                           .headDim = first.k,
                           .format = getFormatName(format)});
  auto timeApart = [&](Operation *op) {
    const int64_t result = model.memoryTime(sizes.countBytes(op->getResult(0), 32));
    return ofKernel(op, format, format, /*converts=*/false) - result + ofKernelsApart(op);
  };
  const int64_t apart = timeApart(logits),
                whole = time ? *time : std::max<int64_t>(apart, 0) + timeApart(values);
  const int64_t share = std::clamp<int64_t>(apart, 0, whole);
  return {share, whole - share};
}

int64_t StorageCosts::ofKernelsApart(Operation *op) {
  const FloatType f32 = Float32Type::get(op->getContext());
  if (dispatches.getValueProduct(op))
    return ofLaunch() + 2 * ofBytes(op->getResult(0), f32);
  if (Operation *logits = dispatches.getLogits(op))
    return 2 * ofBytes(logits->getResult(0), f32);
  return 0;
}

int64_t StorageCosts::ofContraction(Operation *op, FloatType format, FloatType factors,
                                    bool converts) {
  if (countsMemory())
    return 0;
  const bool mayFuse = converts && format.getWidth() == 16; // split and scaled products do not
  auto name = [&] { return nameContraction(op, format); };
  if (Operation *values = dispatches.getValueProduct(op); values && mayFuse)
    return capped(timed(name, ofAttention(values, format).logits));
  const bool isTiled = runsInTiles(op, format);
  const bool isAttention = mayFuse && dispatches.getLogits(op);
  int64_t time = timed(name, isAttention ? ofAttention(op, format).values
                                         : ofKernel(op, format, factors, converts)),
          result = model.memoryTime(sizes.countBytes(op->getResult(0), 32));
  time = std::max<int64_t>(time - result, 0);
  if (!isAttention)
    time += ofKernelsApart(op);
  if (isTiled && dispatches.sharesLaunch(op))
    time = std::max<int64_t>(time - ofLaunch(), 0);
  if (isTiled)
    return capped(time);
  // Here zeros around an operand, its transposition and the epilogue are kernels of their own.
  for (Value operand : op->getOperands().take_front(2))
    if (Operation *def = operand.getDefiningOp(); def && dispatches.isFolded(def))
      time += ofLaunch() + 2 * ofBytes(operand, Float32Type::get(op->getContext()));
  if (dispatches.hasEpilogue(op))
    time += ofLaunch() + 2 * result;
  return capped(time);
}

int64_t StorageCosts::ofNarrowing(Operation *op, FloatType format, FloatType stored) {
  Value result = op->getResult(0);
  if (countsMemory())
    return format.isF32() ? ofBytes(result, stored) : 0;
  if (runsInTiles(op, format) || dispatches.hasEpilogue(op))
    return 0;
  return capped(model.castTime(sizes.countElements(result), 32, 0));
}

int64_t StorageCosts::ofSplit(Value value, unsigned bits) {
  if (countsMemory())
    return capped(int64_t(std::min<uint64_t>(sizes.countBytes(value, bits), largest)));
  uint64_t elements = sizes.countElements(value);
  return capped(isMade(value) ? model.memoryTime(sizes.countBytes(value, bits))
                              : model.castTime(elements, 32, bits));
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
  return capped(ofContraction(op, format, format, /*converts=*/false) +
                model.elementwiseTime(
                    elements, llvm::SaturatingMultiply<uint64_t>(elements, 2 * sizeof(float))));
}

int64_t StorageCosts::ofProducts(Operation *op, numerics::SplitScheme scheme) {
  if (countsMemory())
    return 0;
  FloatType part = getPartType(op->getContext(), scheme), f32 = Float32Type::get(op->getContext());
  int64_t product = ofContraction(op, part, part.isTF32() ? f32 : part, /*converts=*/false);
  uint64_t elements = sizes.countElements(op->getResult(0));
  // large + small (+ init) and whether small is NaN.
  int64_t join =
      model.elementwiseTime(llvm::SaturatingMultiply<uint64_t>(elements, 3),
                            llvm::SaturatingMultiply<uint64_t>(elements, 3 * sizeof(float)));
  int64_t count = numerics::partPairs(scheme).size();
  return capped(std::min(product, largest / count) * count + join);
}
