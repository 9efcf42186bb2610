// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The seed of the backward pass, and the gradients: where the optimizer takes over.

#include "mp/Analysis/Training/TrainingRoles.h"
#include "StateReach.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mp/Interfaces/PrecisionOpInterface.h"

using namespace mlir;
using namespace mlir::mp;

const TrainingState *TrainingRoles::ofArgument(unsigned argument) const {
  auto it = llvm::find_if(state, [&](auto &s) { return s.argument == argument; });
  return it == state.end() ? nullptr : &*it;
}

FailureOr<func::FuncOp> mlir::mp::findTrainStep(ModuleOp module, StringRef name, StringRef who) {
  SmallVector<func::FuncOp> candidates;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && function.isPublic() && !function->hasAttr(kInitOfAttrName))
      candidates.push_back(function);
  std::string names;
  for (func::FuncOp function : candidates) {
    if (function.getName() == name || (name.empty() && function.getName() == "main"))
      return function;
    names += (names.empty() ? "@" : ", @") + function.getName().str();
  }
  if (name.empty() && candidates.size() == 1)
    return candidates.front();
  if (names.empty())
    names = "none";
  if (name.empty())
    return module.emitError() << who << ": which public function is the train step? Say "
                              << "'function=NAME'; there are " << names;
  return module.emitError() << who << ": option 'function' is '" << name
                            << "', expected a public function; there are " << names;
}

void mlir::mp::annotateRoles(func::FuncOp function, const TrainingRoles &roles) {
  Builder builder(function.getContext());
  for (const TrainingState &s : roles.state) {
    function.setArgAttr(s.argument, kRoleAttrName, builder.getStringAttr(s.role));
    function.setArgAttr(s.argument, kStateAttrName, builder.getI64IntegerAttr(s.result));
  }
  for (Operation *op : roles.optimizerContractions)
    if (!op->hasAttr(kPinAttrName) && op->getNumResults() == 1)
      op->setAttr(kPinAttrName, TypeAttr::get(getElementTypeOrSelf(op->getResult(0).getType())));
}

FailureOr<TrainStep> mlir::mp::annotateTrainStep(ModuleOp module, StringRef name, StringRef who) {
  FailureOr<func::FuncOp> function = findTrainStep(module, name, who);
  if (failed(function))
    return failure();
  FailureOr<TrainingRoles> roles = findTrainingRoles(*function);
  if (failed(roles))
    return failure();
  annotateRoles(*function, *roles);
  return TrainStep{*function, std::move(*roles)};
}

/// The results of the ops that say they are a seed.
static FailureOr<SmallVector<Value>> findPinnedSeeds(func::FuncOp function) {
  SmallVector<Value> pinned;
  WalkResult walk = function.walk([&](Operation *op) {
    auto role = op->getAttrOfType<StringAttr>(kRoleAttrName);
    if (!role || role.getValue() != kRoleSeed)
      return WalkResult::advance();
    if (op->getNumResults() != 1 || !getFloatFormat(op->getResult(0).getType()))
      return WalkResult(op->emitError("is called the seed, but has ")
                        << op->getNumResults() << " results, expected one of floats");
    pinned.push_back(op->getResult(0));
    return WalkResult::advance();
  });
  return walk.wasInterrupted() ? FailureOr<SmallVector<Value>>(failure()) : pinned;
}

namespace {
/// Divides what the seeds scale into backward pass and optimizer. A scaled value belongs
/// to the optimizer ("after the gradient") if only the optimizer uses it and it is none
/// of the sums the backward pass ends in; gradients are what the optimizer takes from
/// elsewhere.
class GradientFinder {
public:
  GradientFinder(func::FuncOp function, ArrayRef<Value> seeds,
                 const HomogeneityGraph::Degrees &degrees,
                 ArrayRef<Operation *> contractionsOfGradients)
      : block(function.getBody().front()), seeds(seeds), degrees(degrees) {
    SmallVector<Value> contracted;
    for (Operation *op : contractionsOfGradients)
      llvm::append_range(contracted, op->getResults());
    ofOptimizer = forwardSlice(contracted);
  }

  FailureOr<SmallVector<Gradient>> find() {
    for (Operation &op : llvm::reverse(block))
      for (Value result : op.getResults())
        if (degrees.of(result).isScaled() && !endsBackward(result) && onlyOptimizerUses(result))
          afterGradient.insert(result);
    SmallVector<Gradient> gradients;
    for (Operation &op : block)
      for (Value result : op.getResults()) {
        if (!degrees.of(result).isScaled() || afterGradient.contains(result))
          continue;
        Gradient gradient{result, {}};
        for (OpOperand &use : result.getUses())
          if (takes(block.findAncestorOpInBlock(*use.getOwner())) == Takes::Optimizer)
            gradient.uses.push_back(&use);
        if (gradient.uses.empty())
          continue;
        if (!degrees.of(result).is(1))
          return gradient.uses.front()->getOwner()->emitError("takes a value of degree ")
                 << degrees.of(result).str()
                 << " in the gradient from the backward pass, expected a gradient (degree 1): "
                    "write 'mp.role = \"seed\"' on the op that begins the backward pass";
        gradients.push_back(std::move(gradient));
      }
    return gradients;
  }

private:
  enum class Takes { Optimizer, Backward, Either };

  /// Returns the side of the step that an op which uses a scaled value is on.
  Takes takes(Operation *op) const {
    if (op->hasTrait<OpTrait::IsTerminator>() || degrees.loses(op))
      return Takes::Optimizer;
    bool anyScaled = false;
    for (Value result : op->getResults()) {
      if (!degrees.of(result).isScaled())
        continue;
      anyScaled = true;
      if (!afterGradient.contains(result))
        return Takes::Backward;
    }
    // A comparison with zero does not care for the scale.
    return anyScaled ? Takes::Optimizer : Takes::Either;
  }

  bool onlyOptimizerUses(Value value) const {
    bool any = false;
    for (Operation *user : value.getUsers()) {
      Takes side = takes(block.findAncestorOpInBlock(*user));
      if (side == Takes::Backward)
        return false;
      any |= side == Takes::Optimizer;
    }
    return any;
  }

  /// A contraction, a reduction, an accumulation of gradients, or a seed itself.
  bool endsBackward(Value value) const {
    if (!degrees.of(value).is(1) || ofOptimizer.contains(value))
      return false;
    Operation *op = value.getDefiningOp();
    OpClass opClass = getOpClass(op);
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (llvm::is_contained(seeds, value) || opClass == OpClass::TensorCore ||
        opClass == OpClass::Accumulate || (op->getNumRegions() && !structured) ||
        (structured && structured.getNumReductionLoops() > 0))
      return true;
    return llvm::count_if(op->getOperands(), [&](Value v) { return degrees.of(v).is(1); }) > 1;
  }

  Block &block;
  ArrayRef<Value> seeds;
  const HomogeneityGraph::Degrees &degrees;
  llvm::DenseSet<Value> ofOptimizer; ///< what it contracts gradients to, whatever their degree
  llvm::DenseSet<Value> afterGradient;
};
} // namespace

/// A step in which every contraction is in a loop may be several steps.
static void explainLoop(InFlightDiagnostic &diag, func::FuncOp function) {
  for (Operation &op : function.getBody().front()) {
    bool trains = isa<LoopLikeOpInterface>(op) &&
                  op.walk([](Operation *inner) {
                      return getOpClass(inner) == OpClass::TensorCore ? WalkResult::interrupt()
                                                                      : WalkResult::advance();
                    }).wasInterrupted();
    if (trains)
      diag.attachNote(op.getLoc()) << "contractions are in this loop: if it carries what it trains "
                                      "from one iteration to the "
                                      "next, make its body the train step, and call that as often";
  }
}

namespace {
/// The roles that follow from seeds.
struct RolesOfSeeds {
  TrainingRoles roles;
  /// Parameters that none of the seeds reaches.
  SmallVector<TrainingState> unreached;
  /// Every parameter is replaced by what is computed from a scaled value in its place. Where it is
  /// not, the optimizer contracts, or only a norm of all gradients connects the parameter with the
  /// seeds.
  bool scalesAll = true;

  bool reachesAll() const { return unreached.empty(); }
};
} // namespace

static FailureOr<RolesOfSeeds> rolesFrom(func::FuncOp function, const HomogeneityGraph &graph,
                                         ArrayRef<Value> seeds, HomogeneityGraph::Beyond beyond,
                                         ArrayRef<Value> handedOver = {}) {
  HomogeneityGraph::Degrees degrees =
      graph.propagate(seeds, /*stopWhenLost=*/false, beyond, handedOver);
  if (Operation *lost = degrees.lostContraction()) {
    InFlightDiagnostic diag = lost->emitError("does not scale with the seed: the backward pass "
                                              "must be linear in it up to here");
    diag.attachNote(seeds.front().getLoc()) << "called the seed here";
    return diag;
  }
  RolesOfSeeds found;
  TrainingRoles &roles = found.roles;
  roles.seeds.assign(seeds.begin(), seeds.end());
  roles.phases.emplace_back(seeds);
  roles.handedOver.assign(handedOver.begin(), handedOver.end());
  roles.contractions = graph.numContractions();
  roles.scaledContractions = degrees.scaledContractions();
  FailureOr<SmallVector<TrainingState>> state =
      findTrainingState(function, degrees, seeds, handedOver);
  if (failed(state))
    return failure();
  roles.state = std::move(*state);
  found.unreached = findUnreached(function, roles.state);
  StateReach reach(function);
  Operation *terminator = function.getBody().front().getTerminator();
  for (const TrainingState &s : roles.state)
    if (s.role == kRoleParameter)
      found.scalesAll &= reach.movesWith(terminator->getOperand(s.result),
                                         [&](Value v) { return degrees.of(v).isScaled(); });
  return found;
}

/// Several optimizers in turn: what the last seed does not reach has been updated before, by a
/// phase that ends there. A phase's seed is the next of `given`, from the last on, or looked for.
static FailureOr<RolesOfSeeds> searchPhases(func::FuncOp function, const HomogeneityGraph &graph,
                                            ArrayRef<Value> trained, RolesOfSeeds found,
                                            ArrayRef<Value> given, ArrayRef<Value> excluded = {}) {
  SmallVector<Value> seeds(found.roles.seeds.begin(), found.roles.seeds.end());
  SmallVector<SmallVector<Value, 1>, 1> phases{found.roles.seeds};
  SmallVector<Value, 0> handedOver;
  Operation *terminator = function.getBody().front().getTerminator();
  // Arguments named as parameters already count, too.
  auto notReached = [&] {
    SmallVector<Value> updated;
    llvm::DenseSet<Value> moved = forwardSlice(seeds, handedOver);
    for (const TrainingState &s : found.roles.state)
      if (Value value = terminator->getOperand(s.result);
          (s.role == kRoleParameter && !moved.contains(value)) ||
          llvm::any_of(found.unreached,
                       [&](const TrainingState &u) { return u.argument == s.argument; }))
        updated.push_back(value);
    return updated;
  };
  for (SmallVector<Value> updated = notReached(), ends; !updated.empty(); ends.clear()) {
    // State that other state is computed from (moments) is within the phase.
    llvm::copy_if(updated, std::back_inserter(ends), [&](Value end) {
      return end.getDefiningOp() && llvm::none_of(updated, [&](Value v) {
               return v != end && backwardSlice(v).contains(end);
             });
    });
    auto follow = [&](ArrayRef<Value> from) {
      return graph.propagate(from, /*stopWhenLost=*/false, HomogeneityGraph::Beyond::None, ends);
    };
    SmallVector<Value> phase;
    if (!given.empty()) {
      // Seeds that come before and need nothing that has been updated belong to it too: other
      // losses of this phase.
      auto comesBefore = [&](Value seed) {
        llvm::DenseSet<Value> after = forwardSlice(seed, ends), before = backwardSlice(phase);
        return llvm::any_of(ends,
                            [&](Value end) { return after.contains(end) && before.contains(end); });
      };
      do {
        phase.push_back(given.back());
        given = given.drop_back();
      } while (!given.empty() && !comesBefore(given.back()));
    } else if (Value seed =
                   graph.findSeed(trained, HomogeneityGraph::Beyond::None, ends, excluded)) {
      phase.push_back(seed);
      // A phase may have several losses itself.
      SmallVector<Value> several = graph.findSeeds(HomogeneityGraph::Beyond::None, ends, excluded);
      if (several.size() > 1 &&
          follow(several).scaledContractions() > follow(phase).scaledContractions())
        phase = std::move(several);
    }
    if (phase.empty() || follow(phase).lostContraction())
      return failure();
    llvm::append_range(seeds, phase);
    phases.emplace_back(phase.begin(), phase.end());
    unsigned before = updated.size();
    llvm::append_range(handedOver, ends);
    FailureOr<RolesOfSeeds> next =
        rolesFrom(function, graph, seeds, HomogeneityGraph::Beyond::None, handedOver);
    if (failed(next))
      return failure();
    found = std::move(*next);
    updated = notReached();
    if (updated.size() >= before)
      return failure();
    // A phase still to be found hands over the state that stays unreached.
    llvm::erase_if(handedOver, [&](Value v) { return llvm::is_contained(updated, v); });
  }
  if (!given.empty())
    return failure();
  std::reverse(phases.begin(), phases.end());
  found.roles.phases = std::move(phases);
  return found;
}

/// The seed that scales most, or several where one does not scale all that is trained, in sum or in
/// turn; last, with an optimizer that contracts. Leaves `found` failed if there is none. Adds to
/// `partial` what does not reach all that seems trained.
static LogicalResult searchSeeds(func::FuncOp function, const HomogeneityGraph &graph,
                                 ArrayRef<Value> excluded, FailureOr<RolesOfSeeds> &found,
                                 SmallVectorImpl<RolesOfSeeds> &partial) {
  SmallVector<Value> trained = findTrainedScalars(function, graph);
  for (auto beyond : {HomogeneityGraph::Beyond::None, HomogeneityGraph::Beyond::Optimizer}) {
    FailureOr<RolesOfSeeds> one;
    if (Value seed = graph.findSeed(trained, beyond, {}, excluded);
        seed && failed(one = rolesFrom(function, graph, seed, beyond)))
      return failure();
    if (succeeded(one) && (failed(found) || one->reachesAll()))
      found = std::move(one);
    if (succeeded(found) && found->reachesAll() && found->scalesAll &&
        !graph.leavesLoss(found->roles.seeds))
      return success();
    // A step with several losses has a seed for each.
    SmallVector<Value> seeds = graph.findSeeds(beyond, {}, excluded);
    if (seeds.size() > 1 || (!seeds.empty() && failed(found))) {
      auto several = rolesFrom(function, graph, seeds, beyond);
      if (succeeded(several) && !several->reachesAll())
        partial.push_back(*several);
      else if (succeeded(several) &&
               (failed(found) || !found->reachesAll() ||
                several->roles.scaledContractions > found->roles.scaledContractions))
        found = std::move(several);
    }
    if (succeeded(found) && !found->reachesAll() && beyond == HomogeneityGraph::Beyond::None) {
      // A weight that has been updated is no seed, even where all that follows scales with it.
      auto returned = function.getBody().front().getTerminator()->getOperands();
      FailureOr<RolesOfSeeds> last = found;
      SmallVector<Value> neither(returned);
      llvm::append_range(neither, excluded);
      if (llvm::any_of(found->roles.seeds,
                       [&](Value seed) { return llvm::is_contained(returned, seed); }))
        if (Value seed = graph.findSeed(trained, beyond, {}, neither))
          last = rolesFrom(function, graph, seed, beyond);
      if (succeeded(last) && !last->reachesAll())
        last = searchPhases(function, graph, trained, std::move(*last), {}, excluded);
      if (succeeded(last) && last->reachesAll())
        found = std::move(last);
    }
    if (succeeded(found) && found->reachesAll())
      return success();
  }
  return success();
}

/// searchSeeds() short of weights, then among all; last what leaves only that unreached which the
/// forward pass hands on.
static LogicalResult searchAll(func::FuncOp function, const HomogeneityGraph &graph,
                               FailureOr<RolesOfSeeds> &found) {
  SmallVector<RolesOfSeeds, 0> partial;
  SmallVector<Value> weights = findWeights(function);
  for (ArrayRef<Value> excluded : {ArrayRef<Value>(weights), ArrayRef<Value>()}) {
    found = failure();
    if (failed(searchSeeds(function, graph, excluded, found, partial)))
      return failure();
    if (succeeded(found) && found->reachesAll())
      return success();
    if (succeeded(found))
      partial.push_back(*found);
  }
  FailureOr<RolesOfSeeds> best;
  for (RolesOfSeeds &roles : partial)
    if (areOfForwardPass(function, roles.roles.seeds, roles.roles.state, roles.unreached) &&
        (failed(best) || roles.roles.scaledContractions > best->roles.scaledContractions))
      best = roles;
  if (succeeded(best)) {
    best->unreached.clear();
    found = std::move(best);
  }
  return success();
}

/// Contractions on what the optimizer makes of gradients, in bodies too.
static SmallVector<Operation *> contractionsBehind(func::FuncOp function,
                                                   ArrayRef<Gradient> gradients,
                                                   ArrayRef<Value> handedOver) {
  SmallVector<Value> taken;
  SmallVector<Operation *> contractions;
  for (const Gradient &gradient : gradients)
    for (OpOperand *use : gradient.uses)
      llvm::append_range(taken, use->getOwner()->getResults());
  llvm::DenseSet<Value> behind = forwardSlice(taken, handedOver);
  function.walk([&](Operation *op) {
    if (getOpClass(op) == OpClass::TensorCore &&
        llvm::any_of(op->getResults(), [&](Value v) { return behind.contains(v); }))
      contractions.push_back(op);
  });
  return contractions;
}

/// Roles of the seeds that somebody named: of one backward pass, or of several in turn, in the
/// order of the text.
static FailureOr<RolesOfSeeds> rolesFromPinned(func::FuncOp function, const HomogeneityGraph &graph,
                                               ArrayRef<Value> pinned) {
  constexpr auto beyond = HomogeneityGraph::Beyond::Optimizer;
  auto isLinear = [&](ArrayRef<Value> seeds) { return !graph.propagate(seeds).lostContraction(); };
  unsigned inLast = 1; // as many as need nothing that others have updated
  while (inLast < pinned.size() && isLinear(pinned.take_back(inLast + 1)))
    ++inLast;
  if (inLast < pinned.size() && isLinear(pinned.take_back(inLast)))
    if (auto last =
            rolesFrom(function, graph, pinned.take_back(inLast), HomogeneityGraph::Beyond::None);
        succeeded(last))
      if (auto inTurn =
              searchPhases(function, graph, {}, std::move(*last), pinned.drop_back(inLast));
          succeeded(inTurn))
        return inTurn;
  return rolesFrom(function, graph, pinned, beyond);
}

/// Assigns to each state the phases whose gradients move it, and to each gradient its phase; an
/// error where a gradient belongs to several.
static LogicalResult assignPhases(func::FuncOp function, TrainingRoles &roles) {
  Operation *terminator = function.getBody().front().getTerminator();
  SmallVector<llvm::DenseSet<Value>> reached;
  for (ArrayRef<Value> seeds : roles.phases)
    reached.push_back(forwardSlice(seeds, roles.handedOver));
  for (TrainingState &s : roles.state)
    for (auto [phase, values] : llvm::enumerate(reached))
      if (values.contains(terminator->getOperand(s.result)))
        s.phases.push_back(phase);
  for (Gradient &gradient : roles.gradients) {
    SmallVector<unsigned> phases;
    for (auto [phase, values] : llvm::enumerate(reached))
      if (values.contains(gradient.value))
        phases.push_back(phase);
    if (phases.size() != 1)
      return gradient.value.getDefiningOp()->emitError("computes a gradient of ")
             << phases.size() << " optimizers, expected one";
    gradient.phase = phases.front();
  }
  return success();
}

LogicalResult mlir::mp::expectOnePhase(func::FuncOp function, const TrainingRoles &roles,
                                       StringRef what) {
  if (roles.phases.size() <= 1)
    return success();
  InFlightDiagnostic diag = function.emitError("has ")
                            << roles.phases.size()
                            << " optimizers that update in turn, expected one to " << what
                            << ": do so in the step itself, behind each backward pass";
  for (ArrayRef<Value> seeds : roles.phases)
    diag.attachNote(seeds.front().getLoc()) << "the backward pass of one begins here";
  return diag;
}

FailureOr<TrainingRoles> mlir::mp::findTrainingRoles(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitError("has ") << function.getBody().getBlocks().size()
                                      << " blocks, expected one: train steps with branches "
                                         "(cf) are not read; use scf";
  HomogeneityGraph graph(function);
  if (!graph.numContractions()) {
    bool buffers = llvm::any_of(function.getArgumentTypes(), llvm::IsaPred<MemRefType>);
    return function.emitError(
        buffers
            ? "works on buffers, expected a train step on tensors: convert it before bufferization"
            : "has no contraction of float tensors, expected a train step: a forward pass, a "
              "backward pass and an update");
  }
  FailureOr<SmallVector<Value>> pinned = findPinnedSeeds(function);
  if (failed(pinned))
    return failure();
  FailureOr<RolesOfSeeds> found;
  if (!pinned->empty()) {
    if (failed(found = rolesFromPinned(function, graph, *pinned)))
      return failure();
  } else if (failed(searchAll(function, graph, found))) {
    return failure();
  }
  if (failed(found)) {
    InFlightDiagnostic diag =
        function.emitError("has no gradient seed: no value scales any of its ")
        << graph.numContractions()
        << " contractions without a contraction beyond the gradients; write 'mp.role = "
           "\"seed\"' on the op that begins the backward pass, or on each of several";
    explainLoop(diag, function);
    for (Type type : function.getArgumentTypes())
      if (FloatType format = getFloatFormat(type); format && format.isF64()) {
        diag.attachNote() << "a seed is a tensor of f32, and this step has " << type
                          << ": write it in f32";
        break;
      }
    return diag;
  }
  TrainingRoles &roles = found->roles;
  if (!found->reachesAll()) {
    InFlightDiagnostic diag =
        function.emitError("argument #")
        << found->unreached.front().argument
        << " is read by the forward pass and replaced by result #"
        << found->unreached.front().result
        << ", but the gradient seed that was found does not reach it: write 'mp.role = \"seed\"' "
           "on the op that begins the backward pass, or 'mp.role = \"statistic\"' on the argument "
           "if it is none that is trained";
    diag.attachNote(roles.seeds.front().getLoc()) << "the seed found";
    if (found->unreached.size() > 1) {
      Diagnostic &note = diag.attachNote() << "the same is true of argument";
      llvm::interleaveComma(ArrayRef(found->unreached).drop_front(),
                            note << (found->unreached.size() > 2 ? "s " : " "),
                            [&](const TrainingState &s) { note << "#" << s.argument; });
    }
    return diag;
  }
  HomogeneityGraph::Degrees degrees = graph.propagate(
      roles.seeds, /*stopWhenLost=*/false, HomogeneityGraph::Beyond::None, roles.handedOver);
  SmallVector<Value> updated;
  for (const TrainingState &s : roles.state)
    updated.push_back(function.getBody().front().getTerminator()->getOperand(s.result));
  auto ofGradients = findContractionsOfGradients(function, degrees, updated);
  FailureOr<SmallVector<Gradient>> gradients =
      GradientFinder(function, roles.seeds, degrees, ofGradients.getArrayRef()).find();
  if (failed(gradients))
    return failure();
  roles.gradients = std::move(*gradients);
  for (Operation *op : contractionsBehind(function, roles.gradients, roles.handedOver))
    ofGradients.insert(op);
  roles.optimizerContractions.assign(ofGradients.begin(), ofGradients.end());
  if (failed(assignPhases(function, roles)))
    return failure();
  assignParameters(function, roles);
  return std::move(roles);
}
