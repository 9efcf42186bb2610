// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the roles of a train step: the seeds, what they reach, and the gradients.

#include "mp/Analysis/Training/TrainingRoles.h"
#include "Gradients.h"
#include "SeedRoles.h"
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

/// A step in which every contraction is in a loop may be several steps.
static void explainLoop(InFlightDiagnostic &diag, func::FuncOp function) {
  for (Operation &op : function.getBody().front()) {
    bool trains = isa<LoopLikeOpInterface>(op) &&
                  op.walk([](Operation *inner) {
                      return isContraction(inner) ? WalkResult::interrupt() : WalkResult::advance();
                    }).wasInterrupted();
    if (trains)
      diag.attachNote(op.getLoc()) << "contractions are in this loop: if it carries what it trains "
                                      "from one iteration to the "
                                      "next, make its body the train step, and call that as often";
  }
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

static InFlightDiagnostic reportNoSeed(func::FuncOp function, const HomogeneityGraph &graph) {
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

/// State that the forward pass reads is replaced by what no seed reaches.
static InFlightDiagnostic reportUnreached(func::FuncOp function, const RolesOfSeeds &found) {
  InFlightDiagnostic diag =
      function.emitError("argument #")
      << found.unreached.front().argument << " is read by the forward pass and replaced by result #"
      << found.unreached.front().result
      << ", but the gradient seed that was found does not reach it: write 'mp.role = \"seed\"' "
         "on the op that begins the backward pass, or 'mp.role = \"statistic\"' on the argument "
         "if it is none that is trained";
  diag.attachNote(found.roles.seeds.front().getLoc()) << "the seed found";
  if (found.unreached.size() > 1) {
    Diagnostic &note = diag.attachNote() << "the same is true of argument";
    llvm::interleaveComma(ArrayRef(found.unreached).drop_front(),
                          note << (found.unreached.size() > 2 ? "s " : " "),
                          [&](const TrainingState &s) { note << "#" << s.argument; });
  }
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
  if (failed(found))
    return reportNoSeed(function, graph);
  if (!found->reachesAll())
    return reportUnreached(function, *found);
  if (failed(findGradients(function, graph, found->roles)))
    return failure();
  return std::move(found->roles);
}
