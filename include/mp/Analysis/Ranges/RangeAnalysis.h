// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes what is known of the range of every float value: one abstract interpretation whose state
// is a product of two lattices.
//
//   facts       what follows from the program and from ranges that somebody stated
//   (mp/Domains/Facts.h):
//               interval arithmetic, norms of rows, rounding, NaN, and the lemmas of Lemmas.h.
//               Every value that the module computes in its own formats lies in it.
//   assumption  what holds besides if the labelled class assumption does (Assumption.h): arguments
//               and results of contractions stay well below f16's limit.
//
// A function is swept once in program order; what loops and blocks carry is a fixed point, widened
// at the limits of formats. A call is analysed with what it hands over; the arguments of a function
// whose callers are all visible are what they hand over together. Unknown is never optimistic.
//
// In a train step with loss scaling, what lies between `mp.scale_loss` and the check of
// `mp.unscale` is *guarded*: should it overflow, the check finds the infinity, the step is skipped
// and the scale falls (Micikevicius et al., "Mixed Precision Training", ICLR 2018, section 3.2).

#ifndef MP_ANALYSIS_RANGES_RANGEANALYSIS_H
#define MP_ANALYSIS_RANGES_RANGEANALYSIS_H

#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Analysis/Ranges/Assumption.h"
#include "mp/Analysis/Ranges/Lemmas.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Domains/Facts.h"

namespace mlir::mp {

struct RangeState {
  domains::FloatFacts facts = domains::FloatFacts::bottom();
  Assumption assumption = Assumption::nothing();

  static RangeState unknown(StringRef lostAt = "");
  bool isBottom() const { return facts.isBottom(); }
};

/// Returns what holds of either value.
RangeState join(const RangeState &a, const RangeState &b);

/// Selects the values that ranges are of.
enum class RangesOf : uint8_t {
  Computed, ///< in the formats that the module computes in
  Exact, ///< of the same graph in f64, where casts do nothing: exact arithmetic is among them, too
};

struct RangeOptions {
  RangesOf of = RangesOf::Computed;
  /// Arguments of functions that anyone may call lie within ± this where they state no range, if it
  /// is positive; as a stated range, not a proved one.
  double arguments = 0;
  /// f32 factors of contractions that fit this format may be rounded to it; null: none are.
  FloatType narrow = {};
  /// Contractions are taken to give any finite numbers that they may with factors rounded anyhow,
  /// which leaves signs as they are, or makes zeros.
  bool anyContraction = false;
};

class ModuleRanges;
class OverflowingConstants;
class Poles;
class RangeSweep;

/// Ranges of the values of one function, under one set of arguments.
class FunctionRanges {
public:
  ~FunctionRanges();
  /// Returns what is known of a float value of the function, in bodies of linalg ops too.
  const RangeState &lookup(Value value) const;
  /// The lemma that bounded `value` beyond interval arithmetic, if one did.
  const LemmaBound *findLemma(Value value) const;
  /// Returns what the function's returns hand back.
  ArrayRef<RangeState> getResults() const { return results; }

  /// Returns what lets `value` be stored in `format`, other than as a constant.
  Evidence findEvidence(Value value, FloatType format) const;
  /// Returns why nothing does, naming the op that lost the last bound; `what` names the value.
  std::string explainMissing(Value value, FloatType format, StringRef what) const;

private:
  friend class RangeSweep;
  friend class ModuleRanges;
  FunctionRanges() = default;

  DenseMap<Value, RangeState> states;
  DenseMap<Value, LemmaBound> lemmas;
  DenseSet<Value> guarded;
  SmallVector<RangeState> results;
};

class ModuleRanges {
public:
  explicit ModuleRanges(Operation *module, RangeOptions options = {});
  ~ModuleRanges();

  /// Under all arguments the function is called with; computed when first asked for.
  const FunctionRanges &get(FunctionOpInterface function);
  /// The function's values as one call of it makes them.
  const FunctionRanges &getInCall(Operation *call, FunctionOpInterface callee);
  /// Returns what is known of a float value of any function of the module.
  const RangeState &lookup(Value value);
  const ValueNumbering &getNumbering(FunctionOpInterface function);
  const RangeOptions &getOptions() const { return options; }
  /// The calls of `function` in the module.
  ArrayRef<CallOpInterface> getCalls(FunctionOpInterface function);
  /// Finds constants of the module that are infinite in `format`, the same at every call.
  OverflowingConstants &getOverflowing(FloatType format);
  /// The poles of the module; found at the first call.
  const Poles &getPoles();

private:
  friend class RangeSweep;
  struct Function;

  Function &find(FunctionOpInterface function);
  SmallVector<RangeState> getArguments(FunctionOpInterface function);
  const FunctionRanges *analyze(FunctionOpInterface function, ArrayRef<RangeState> arguments);

  /// Says who calls a function, and whether these are all its uses.
  struct CallSites {
    SmallVector<CallOpInterface> calls;
    bool areAll = true;
  };
  void collectCalls();

  Operation *module;
  RangeOptions options;
  DenseMap<Operation *, std::unique_ptr<Function>> functions;
  std::optional<DenseMap<Operation *, CallSites>> calls;
  std::unique_ptr<OverflowingConstants> overflowing;
  std::unique_ptr<Poles> poles;
};

} // namespace mlir::mp

#endif // MP_ANALYSIS_RANGES_RANGEANALYSIS_H
