// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a function as an assignment problem; StorageAnswer.cpp applies the answer.

#include "StorageProblem.h"
#include "mp/Interfaces/Contraction.h"

using namespace mlir;
using namespace mlir::mp;
using assignment::Node;
using assignment::NodeId;
using assignment::Paint;
using assignment::ValueId;
using assignment::Variant;

StorageProblem::StorageProblem(FunctionDecisions &decisions, const StoragePermissions &permissions,
                               StorageCosts &costs, const ErrorShares &errors,
                               const OperandSchemes *schemes, const PlacementOptions &options)
    : decisions(decisions), permissions(permissions), costs(costs), errors(errors),
      options(options), schemes(schemes) {
  typeOf(Float32Type::get(decisions.getFunction()->getContext()));
  for (auto &[op, decision] : decisions.getOps()) {
    if (decisions.isNarrowContraction(op, decision) && !decision.compute.isTF32())
      typeOf(decision.compute);
    if (decision.resultStorage)
      typeOf(decision.resultStorage);
    if (decision.split || decision.magnitudes || decision.scaled ||
        (options.freesContractions() && decision.opClass == OpClass::TensorCore))
      for (const ComputeChoice &choice : getChoices(op, decision))
        typeOfFactors(choice);
  }
  for (BlockArgument argument : decisions.getFunction().getArguments())
    if (isTracked(argument))
      typeOf(decisions.getStorage(argument));
  for (const TiedValues &tied : decisions.getCarried().ties.getAll())
    if (FloatType format = decisions.getCarried().lookup(&tied); format && !format.isF32())
      typeOf(format);
  // Besides the ops there are arguments and terminators: without room for them all would move and
  // leave as much memory unused.
  size_t room = decisions.getOps().size() + decisions.getOps().size() / 16 + 64;
  problem.nodes.reserve(room);
  problem.values.reserve(room);
  ops.reserve(room);
  paints.reserve(room);
  trackedValues.reserve(room);
  values.reserve(room);
  for (auto &[op, decision] : decisions.getOps())
    addOp(op, decision);
  addBoundaries();
  computeCostBefore();
  if (options.freesContractions())
    forbidLosses(problem);
  problem.errorBudget = errors.getBudget();
  if (options.maxTime > 0)
    problem.costBudget = options.maxTime;
}

StorageProblem::TypeId StorageProblem::typeOf(FloatType format) {
  auto *known = llvm::find(formats, format);
  if (known != formats.end())
    return known - formats.begin();
  formats.push_back(format);
  bitsOfParts.push_back(0);
  recipes.push_back(nullptr);
  return problem.addType(getFormatName(format));
}

StorageProblem::TypeId StorageProblem::typeOf(numerics::SplitScheme scheme) {
  FloatType part = getPartType(formats[wide].getContext(), scheme);
  unsigned parts = numerics::partCount(scheme);
  std::string name = (Twine(parts) + " parts of " + getFormatName(part)).str();
  auto known = llvm::find(problem.types, name);
  if (known != problem.types.end())
    return known - problem.types.begin();
  formats.push_back(formats[wide]);
  bitsOfParts.push_back(parts * (part.isTF32() ? 32 : part.getWidth()));
  recipes.push_back(nullptr);
  return problem.addType(name);
}

StorageProblem::TypeId StorageProblem::typeOf(const numerics::Recipe &recipe) {
  if (auto *known = llvm::find(recipes, &recipe); known != recipes.end())
    return known - recipes.begin();
  formats.push_back(formats[wide]);
  bitsOfParts.push_back(0);
  recipes.push_back(&recipe);
  return problem.addType("scaled as " + recipe.name.str());
}

int64_t StorageProblem::costOfMaking(Value value, TypeId type) const {
  if (isSplit(type))
    return costs.ofSplit(value, bitsOfParts[type]);
  bool isMeasured =
      recipes[type]->name != kScaledName || llvm::any_of(value.getUses(), [&](OpOperand &use) {
        const Decision *decision = decisions.find(use.getOwner());
        auto view =
            decision && decision->magnitudes ? viewContraction(use.getOwner()) : std::nullopt;
        return view && ((view->a == &use && (*decision->magnitudes)[0] == 0) ||
                        (view->b == &use && (*decision->magnitudes)[1] == 0));
      });
  return costs.ofScaled(
      value, floatTypeOf(value.getContext(), recipes[type]->activation->code.floatFormat()),
      isMeasured);
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
  if (auto result = dyn_cast<OpResult>(value)) {
    name = result.getOwner()->getName().getStringRef();
    if (result.getOwner()->getNumResults() > 1)
      name += "#" + std::to_string(result.getResultNumber());
  } else {
    name = "argument " + std::to_string(cast<BlockArgument>(value).getArgNumber());
  }
  SmallVector<assignment::CastCost, 2> casts;
  for (TypeId from = 0; from < formats.size(); ++from)
    for (TypeId to = 0; to < formats.size(); ++to)
      if (from != to && !isMadeFromWide(from))
        casts.push_back({from, to,
                         isMadeFromWide(to) ? costOfMaking(value, to)
                                            : costs.ofCast(value, formats[from], formats[to])});
  ValueId id = problem.addValue(name, casts, costs.isMadeInAnyFormat(value));
  trackedValues.push_back(value);
  // Values that no decided op defines keep their format: arguments, and results of undecided ops.
  Operation *def = value.getDefiningOp();
  if (!def || !decisions.find(def)) {
    TypeId carried = typeOf(decisions.getStorage(value));
    Node &node = addNode(nullptr, Paint::Deny);
    node.name = name;
    node.results = {id};
    node.variants.push_back(
        {problem.types[carried], {}, {carried}, costs.ofStoring(value, formats[carried]), 0});
  }
  return id;
}

Node &StorageProblem::addNode(Operation *op, Paint paint) {
  Node &node = problem.nodes.emplace_back();
  if (op && !costs.countsMemory())
    node.frequency = costs.getSizes().countRuns(op);
  ops.push_back(op);
  choices.emplace_back();
  paints.push_back(paint);
  return node;
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
  SmallVector<ValueId> operands, results; // some make nodes of their own
  for (Value operand : op->getOperands())
    if (isTracked(operand))
      operands.push_back(getValue(operand));
  for (Value result : op->getResults())
    if (isTracked(result))
      results.push_back(getValue(result));
  if (operands.empty() && results.empty())
    return;
  Node &node = addNode(op, getPaint(decision.opClass));
  node.name = op->getName().getStringRef();
  node.operands.append(operands);
  node.results.append(results);
  if (decision.opClass == OpClass::TensorCore)
    addContraction(op, decision, node);
  else if (decision.followsStorage() && !computesInRegisters(costs.getKind(op)))
    addMover(op, node);
  else
    addComputing(op, decision, node);
}

/// Computes as decided or, where free, in a wider format; its result may be stored narrow besides,
/// by a cast behind it. TOSA convolutions have one format for everything.
void StorageProblem::addContraction(Operation *op, const Decision &decision, Node &node) {
  PrecisionOpInterface interface = decision.interface;
  bool isUniform = decision.rule == TypeRule::Uniform;
  auto makeVariant = [&](const ComputeChoice &choice, TypeId stored) {
    TypeId factors = typeOfFactors(choice);
    TypeId uniform = isMadeFromWide(factors) ? wide : factors;
    Variant v{choice.getName(), {}, {}, getCost(op, choice), errors.of(op, choice)};
    for (OpOperand &operand : op->getOpOperands()) {
      OperandRole role = interface.getOperandRole(operand.getOperandNumber());
      if (isTracked(operand.get()))
        v.in.push_back(role == OperandRole::Factor              ? factors
                       : isUniform || role == OperandRole::Data ? uniform
                                                                : wide);
    }
    for (Value result : op->getResults()) {
      if (!isTracked(result))
        continue;
      TypeId type = isUniform ? uniform : stored;
      v.out.push_back(type);
      v.cost += costs.ofStoring(result, formats[type]);
      if (type != wide && !isUniform)
        v.cost += costs.ofNarrowing(op, choice.format, formats[type]);
    }
    v.cost = costs.capped(v.cost);
    return v;
  };
  SmallVector<ComputeChoice, 4> offered = getChoices(op, decision);
  auto add = [&](const ComputeChoice &choice, TypeId stored) {
    node.variants.push_back(makeVariant(choice, stored));
    choices.back().push_back(choice);
  };
  TypeId narrow = op->getNumResults() == 1 && !isUniform ? narrowTypeOf(op->getResult(0)) : wide;
  bool isNarrow = !offered.back().format.isF32(),
       mustStore = decision.resultStorage && narrow != wide;
  for (const ComputeChoice &choice : offered)
    add(choice, mustStore ? narrow : wide);
  if (!mustStore && isNarrow && narrow != wide)
    add(offered.back(), narrow);
  if ((isNarrow || decision.split || decision.scaled) && !isFree(decision))
    wideContractions.emplace_back(problem.nodes.size() - 1, makeVariant({formats[wide]}, wide));
}

/// Constants cost nothing either way: they are narrow where every use rounds them. Which uses do is
/// known beforehand, unless contractions are free to compute in f32 (applyConstants()).
std::optional<bool> StorageProblem::isMadeNarrow(Operation *op) const {
  bool mayBe = op->getNumResults() > 0 && llvm::all_of(op->getResults(), [&](Value result) {
                 return costs.isMadeInAnyFormat(result) && permissions.getNarrow(result);
               });
  if (!mayBe || decisions.find(op)->resultStorage)
    return std::nullopt;
  return !options.freesContractions();
}

/// Moves data in whatever format it has: all of it wide, or all narrow.
void StorageProblem::addMover(Operation *op, Node &node) {
  bool isView = costs.showsOperand(op), isNone = costs.getKind(op) == KernelKind::None;
  auto variant = [&](TypeId type) {
    Variant v{problem.types[type], {}, {}, 0, 0};
    v.in.assign(node.operands.size(), type);
    v.out.assign(node.results.size(), type);
    for (Value operand : op->getOperands())
      if (isTracked(operand) && !isView && !isNone && !costs.countsMemory())
        v.cost += costs.ofBytes(operand, formats[type]);
    for (Value result : op->getResults())
      if (isTracked(result))
        v.cost += costs.ofStoring(result, formats[type]);
    v.cost = costs.capped(v.cost + costs.ofFirst(op));
    node.variants.push_back(std::move(v));
  };
  TypeId narrow = op->getNumResults() > 0 ? narrowTypeOf(op->getResult(0)) : wide;
  for (Value result : op->getResults())
    if (narrowTypeOf(result) != narrow)
      narrow = wide;
  std::optional<bool> isMade = isMadeNarrow(op);
  if (narrow == wide || !isMade.value_or(bool(decisions.find(op)->resultStorage)))
    variant(wide);
  if (narrow != wide && isMade.value_or(true))
    variant(narrow);
}

/// Computes in f32 what it reads; stores each result wide or, where permitted, narrow. What only
/// picks values would pass on a rounding of its operands: what it stores wide it reads wide.
void StorageProblem::addComputing(Operation *op, const Decision &decision, Node &node) {
  KernelKind kind = costs.getKind(op);
  bool convertsInRegisters = costs.readsAnyFormat(op);
  auto variant = [&](bool storesNarrow) {
    Variant &v = node.variants.emplace_back();
    v.name = storesNarrow ? "narrow" : "f32";
    bool readsAny = convertsInRegisters && (storesNarrow || !decision.followsStorage());
    for (OpOperand &operand : op->getOpOperands())
      if (isTracked(operand.get()))
        v.in.push_back(readsAny ? assignment::anyType : typeTakenBy(operand));
    for (Value result : op->getResults()) {
      if (!isTracked(result))
        continue;
      TypeId type = storesNarrow ? narrowTypeOf(result) : typeOf(decisions.getStorage(result));
      v.out.push_back(type);
      v.cost += costs.ofStoring(result, formats[type]);
      if (storesNarrow && type != wide && !computesInRegisters(kind) &&
          !costs.isMadeInAnyFormat(result))
        v.cost += costs.ofCast(result, formats[wide], formats[type]);
    }
    v.cost = costs.capped(v.cost + costs.ofFirst(op));
  };
  std::optional<bool> isMade = isMadeNarrow(op);
  if (isMade.value_or(bool(decision.resultStorage)))
    return variant(true);
  variant(false);
  if (isMade)
    return;
  // A value that never leaves a kernel gains nothing by being narrow, but may have to hand it on.
  bool may =
      decision.rule != TypeRule::Container && llvm::any_of(op->getResults(), [&](Value result) {
        return permissions.getNarrow(result) &&
               (decision.followsStorage() || !costs.isInternal(result));
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
  for (auto &[user, node] : boundaries) {
    Node &added = addNode(user, Paint::Deny);
    node.frequency = added.frequency;
    added = std::move(node);
  }
}

StorageProblem::TypeId StorageProblem::typeTakenBy(OpOperand &use) {
  FloatType taken = decisions.getTakenFormat(use);
  return taken ? typeOf(taken) : wide;
}

void StorageProblem::computeCostBefore() {
  for (auto &[node, variant] : wideContractions)
    problem.nodes[node].variants.insert(problem.nodes[node].variants.begin(), variant);
  costBefore = evaluate(problem, assignment::Labels(problem.nodes.size(), 0)).cost;
  for (auto &[node, variant] : wideContractions)
    problem.nodes[node].variants.erase(problem.nodes[node].variants.begin());
}

/// If a contraction is free to stay in f32, a value that only it would have rounded must not reach
/// it rounded: casting that back costs more than everything in f32, which no optimum pays. A
/// contraction of one format gives what it computes: nothing is lost by casting that back.
void StorageProblem::forbidLosses(assignment::Problem &of) const {
  auto isOfOneFormat = [&](Value value) {
    Decision *decision = value.getDefiningOp() ? decisions.find(value.getDefiningOp()) : nullptr;
    return decision && decision->opClass == OpClass::TensorCore &&
           decision->rule == TypeRule::Uniform;
  };
  for (auto [id, value] : llvm::enumerate(trackedValues))
    if (!isOfOneFormat(value) &&
        (permissions.getNarrow(value) || !decisions.getStorage(value).isF32()))
      for (assignment::CastCost &cast : of.values[id].casts)
        if (cast.from != wide && (cast.to == wide || isMadeFromWide(cast.to)))
          cast.cost = std::max(cast.cost, costBefore + 1);
}
