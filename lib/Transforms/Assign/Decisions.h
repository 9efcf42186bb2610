// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The decisions about one function, and the layers that make them.

#ifndef MP_LIB_TRANSFORMS_ASSIGN_DECISIONS_H
#define MP_LIB_TRANSFORMS_ASSIGN_DECISIONS_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Analysis/Cost/Placement.h"
#include "mp/Analysis/Cost/Suggestions.h"
#include "mp/Analysis/Error/ErrorModel.h"
#include "mp/Analysis/Ranges/MaskConstants.h"
#include "mp/Analysis/Ranges/Poles.h"
#include "mp/Analysis/Ranges/RangeAnalysis.h"
#include "mp/Analysis/Scaling/NormOverflow.h"
#include "mp/Analysis/TiedStorage.h"
#include "mp/Assignment/MeasuredErrors.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Dialect/MP/Scaling.h"
#include "mp/Dialect/MP/SplitOps.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Performance/CostModel.h"
#include "mp/Policy/Policy.h"
#include "mp/Support/Files.h"
#include "mp/Transforms/Assign/Request.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::mp {

/// One way in which a contraction may compute.
struct ComputeChoice {
  FloatType format; ///< f32 for parts, and for what is scaled
  std::optional<numerics::SplitScheme> split = std::nullopt;
  const numerics::Recipe *scaled = nullptr; ///< of factors stored so

  bool operator==(const ComputeChoice &) const = default;
  /// bf16, tf32, bf16x3, f16-pow2, current.
  std::string getName() const;
};

/// The decision about one op, and the layer that took it.
struct Decision {
  /// Says how the op bears narrow formats; null for an op that does not. Finding it costs more than
  /// what is then asked of it, and every layer asks.
  PrecisionOpInterface interface;
  OpClass opClass;
  TypeRule rule;
  /// The format the op computes in; its own where no layer said otherwise.
  FloatType compute;
  FloatType accumulator = {}; ///< wider than the op's own; empty where that stays
  /// An f32 contraction is made of split products: what it reads and returns is f32 all the
  /// same.
  std::optional<numerics::SplitScheme> split = std::nullopt;
  /// An f32 contraction works on factors stored as this recipe says.
  const numerics::Recipe *scaled = nullptr;
  /// One without evidence for f16 may work on factors times powers of two, made of these
  /// magnitudes, 0 for one that is measured where it is computed.
  std::optional<std::array<double, 2>> magnitudes = std::nullopt;
  std::optional<Origin> origin = std::nullopt; ///< empty while undecided
  std::string reason;
  /// The evidence that a contraction in a format of smaller range rests on; none where none is
  /// needed, or a pin or policy decided.
  Evidence evidence = Evidence::None;
  /// Rewrites that would let an op that ranges keep wide be narrow.
  SmallVector<Suggestion, 0> suggestions = {};
  /// Operands and results are stored as they are found (a pin or policy says wide).
  bool keepsStorage = false;
  /// Some operand or result is a tensor whose type is not ours to change.
  bool touchesOpaque = false;
  /// The storage that a pin or the policy wants for results; null leaves it to the cost layer.
  FloatType resultStorage = {};

  /// The answer to the last question whether the op can contract in a format.
  mutable FloatType askedFormat = {};
  mutable bool canContract = false;

  /// The layer that decided, why, and what the ranges of a narrow contraction rest on.
  std::string describeReason() const {
    std::string text = (stringifyOrigin(*origin) + " " + reason).str();
    return evidence == Evidence::None || compute.isF32()
               ? text
               : (text + ", ranges " + stringifyEvidence(evidence)).str();
  }

  void decide(FloatType format, Origin by, const Twine &why) {
    compute = format;
    origin = by;
    reason = why.str();
  }

  /// Returns the way the op computes.
  ComputeChoice getChoice() const { return {compute, split, scaled}; }
  std::string getComputeName() const { return getChoice().getName(); }

  /// The op runs in whatever format its data has.
  bool followsStorage() const {
    return opClass == OpClass::ExactCommute && rule == TypeRule::Uniform && !keepsStorage;
  }
};

/// The storages chosen for what control flow and signatures of a module carry.
struct CarriedStorage {
  explicit CarriedStorage(const TiedStorage &ties) : ties(ties) {}

  const TiedStorage &ties;
  llvm::DenseMap<const TiedValues *, FloatType> chosen;
  /// In which narrow format a value of a tie that may change is read, where the tie as a whole is
  /// in none.
  llvm::DenseMap<Value, FloatType> wished;

  /// Returns the format chosen for tied values; null if they keep their own.
  FloatType lookup(const TiedValues *tied) const {
    return tied ? chosen.lookup(tied) : FloatType();
  }
};

/// The goals and limits of choosing storage.
struct PlacementOptions {
  Objective objective = Objective::Time;
  /// Limit of the modelled root mean square error of the results relative to them; 0: none.
  double maxRelError = 0;
  int64_t maxTime = 0; ///< picoseconds, with objective error
  /// Contractions may stay in f32 where the casts they need cost more than they save.
  bool neverSlower = false;
  bool summarizes =
      false; ///< somebody wants to know the placement, and its error even where nothing is limited
  int64_t assumedDim = 128;
  std::string dumpProblem; ///< file for the optimisation problem as JSON; empty: none
  support::LateOutput *problemFile = nullptr; ///< the same, open
  /// The module decides several functions: each dump gets its function's name.
  bool namesDumps = false;
  /// True if, where error is limited, contractions may be split products.
  bool allowsSplit = true;
  /// Contractions without evidence for f16 are scaled; automatically where that is the optimum.
  ScaleUnproven scaleUnproven = ScaleUnproven::Off;
  /// By which contractions may be scaled besides; null: none.
  const numerics::Recipe *recipe = nullptr;
  /// Errors that were measured; they stand in for modelled ones. Null: none.
  const assignment::MeasuredErrors *measured = nullptr;

  bool modelsError() const { return maxRelError > 0 || maxTime > 0; }
  /// Contractions that only their class made narrow may compute in wider formats, too.
  bool freesContractions() const { return neverSlower || modelsError(); }
};

/// The settings of a run.
struct AssignSettings {
  const policy::Policy &policy;
  const target::TargetModel &target;
  policy::Matcher &rules; ///< of the policy
  /// The format asked for; a way to compute, with f32 storage, if it is tf32.
  FloatType narrow;
  double maxUnderflow = 1e-3;
  bool promotes = false; ///< what is narrow already is widened inside
  /// Contractions whose results choose indices stay: fewer bits are meant than `narrow` has.
  bool keepsChoices = false;
  const mpcore::performance::CostModel &costs;
  PlacementOptions placement = {};
  /// The weakest evidence that the policy trusts; what is stronger is less in the enumeration.
  Evidence weakestEvidence() const {
    switch (policy.evidence) {
    case policy::RequiredEvidence::Assumed: return Evidence::Assumed;
    case policy::RequiredEvidence::Measured: return Evidence::Measured;
    case policy::RequiredEvidence::Proved: return Evidence::Stated;
    }
    llvm_unreachable("unknown evidence");
  }
  /// Contractions are asked for as split products of `narrow`.
  std::optional<numerics::SplitScheme> split = std::nullopt;
  /// Times that were asked for, if somebody wants to know.
  std::map<std::string, int64_t> *askedTimes = nullptr;
  double maxSaturated = 0; ///< constants of which less than this share overflows are clamped
};

/// The settings of a request, whose contractions are not split yet; each pass has a matcher of its
/// policy.
inline AssignSettings settingsOf(const PrecisionRequest &request, policy::Matcher &rules,
                                 const mpcore::performance::CostModel &costs) {
  return {.policy = request.effective.policy,
          .target = request.target,
          .rules = rules,
          .narrow = request.narrow,
          .costs = costs};
}

/// The format that options, pins and policies call `name`, or null if none may be assigned.
FloatType getAssignableFormat(StringRef name, MLIRContext *context);
/// Returns the spelling of the option `format`: bf16, f16, tf32.
std::string getFormatName(FloatType format);
/// True for a tensor of f32 that can be stored in another format: of known rank, since upstream has
/// no conversion of tensors without.
bool isNarrowable(Type type);

/// All decisions about a function: a compute format per op, a storage per value.
class FunctionDecisions {
public:
  /// Collects the ops outside bodies that have a float operand or result.
  FunctionDecisions(FunctionOpInterface function, const CarriedStorage &carried,
                    ModuleRanges &ranges);

  FunctionOpInterface getFunction() const { return function; }

  /// In program order.
  llvm::MapVector<Operation *, Decision> &getOps() { return ops; }
  Decision *find(Operation *op) {
    auto it = ops.find(op);
    return it == ops.end() ? nullptr : &it->second;
  }

  /// True if `op` is a contraction of f32 factors that computes in a narrower format.
  bool isNarrowContraction(Operation *op);
  /// The same where the decision is at hand.
  static bool isNarrowContraction(Operation *op, const Decision &decision) {
    return !decision.compute.isF32() && canContractIn(op, decision, decision.compute);
  }
  /// True if `op` is a contraction that can read its factors in `format`: they are f32, or
  /// `format` already, and some is f32; none is a tensor of unknown rank.
  bool canContractIn(Operation *op, FloatType format);
  /// True if `op` is a contraction of two f32 tensors, which may be stored scaled.
  bool canScale(Operation *op);
  /// True if `value` may be stored narrow by itself: a tensor of f32 that is no block argument and
  /// shares its storage with no other value.
  bool mayStoreNarrow(Value value) const;
  /// Returns the ranges of the function's values; computed at the first call.
  const FunctionRanges &getRanges() { return ranges.get(function); }
  /// Finds constants that are infinite in `format`, the same at every call.
  OverflowingConstants &getOverflowing(FloatType format) { return ranges.getOverflowing(format); }
  /// The placement of the cost layer; empty if decisions were replayed, or nobody asked.
  std::optional<Placement> placement;
  /// Ops whose story is asked for, and what the cost layer says of their alternatives.
  llvm::DenseSet<Operation *> explained;
  llvm::DenseMap<Operation *, std::string> alternatives;

  /// Storage of a value; its own format unless `setStorage` said otherwise.
  FloatType getStorage(Value value) const;
  void setStorage(Value value, FloatType format) { storages[value] = format; }
  /// The format that control flow, a call or a return takes an operand in; null for other operands.
  FloatType getTakenFormat(OpOperand &operand) const;
  const CarriedStorage &getCarried() const { return carried; }
  /// Operands of terminators that become result `index` of the function.
  SmallVector<OpOperand *> getReturned(unsigned index) const;

  /// Returns the variance model of the function; built at the first call.
  const ErrorModel &getErrorModel() {
    if (!errorModel)
      errorModel.emplace(function);
    return *errorModel;
  }

  /// The poles of the module; found at the first call.
  const Poles &getPoles() { return ranges.getPoles(); }

private:
  void collect(Region &region);
  static bool canContractIn(Operation *op, const Decision &decision, FloatType format);

  FunctionOpInterface function;
  const CarriedStorage &carried;
  ModuleRanges &ranges;
  std::optional<ErrorModel> errorModel;
  llvm::MapVector<Operation *, Decision> ops;
  llvm::DenseMap<Value, FloatType> storages;
};

/// The layers, strongest first. Each decides ops that none before it has; the last two choose the
/// storage of arguments and of every other value, given what computes how. One signature, one file
/// each.
using Layer = LogicalResult (*)(FunctionDecisions &decisions, const AssignSettings &settings);
LogicalResult applyPins(FunctionDecisions &decisions, const AssignSettings &settings);
LogicalResult applyPolicy(FunctionDecisions &decisions, const AssignSettings &settings);
LogicalResult applyRanges(FunctionDecisions &decisions, const AssignSettings &settings);
LogicalResult applyClasses(FunctionDecisions &decisions, const AssignSettings &settings);
/// Suggests rewrites that would give contractions the evidence they lack.
LogicalResult suggestRewrites(FunctionDecisions &decisions, const AssignSettings &settings);
LogicalResult applyPromotions(FunctionDecisions &decisions, const AssignSettings &settings);
/// All of them but the last two.
LogicalResult decideComputing(FunctionDecisions &decisions, const AssignSettings &settings,
                              llvm::function_ref<void(StringRef layer)> decided);
/// The evidence that lets the factors of a contraction be read in the narrow format: the weakest of
/// any, or why one has none.
struct FactorEvidence {
  Evidence evidence = Evidence::Proved;
  std::string missing; ///< empty where all have evidence that counts
};
/// Asks the ranges only where the format needs evidence: those with the range of f32 do not.
FactorEvidence findEvidence(Operation *op, llvm::function_ref<const FunctionRanges &()> ranges,
                            FunctionDecisions &decisions, const AssignSettings &settings);
/// The factors of `op`, a contraction, that lack evidence; none where a constant is what cannot be
/// narrow.
SmallVector<OpOperand *> findUnproven(Operation *op, FunctionDecisions &decisions,
                                      const AssignSettings &settings);
/// Norms whose squares may leave the format they are computed in, or `narrow` where a contraction
/// reads them in it.
std::vector<NormOverflow> findOverflowingNorms(FunctionDecisions &decisions, FloatType narrow,
                                               bool computedNarrow);
LogicalResult decideSignature(FunctionDecisions &decisions, const AssignSettings &settings);
/// Adds the results of a function that change their format, by a pin or the policy, to what the
/// module carries.
LogicalResult chooseResults(FunctionDecisions &decisions, const AssignSettings &settings,
                            CarriedStorage &carried);
LogicalResult chooseStorage(FunctionDecisions &decisions, const AssignSettings &settings);

/// Chooses what control flow and signatures of a module carry narrow: what is only read where it is
/// rounded. All functions that may change are decided but for storage.
void chooseCarried(ArrayRef<FunctionDecisions *> functions, CarriedStorage &carried);
/// Fails where a narrow contraction needs the values of a constant whose data is missing.
LogicalResult checkConstantData(FunctionDecisions &decisions);

/// Writes `mp.precision` on every op, and `mp.storage` on arguments that change their format.
void writeDecisions(FunctionDecisions &decisions);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_ASSIGN_DECISIONS_H
