// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From seeds to the state that they move: a seed for each loss, or phases in turn, each of which
// trains on what those before it have updated.

#include "SeedRoles.h"
#include "StateReach.h"

using namespace mlir;
using namespace mlir::mp;

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

static HomogeneityGraph::Degrees follow(const HomogeneityGraph &graph, ArrayRef<Value> seeds,
                                        ArrayRef<Value> ends) {
  return graph.propagate(seeds, /*stopWhenLost=*/false, HomogeneityGraph::Beyond::None, ends);
}

/// The seeds of the phase that ends in `ends`: the last of `given`, which are taken, or found.
static SmallVector<Value> takePhase(const HomogeneityGraph &graph, ArrayRef<Value> trained,
                                    ArrayRef<Value> ends, ArrayRef<Value> &given,
                                    ArrayRef<Value> excluded) {
  SmallVector<Value> phase;
  if (!given.empty()) {
    // Seeds that come before and need nothing that has been updated belong to it too: other losses
    // of this phase.
    auto comesBefore = [&](Value seed) {
      llvm::DenseSet<Value> after = forwardSlice(seed, ends), before = backwardSlice(phase);
      return llvm::any_of(ends,
                          [&](Value end) { return after.contains(end) && before.contains(end); });
    };
    do {
      phase.push_back(given.back());
      given = given.drop_back();
    } while (!given.empty() && !comesBefore(given.back()));
  } else if (Value seed = graph.findSeed(trained, HomogeneityGraph::Beyond::None, ends, excluded)) {
    phase.push_back(seed);
    // A phase may have several losses itself.
    SmallVector<Value> several = graph.findSeeds(HomogeneityGraph::Beyond::None, ends, excluded);
    if (several.size() > 1 && follow(graph, several, ends).scaledContractions() >
                                  follow(graph, phase, ends).scaledContractions())
      phase = std::move(several);
  }
  return phase;
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
    SmallVector<Value> phase = takePhase(graph, trained, ends, given, excluded);
    if (phase.empty() || follow(graph, phase, ends).lostContraction())
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

/// Replaces `found`, which does not reach all, by phases in turn that do.
static void searchInTurn(func::FuncOp function, const HomogeneityGraph &graph,
                         ArrayRef<Value> trained, ArrayRef<Value> excluded,
                         FailureOr<RolesOfSeeds> &found) {
  // A weight that has been updated is no seed, even where all that follows scales with it.
  auto returned = function.getBody().front().getTerminator()->getOperands();
  FailureOr<RolesOfSeeds> last = found;
  SmallVector<Value> neither(returned);
  llvm::append_range(neither, excluded);
  if (llvm::any_of(found->roles.seeds,
                   [&](Value seed) { return llvm::is_contained(returned, seed); }))
    if (Value seed = graph.findSeed(trained, HomogeneityGraph::Beyond::None, {}, neither))
      last = rolesFrom(function, graph, seed, HomogeneityGraph::Beyond::None);
  if (succeeded(last) && !last->reachesAll())
    last = searchPhases(function, graph, trained, std::move(*last), {}, excluded);
  if (succeeded(last) && last->reachesAll())
    found = std::move(last);
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
    if (succeeded(found) && !found->reachesAll() && beyond == HomogeneityGraph::Beyond::None)
      searchInTurn(function, graph, trained, excluded, found);
    if (succeeded(found) && found->reachesAll())
      return success();
  }
  return success();
}

LogicalResult mlir::mp::searchAll(func::FuncOp function, const HomogeneityGraph &graph,
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

FailureOr<RolesOfSeeds> mlir::mp::rolesFromPinned(func::FuncOp function,
                                                  const HomogeneityGraph &graph,
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
