// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Goes through each block once and lets each op join a kernel that makes what it reads. Levels tell
// that no other way leads from the one to the other: of two kernels on one level neither needs the
// other.

#include "mp/Analysis/Cost/DispatchGroups.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "mp/Analysis/DataMovement.h"
#include "mp/Analysis/Idioms/EmptyRows.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"

using namespace mlir;
using namespace mlir::mp;

DispatchGroups::DispatchGroups(FunctionOpInterface function, const FusionGroups &groups,
                               Sizes &sizes,
                               llvm::function_ref<FloatType(Operation *)> formatInTiles,
                               bool fusesAttention)
    : groups(groups), sizes(sizes), formatInTiles(formatInTiles), fusesAttention(fusesAttention) {
  for (const EmptyRows &rows : findEmptyRows(function))
    answered.insert(rows.question);
  for (Block &block : function.getFunctionBody())
    visitBlock(block);
  this->formatInTiles = nullptr;
}

void DispatchGroups::visitBlock(Block &block) {
  const unsigned outer = std::exchange(highest, 0);
  for (Operation &op : block) {
    visit(&op);
    if (!isa<linalg::LinalgOp>(op))
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          visitBlock(inner);
  }
  highest = outer;
}

static uint64_t countUses(Operation *op) {
  uint64_t uses = 0;
  for (Value result : op->getResults())
    uses += std::distance(result.use_begin(), result.use_end());
  return uses;
}

unsigned DispatchGroups::find(unsigned kernel) const {
  while (kernels[kernel].joined != ~0u)
    kernel = kernels[kernel].joined;
  return kernel;
}

/// The kernels of this block that make the operands; what several compute is read by each.
DispatchGroups::Reads DispatchGroups::collectReads(Operation *op) {
  Reads reads;
  if (auto inside = pending.find(op); inside != pending.end()) {
    for (unsigned kernel : inside->second)
      reads.push_back(find(kernel));
    pending.erase(inside);
  }
  for (Value operand : op->getOperands()) {
    Operation *def = operand.getDefiningOp();
    if (auto known = def && def->getBlock() == op->getBlock() ? kernelOf.find(def) : kernelOf.end();
        known != kernelOf.end())
      reads.push_back(find(known->second));
  }
  return reads;
}

unsigned DispatchGroups::levelAbove(const Reads &reads) const {
  unsigned level = 0;
  for (unsigned kernel : reads)
    level = std::max(level, kernels[kernel].level + 1);
  return level;
}

unsigned DispatchGroups::add(Operation *op, Kind kind, const Reads &reads, uint64_t elements) {
  const unsigned level = levelAbove(reads);
  highest = std::max(highest, level);
  kernelOf[op] = kernels.size();
  kernels.push_back({kind, level, elements, 0, countUses(op), op});
  return kernels.size() - 1;
}

void DispatchGroups::visit(Operation *op) {
  const KernelKind kind = groups.getKind(op);
  if (mayFold(op)) {
    folded.insert(op);
    return visitView(op);
  }
  if (groups.isAbsorbed(op)) {
    if (Operation *root = groups.getRoot(op); root != op) {
      Reads reads = collectReads(op);
      pending[root].append(reads);
    } else {
      visitView(op);
    }
    return;
  }
  switch (kind) {
  case KernelKind::None:
    if (op->getNumRegions() > 0 && op->getNumResults() > 0 && !isa<linalg::LinalgOp>(op)) {
      add(op, Kind::Alone, {}, 0); // what it reads inside is not looked up
      kernels.back().level = ++highest;
    }
    return;
  case KernelKind::View: return visitView(op);
  case KernelKind::Contraction: return visitContraction(op, collectReads(op));
  case KernelKind::Elementwise:
  case KernelKind::Reduction: return visitComputing(op, collectReads(op));
  case KernelKind::Other: add(op, Kind::Alone, collectReads(op), 0); return;
  }
}

static bool isZeroPad(Operation *op) {
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    Value with = pad.getConstantPaddingValue();
    return with && matchPattern(with, m_AnyZeroFloat());
  }
  return isa<tosa::PadOp>(op) && matchPattern(op->getOperands().back(), m_AnyZeroFloat());
}

bool DispatchGroups::productsAloneRead(Operation *op, bool throughViews) const {
  return !op->use_empty() && llvm::all_of(op->getUsers(), [&](Operation *user) {
    const KernelKind kind = groups.getKind(user);
    return (kind == KernelKind::Contraction && hasTiles(user)) ||
           (throughViews && kind == KernelKind::View && productsAloneRead(user, false));
  });
}

bool DispatchGroups::mayFold(Operation *op) const {
  switch (groups.getKind(op)) {
  case KernelKind::Other: return isZeroPad(op) && productsAloneRead(op, /*throughViews=*/false);
  case KernelKind::Elementwise:
    return productsAloneRead(op, /*throughViews=*/true) && isTransposition(op);
  default: return false;
  }
}

/// Shows what another op has made, to readers of its own.
void DispatchGroups::visitView(Operation *op) {
  Reads reads = collectReads(op);
  if (reads.empty())
    return;
  kernelOf[op] = reads.front();
  kernels[reads.front()].outside += countUses(op) - 1;
}

void DispatchGroups::visitContraction(Operation *op, const Reads &reads) {
  const bool isProduct = hasTiles(op);
  add(op, isProduct ? Kind::Product : Kind::Alone, reads, sizes.countElements(op->getResult(0)));
  if (!isProduct)
    return;
  if (fusesAttention)
    joinAttention(op, reads);
  for (Value operand : op->getOperands().take_front(2)) {
    auto [first, isNew] = products.try_emplace(behindReshapes(operand), op);
    if (!isNew && first->second->getName() == op->getName() &&
        first->second->getOperandTypes() == op->getOperandTypes() &&
        op->getBlock() == first->second->getBlock())
      siblings.insert(op);
  }
}

/// Says what a kernel of rows reduces in one op: a whole softmax does twice, first to a maximum.
struct Reductions {
  unsigned count = 1;
  bool takesMaximum;
};

static Reductions readReductions(Operation *op) {
  if (isa<linalg::LinalgOp>(op))
    return {1, op->walk([](Operation *inner) {
                   return isa<arith::MaximumFOp, arith::MaxNumFOp>(inner) ? WalkResult::interrupt()
                                                                          : WalkResult::advance();
                 }).wasInterrupted()};
  const FloatMeaning meaning = getFloatMeaning(op);
  const bool isSoftmax = meaning.kind == FloatMeaning::Kind::Softmax;
  return {isSoftmax ? 2u : 1u, isSoftmax || meaning.reduce == domains::ReduceFn::Max};
}

/// Records what a kernel of rows that `op` has become part of reads and reduces.
void DispatchGroups::noteReads(unsigned kernel, Operation *op, const Reads &reads) {
  Kernel &into = kernels[kernel];
  if (groups.getKind(op) == KernelKind::Reduction && !answered.contains(op)) {
    const Reductions reductions = readReductions(op);
    into.takesMaximum |= into.reductions == 0 && reductions.takesMaximum;
    into.reductions += reductions.count;
  }
  for (unsigned read : reads) {
    const Kernel &other = kernels[read];
    if (read == kernel || other.kind != Kind::Product || other.elements != into.elements)
      continue;
    into.sourceReads = into.source == read ? into.sourceReads + 1 : 1;
    into.source = read;
  }
}

/// Two products with a softmax between them become the kernel of the second (docs/concepts/
/// Dispatches.md, Attention).
void DispatchGroups::joinAttention(Operation *op, const Reads &reads) {
  constexpr int64_t largestHead = 256, headStep = 16;
  auto isHead = [](int64_t size) { return size <= largestHead && size % headStep == 0; };
  for (unsigned rows : reads) {
    Kernel &softmax = kernels[rows];
    if (softmax.kind != Kind::Rows || softmax.reductions != 2 || !softmax.takesMaximum ||
        softmax.source == ~0u || softmax.outside != uint64_t(llvm::count(reads, rows)))
      continue;
    Kernel &scores = kernels[softmax.source];
    Operation *first = scores.first;
    if (scores.joined != ~0u || scores.outside != softmax.sourceReads ||
        valueProducts.contains(first) || formatInTiles(first).getWidth() != 16 ||
        formatInTiles(op).getWidth() != 16)
      continue;
    const mpcore::performance::MatmulProblem a = sizes.countProduct(first),
                                             b = sizes.countProduct(op);
    if (!isHead(a.k) || (!isHead(b.m) && !isHead(b.n)))
      continue;
    softmax.joined = scores.joined = kernels.size() - 1;
    attentions[op] = first;
    valueProducts[first] = op;
    return;
  }
}

bool DispatchGroups::suits(const Kernel &kernel, Operation *op, uint64_t elements,
                           uint64_t results) const {
  const bool reduces = groups.getKind(op) == KernelKind::Reduction;
  switch (kernel.kind) {
  case Kind::Alone: return false;
  case Kind::Product: return !reduces && results == kernel.elements;
  case Kind::Map: return elements == kernel.elements;
  case Kind::Rows:
    return elements == kernel.elements
               ? !reduces || !kernel.rows || results == kernel.rows || results == elements
               : !reduces && elements == kernel.rows;
  }
  llvm_unreachable("unknown kind");
}

std::optional<unsigned> DispatchGroups::findHost(Operation *op, const Reads &reads,
                                                 uint64_t elements, uint64_t results) const {
  std::optional<unsigned> host;
  unsigned top = 0;
  for (unsigned kernel : reads)
    top = std::max(top, kernels[kernel].level);
  for (unsigned kernel : reads)
    if (kernels[kernel].level == top && suits(kernels[kernel], op, elements, results) &&
        (!host || kernels[kernel].kind == Kind::Rows))
      host = kernel;
  if (!host)
    return std::nullopt;
  // Others on its level must come before it now: nothing else may have taken its level for granted.
  const bool mustRise = llvm::any_of(
      reads, [&](unsigned kernel) { return kernel != *host && kernels[kernel].level == top; });
  return mustRise && kernels[*host].outside != uint64_t(llvm::count(reads, *host)) ? std::nullopt
                                                                                   : host;
}

/// Notes in a kernel of rows what another that has become part of it reads and reduces.
void DispatchGroups::absorb(Kernel &into, const Kernel &other) {
  into.takesMaximum = into.reductions == 0 ? other.takesMaximum : into.takesMaximum;
  into.reductions += other.reductions;
  if (into.source == ~0u)
    into.source = other.source;
  if (into.source == other.source)
    into.sourceReads += other.sourceReads;
}

void DispatchGroups::join(Operation *op, unsigned host, const Reads &reads, uint64_t results) {
  // `kernels` does not grow here.
  Kernel &into = kernels[host];
  kernelOf[op] = host;
  into.hasGrown = true;
  into.outside += countUses(op) - llvm::count(reads, host);
  if (groups.getKind(op) == KernelKind::Reduction) {
    into.kind = Kind::Rows;
    if (results != into.elements)
      into.rows = results;
  }
  noteReads(host, op, reads);
  for (unsigned kernel : reads) {
    Kernel &other = kernels[kernel];
    if (kernel == host || other.joined != ~0u)
      continue;
    const bool isPart =
        other.kind == Kind::Map || (other.kind == Kind::Rows && into.kind == Kind::Rows);
    if (isPart && other.outside == uint64_t(llvm::count(reads, kernel)) &&
        (other.elements == into.elements || other.elements == into.rows) &&
        other.level <= into.level) {
      other.joined = host;
      into.rows = std::max(into.rows, other.rows);
      absorb(into, other);
    } else {
      into.level = std::max(into.level, other.level + 1);
    }
  }
  highest = std::max(highest, into.level);
}

void DispatchGroups::visitComputing(Operation *op, const Reads &reads) {
  uint64_t results = op->getNumResults() ? sizes.countElements(op->getResult(0)) : 0;
  uint64_t elements = results;
  if (groups.getKind(op) == KernelKind::Reduction)
    for (Value operand : op->getOperands())
      elements = std::max(elements, sizes.countElements(operand));
  if (std::optional<unsigned> host = findHost(op, reads, elements, results))
    return join(op, *host, reads, results);
  unsigned made = add(op, Kind::Map, reads, elements);
  if (groups.getKind(op) == KernelKind::Reduction) {
    kernels[made].kind = Kind::Rows;
    kernels[made].rows = results != elements ? results : 0;
  }
  noteReads(made, op, reads);
}

std::optional<unsigned> DispatchGroups::getKernel(Operation *op) const {
  auto known = kernelOf.find(groups.getRoot(op));
  return known == kernelOf.end() ? std::nullopt : std::optional(find(known->second));
}

bool DispatchGroups::isFirst(Operation *op) const {
  std::optional<unsigned> kernel = getKernel(op);
  return kernel && kernels[*kernel].first == op;
}

bool DispatchGroups::isInternal(Value value) const {
  Operation *def = value.getDefiningOp();
  if (!def)
    return false;
  if (groups.isAbsorbed(def))
    return true;
  std::optional<unsigned> kernel = getKernel(def);
  return kernel && kernels[*kernel].kind != Kind::Alone && !value.use_empty() &&
         llvm::all_of(value.getUsers(), [&](Operation *user) {
           return user->getBlock() == def->getBlock() && getKernel(user) == kernel &&
                  (!showsOperand(user) || isInternal(user->getResult(0)));
         });
}

bool DispatchGroups::hasEpilogue(Operation *op) const {
  std::optional<unsigned> kernel = getKernel(op);
  return kernel && kernels[*kernel].first == op && kernels[*kernel].hasGrown;
}
