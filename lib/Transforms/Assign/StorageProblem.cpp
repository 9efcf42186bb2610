// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StorageProblem.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mp;
namespace assignment = ::mp::assignment;
using assignment::Node;
using assignment::NodeId;
using assignment::Paint;
using assignment::ValueId;
using assignment::Variant;

static std::string nameOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Constants, and tensors that are made again in any format.
static bool isMadeInAnyFormat(Value value) {
  Operation *def = value.getDefiningOp();
  return def && (def->hasTrait<OpTrait::ConstantLike>() || isa<tensor::EmptyOp, linalg::FillOp>(def));
}

StorageProblem::StorageProblem(FunctionDecisions &decisions, const StoragePermissions &permissions,
                               const AssignSettings &settings)
    : decisions(decisions), permissions(permissions), costs(settings.costs),
      options(settings.placement), groups(decisions.getFunction()), sizes(options.assumedDim) {
  typeOf(Float32Type::get(decisions.getFunction()->getContext()));
  for (auto &[op, decision] : decisions.getOps()) {
    if (decisions.isNarrowContraction(op) && !decision.compute.isTF32())
      typeOf(decision.compute);
    if (decision.resultStorage)
      typeOf(decision.resultStorage);
  }
  for (const StorageGang &gang : decisions.getCarried().gangs.getAll())
    if (FloatType format = decisions.getCarried().lookup(&gang); format && !format.isF32())
      typeOf(format);
  // Totals stay below 2^60 (Problem.h): each op makes a handful of terms, each paid as often as it runs.
  uint64_t terms = 16;
  for (auto &[op, decision] : decisions.getOps())
    terms = llvm::SaturatingAdd<uint64_t>(
        terms, sizes.countRuns(op) * 4 * (op->getNumOperands() + op->getNumResults() + 1));
  largestCost = std::max<int64_t>((int64_t(1) << 59) / terms, 1);
  for (auto &[op, decision] : decisions.getOps())
    addOp(op, decision);
  addBoundaries();
}

StorageProblem::TypeId StorageProblem::typeOf(FloatType format) {
  auto *known = llvm::find(formats, format);
  if (known != formats.end())
    return known - formats.begin();
  formats.push_back(format);
  return problem.addType(nameOf(format));
}

StorageProblem::TypeId StorageProblem::narrowTypeOf(Value value) {
  FloatType format = permissions.getNarrow(value);
  return format ? typeOf(format) : wide;
}

bool StorageProblem::isTracked(Value value) const {
  auto tensor = dyn_cast<TensorType>(value.getType());
  return tensor && tensor.getElementType().isF32();
}

ValueId StorageProblem::getValue(Value value) {
  auto [known, isNew] = values.try_emplace(value, problem.values.size());
  if (!isNew)
    return known->second;
  std::string name;
  llvm::raw_string_ostream os(name);
  if (auto result = dyn_cast<OpResult>(value))
    os << result.getOwner()->getName() << '#' << result.getResultNumber();
  else
    os << "argument " << cast<BlockArgument>(value).getArgNumber();
  SmallVector<assignment::CastCost, 2> casts;
  for (TypeId from = 0; from < formats.size(); ++from)
    for (TypeId to = 0; to < formats.size(); ++to) {
      // Where contractions are free to stay wide, a value that only they round must not reach them
      // rounded.
      bool forbidden = options.neverSlower && to == wide && permissions.getLossless(value);
      if (from != to)
        casts.push_back({from, to, forbidden ? largestCost : costOfCast(value, from, to)});
    }
  ValueId id = problem.addValue(name, casts, isMadeInAnyFormat(value));
  trackedValues.push_back(value);
  // What no decided op defines keeps its format: arguments, and results of undecided ops.
  Operation *def = value.getDefiningOp();
  if (!def || !decisions.find(def)) {
    Node node;
    node.name = name;
    node.results = {id};
    TypeId carried = typeOf(decisions.getStorage(value));
    node.variants.push_back(
        {problem.types[carried], {}, {carried}, capped(costOfStoring(value, carried)), 0});
    add(std::move(node), nullptr, Paint::Deny);
  }
  return id;
}

void StorageProblem::add(Node node, Operation *op, Paint paint) {
  if (op && !options.memory)
    node.frequency = sizes.countRuns(op);
  problem.addNode(std::move(node));
  ops.push_back(op);
  paints.push_back(paint);
}

static Paint getPaint(OpClass opClass) {
  switch (opClass) {
  case OpClass::TensorCore: return Paint::Allow;
  case OpClass::Follow:
  case OpClass::RangeConditional: return Paint::Infer;
  case OpClass::ExactCommute: return Paint::Clear;
  default: return Paint::Deny;
  }
}

void StorageProblem::addOp(Operation *op, const Decision &decision) {
  Node node;
  node.name = op->getName().getStringRef();
  for (Value operand : op->getOperands())
    if (isTracked(operand))
      node.operands.push_back(getValue(operand));
  for (Value result : op->getResults())
    if (isTracked(result))
      node.results.push_back(getValue(result));
  if (node.operands.empty() && node.results.empty())
    return;
  if (decision.opClass == OpClass::TensorCore)
    addContraction(op, decision, node);
  else if (decision.followsStorage() &&
           (options.neverSlower || (getKernelKind(op) != KernelKind::Elementwise &&
                                    getKernelKind(op) != KernelKind::Reduction)))
    addMover(op, node);
  else
    addComputing(op, decision, node);
  add(std::move(node), op, getPaint(decision.opClass));
}

/// As decided, or with `neverSlower` also wide; its result may be stored narrow besides, by a cast
/// behind it. TOSA convolutions have one format for everything.
void StorageProblem::addContraction(Operation *op, const Decision &decision, Node &node) {
  auto interface = cast<PrecisionOpInterface>(op);
  bool isNarrow = decisions.isNarrowContraction(op);
  auto variant = [&](bool computesNarrow, TypeId stored) {
    TypeId factors = computesNarrow && !decision.compute.isTF32() ? typeOf(decision.compute) : wide;
    bool uniform = decision.rule == TypeRule::Uniform;
    FloatType format = computesNarrow ? decision.compute : formats[wide];
    Variant v{nameOf(format), {}, {}, costOfContraction(op, format, factors), 0};
    for (OpOperand &operand : op->getOpOperands()) {
      OperandRole role = interface.getOperandRole(operand.getOperandNumber());
      if (isTracked(operand.get()))
        v.in.push_back(uniform || role == OperandRole::Factor || role == OperandRole::Data ? factors
                                                                                          : wide);
    }
    for (Value result : op->getResults()) {
      if (!isTracked(result))
        continue;
      TypeId type = uniform ? factors : stored;
      v.out.push_back(type);
      v.cost += costOfStoring(result, type);
      if (type != wide && !uniform)
        v.cost += costOfCast(result, wide, type);
    }
    v.cost = capped(v.cost);
    node.variants.push_back(std::move(v));
  };
  variant(false, wide);
  if (!isNarrow)
    return;
  if (!options.neverSlower || decision.origin != Origin::Class) {
    wideContractions.emplace_back(problem.nodes.size(), node.variants.front());
    node.variants.clear();
  }
  TypeId narrow = op->getNumResults() == 1 ? narrowTypeOf(op->getResult(0)) : wide;
  if (!decision.resultStorage || decision.rule == TypeRule::Uniform)
    variant(true, wide);
  if (narrow != wide && decision.rule != TypeRule::Uniform)
    variant(true, narrow);
}

/// Constants cost nothing either way: they are narrow where every use rounds them.
bool StorageProblem::isMadeNarrow(Operation *op) const {
  return op->getNumResults() > 0 && llvm::all_of(op->getResults(), [&](Value result) {
    return isMadeInAnyFormat(result) && permissions.getLossless(result);
  });
}

/// Moves data in whatever format it has: all of it wide, or all narrow.
void StorageProblem::addMover(Operation *op, Node &node) {
  bool isView = getKernelKind(op) == KernelKind::View, isNone = getKernelKind(op) == KernelKind::None;
  auto variant = [&](TypeId type) {
    Variant v{problem.types[type], {}, {}, 0, 0};
    v.in.assign(node.operands.size(), type);
    v.out.assign(node.results.size(), type);
    for (Value operand : op->getOperands())
      if (isTracked(operand) && !isView && !isNone && !options.memory)
        v.cost += costOfBytes(operand, type);
    for (Value result : op->getResults())
      if (isTracked(result))
        v.cost += costOfStoring(result, type);
    v.cost = capped(v.cost + (isView || isNone ? 0 : costOfLaunch()));
    node.variants.push_back(std::move(v));
  };
  TypeId narrow = op->getNumResults() > 0 ? narrowTypeOf(op->getResult(0)) : wide;
  for (Value result : op->getResults())
    if (narrowTypeOf(result) != narrow)
      narrow = wide;
  if (narrow == wide || !(isMadeNarrow(op) || decisions.find(op)->resultStorage))
    variant(wide);
  if (narrow != wide)
    variant(narrow);
}

/// Computes in f32 what it reads; stores each result wide or, where permitted, narrow.
void StorageProblem::addComputing(Operation *op, const Decision &decision, Node &node) {
  KernelKind kind = getKernelKind(op);
  auto variant = [&](bool storesNarrow) {
    Variant v{storesNarrow ? "narrow" : "f32", {}, {}, 0, 0};
    for (OpOperand &operand : op->getOpOperands())
      if (isTracked(operand.get()))
        v.in.push_back(readsAnyType(operand) ? assignment::anyType : typeTakenBy(operand));
    for (Value result : op->getResults()) {
      if (!isTracked(result))
        continue;
      TypeId type = storesNarrow ? narrowTypeOf(result) : typeOf(decisions.getStorage(result));
      v.out.push_back(type);
      v.cost += costOfStoring(result, type);
      if (storesNarrow && type != wide && kind != KernelKind::Elementwise && !isMadeInAnyFormat(result))
        v.cost += costOfCast(result, wide, type);
    }
    if (kind != KernelKind::None && groups.getRoot(op) == op)
      v.cost += costOfLaunch();
    v.cost = capped(v.cost);
    node.variants.push_back(std::move(v));
  };
  if (isMadeNarrow(op) || decision.resultStorage)
    return variant(true);
  variant(false);
  // What never leaves a kernel gains nothing by being narrow.
  bool may = decision.rule != TypeRule::Container &&
             llvm::any_of(op->getResults(), [&](Value result) {
               return permissions.getNarrow(result) && !groups.isInternal(result);
             });
  if (may)
    variant(true);
}

void StorageProblem::addBoundaries() {
  llvm::MapVector<Operation *, Node> boundaries;
  for (size_t id = 0; id < trackedValues.size(); ++id)
    for (OpOperand &use : trackedValues[id].getUses())
      if (!decisions.find(use.getOwner())) {
        Node &node = boundaries[use.getOwner()];
        node.name = use.getOwner()->getName().getStringRef();
        if (node.variants.empty())
          node.variants.push_back({"f32", {}, {}, 0, 0});
        node.operands.push_back(id);
        node.variants.front().in.push_back(typeTakenBy(use));
      }
  for (auto &[user, node] : boundaries)
    add(std::move(node), user, Paint::Deny);
}

StorageProblem::TypeId StorageProblem::typeTakenBy(OpOperand &use) {
  FloatType taken = decisions.getTakenFormat(use);
  return taken ? typeOf(taken) : wide;
}

bool StorageProblem::readsAnyType(OpOperand &use) const {
  const Decision *decision = decisions.find(use.getOwner());
  KernelKind kind = getKernelKind(use.getOwner());
  return decision && !decision->keepsStorage &&
         (kind == KernelKind::Elementwise || kind == KernelKind::Reduction);
}

int64_t StorageProblem::costOfBytes(Value value, TypeId type) {
  uint64_t bytes = sizes.countBytes(value, bitsOf(type));
  return capped(options.memory ? int64_t(std::min<uint64_t>(bytes, largestCost))
                               : costs.memoryTime(bytes));
}

int64_t StorageProblem::costOfCast(Value value, TypeId from, TypeId to) {
  if (options.memory)
    return costOfBytes(value, to);
  return capped(costs.castTime(sizes.countElements(value), bitsOf(from), bitsOf(to)));
}

int64_t StorageProblem::costOfStoring(Value value, TypeId type) {
  Operation *def = value.getDefiningOp();
  if (groups.isInternal(value) || isMadeInAnyFormat(value))
    return 0;
  bool isWritten = def && getKernelKind(def) != KernelKind::View &&
                   getKernelKind(def) != KernelKind::None &&
                   getKernelKind(def) != KernelKind::Contraction; // counted in its roofline
  int64_t bytes = costOfBytes(value, type);
  if (options.memory)
    return def && getKernelKind(def) != KernelKind::View ? bytes : 0;
  llvm::SmallSetVector<Operation *, 4> readers; // kernels
  for (OpOperand &use : value.getUses())
    if (readsAnyType(use) && (!def || groups.getRoot(use.getOwner()) != groups.getRoot(def)))
      if (auto interface = dyn_cast<PrecisionOpInterface>(use.getOwner());
          !interface || interface.getOperandRole(use.getOperandNumber()) != OperandRole::Init)
        readers.insert(groups.getRoot(use.getOwner()));
  int64_t runs = def ? sizes.countRuns(def) : 1, reads = 0;
  for (Operation *reader : readers)
    reads += sizes.countRuns(reader);
  return capped((isWritten ? bytes : 0) + bytes * llvm::divideCeil(reads, runs));
}

int64_t StorageProblem::costOfContraction(Operation *op, FloatType format, TypeId factors) {
  if (options.memory)
    return 0;
  auto interface = cast<PrecisionOpInterface>(op);
  uint64_t bytes = 0;
  for (OpOperand &operand : op->getOpOperands())
    if (FloatType own = getFloatFormat(operand.get().getType());
        own && interface.getOperandRole(operand.getOperandNumber()) == OperandRole::Factor)
      bytes = llvm::SaturatingAdd(
          bytes, sizes.countBytes(operand.get(), own.isF32() ? bitsOf(factors) : own.getWidth()));
  for (Value result : op->getResults())
    if (FloatType own = getFloatFormat(result.getType()))
      bytes = llvm::SaturatingAdd(bytes, sizes.countBytes(result, own.getWidth()));
  uint64_t products = sizes.countMultiplyAdds(op);
  std::optional<int64_t> time = costs.contractionTime(nameOf(format), "", products, bytes);
  return capped(time.value_or(costs.elementwiseTime(products, bytes)));
}

/// True if an op that commutes with rounding had better run in the narrow format: all its data are
/// stored so, or there is but one piece of data, which is then rounded on the way in.
bool StorageProblem::runsNarrow(Operation *op, const Decision &decision) const {
  if (!decision.followsStorage() || op->getNumResults() == 0)
    return false;
  FloatType format = decisions.getStorage(op->getResult(0));
  for (Value result : op->getResults())
    if (!isTracked(result) || decisions.getStorage(result) != format)
      return false;
  if (format.isF32())
    return false;
  unsigned stillWide = 0, data = 0;
  for (Value operand : op->getOperands()) {
    if (!isTracked(operand) || isMadeInAnyFormat(operand))
      continue;
    ++data;
    stillWide += decisions.getStorage(operand) != format;
  }
  return stillWide == 0 || data == 1;
}

int64_t StorageProblem::costBefore() const {
  assignment::Problem before = problem;
  for (auto &[node, variant] : wideContractions)
    before.nodes[node].variants = {variant};
  return evaluate(before, assignment::Labels(before.nodes.size(), 0)).cost;
}

int64_t StorageProblem::apply(const assignment::Labels &labels) {
  int64_t extra = 0;
  for (NodeId id = 0; id < labels.size(); ++id) {
    const Node &node = problem.nodes[id];
    Decision *contraction = ops[id] ? decisions.find(ops[id]) : nullptr;
    if (contraction && options.neverSlower && contraction->origin == Origin::Class &&
        decisions.isNarrowContraction(ops[id]) && labels[id] == 0)
      contraction->decide(formats[wide], Origin::Cost,
                          "T, but its casts would cost more than it saves");
    for (auto [value, type] : llvm::zip_equal(node.results, node.variants[labels[id]].out)) {
      Value result = trackedValues[value];
      if (type == wide || decisions.getStorage(result) == formats[type])
        continue;
      decisions.setStorage(result, formats[type]);
      if (permissions.getLossless(result))
        continue;
      ++extra;
      Decision *decision = decisions.find(ops[id]);
      decision->decide(decision->compute, Origin::Cost,
                       "stored narrow to move less; it carries a rounding already");
    }
  }
  // Inside a kernel nothing is gained or lost by where a value is rounded that every use rounds:
  // moves and selections run on rounded values.
  for (auto &[op, decision] : llvm::reverse(decisions.getOps())) {
    if (!runsNarrow(op, decision))
      continue;
    decision.compute = decisions.getStorage(op->getResult(0));
    for (Value operand : op->getOperands())
      if (permissions.getLossless(operand) == decision.compute && groups.isInternal(operand))
        decisions.setStorage(operand, decision.compute);
  }
  return extra;
}
