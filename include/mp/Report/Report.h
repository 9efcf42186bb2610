// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports decisions and their costs as rows: printed as a table, written as JSON.

#ifndef MP_REPORT_REPORT_H
#define MP_REPORT_REPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Analysis/Cost/Placement.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Report/Changes.h"
#include "llvm/Support/JSON.h"

namespace mlir::mp {

/// Version of the JSON layout; a reader refuses a version it does not know.
inline constexpr int64_t kReportVersion = 1;

/// The measured difference of an op's result from a reference.
struct OpError {
  double maxAbs;
  double relativeNorm; ///< of the difference, over that of the reference
};

/// One op outside bodies that has a float operand or result.
struct OpRow {
  std::string function;
  int64_t ordinal; ///< in walk order over the function's rows
  std::string op;
  std::string body; ///< ops in its body by name, without dialects: "subf exp"
  std::string location;
  std::string name; ///< of the location, if it has one
  OpClass opClass;
  std::string compute; ///< empty for control flow
  std::string acc;     ///< the accumulator of contractions and reductions, else empty
  SmallVector<std::string> in, out;
  /// Per float operand, who made it: "op 12" (an ordinal), "argument 0", or "other" (a block's).
  SmallVector<std::string> reads;
  std::string type; ///< of the first float result, before the decision
  std::string by, reason;
  /// Says of a narrowed contraction whose format has a smaller range why its factors fit ("proved",
  /// "assumed", ...), or "unchecked" where a pin or policy asked for it. Empty for others.
  std::string evidence;
  bool narrowed; ///< a contraction that computes in a narrower format than it did
  bool split;    ///< an f32 contraction made of split products, which `compute` names (bf16x3)
  bool scaled;   ///< an f32 contraction on factors stored as the recipe says that `compute` names
  SmallVector<double, 2>
      magnitudes; ///< of the factors of one whose `compute` is f16-pow2: 0 for one that is measured
  bool promoted;  ///< narrow already, and computes or accumulates in f32 inside
  int64_t bytesBefore, bytesAfter; ///< read and written, casts fused
  std::optional<OpError> error;
};

/// State of a train step: the argument, and the result that is its value in the next step.
struct StateRow {
  int64_t argument, result;
  std::string role, type; ///< the role is empty where nobody gave one
};

/// A function the decisions are about.
struct FunctionRow {
  std::string name, hash;
  int64_t ops;
  std::vector<std::string> arguments; ///< format each is stored in, `_` for non-floats
  std::vector<std::string> results;   ///< the same; none where no result changes
  int64_t changedArguments, changedBytesBefore, changedBytesAfter; ///< of the signature
  bool isPrivate;
  std::string keeps;  ///< why a private function keeps its signature; empty if it may change
  std::string copyOf; ///< the private function this one is a copy of; else empty
  /// The callers of a copy: a function, and which of its calls of the original and all copies.
  std::vector<std::pair<std::string, int64_t>> calls;
  std::vector<StateRow> state; ///< of train steps, by argument
};

/// One cast or rounding that mp put in.
struct CastRow {
  std::string function;
  std::string location;
  std::string tensor; ///< whose: "argument 0", "linalg.matmul", a location's name
  std::string type;   ///< of the tensor, before the cast
  std::string from, to;
  int64_t bytes; ///< read by the cast; dynamic sizes count as `assumedDim`
  int64_t users;
  bool ofArgument; ///< its source is a function argument: a weight or an input
};

/// A constant of which some elements were clamped to the largest of its format.
struct SaturatedRow {
  std::string function, location, type;
  int64_t elements;
};

/// One group of ops that together are softmax, a norm, a loss …
struct IdiomRow {
  std::string function;
  std::string kind;
  std::string location; ///< of the op that computes its value
  int64_t members;
};

/// An operand stored in a format that needs scales.
struct ScaledOperand {
  std::string type; ///< as stored
  std::vector<std::string> scales;
  bool aheadOfTime; ///< a constant
};

/// A contraction of scaled values, or one operand that is read back before its op.
struct ScaledRow {
  std::string function, location, op;
  std::vector<ScaledOperand> operands;
  std::string stored = {}; ///< element types: "f8E4M3FN", or "f8E4M3FN x f8E5M2" where they differ
};

/// A value that was rewritten because somebody asked for what a decision offered.
struct RewriteRow {
  std::string function, location;
  std::string rewrite; ///< clamp, pre-scaled norm
  std::string tensor;  ///< whose
  std::string type, format;
  double limit;     ///< of clamps: what is beyond becomes this
  int64_t exponent; ///< of norms: they work on 2^exponent times it
};

/// The certified bound on how far a float result of a public function can be from that of exact
/// arithmetic.
struct CertificateRow {
  std::string function;
  int64_t result;
  double bound;     ///< of every element; infinite: none
  double magnitude; ///< of the exact result at most
  std::string
      lostAt; ///< the op that lost the bound; empty where there is one, or an argument has no range
  bool isAssumed; ///< rests on stated or assumed ranges of arguments
};

/// Names the origin of a value as a person would call it.
std::string describeSource(Value source);

class Report {
public:
  std::string format, target;
  /// Stands for every dynamic size.
  int64_t assumedDim = 128;
  /// For the page alone: the file that the module is from, without folders, and the pipeline with
  /// the options that decide.
  std::string model, command;
  /// For the page alone: the module before and after the pipeline (`printForPage`).
  std::string textBefore, textAfter;
  /// Holds what differs from the report in file `against`, if that was asked for.
  std::string against;
  std::optional<ReportChanges> changes;
  /// Answers what option `explain` asked for, where a program has the report.
  std::string explanation;

  /// Reads the decisions off an assigned module (phase 2).
  void collectDecisions(ModuleOp module);
  /// Reads the casts off a materialized module (phase 3 or 4).
  void collectCasts(ModuleOp module);

  /// Reads what mp-insert-scaling put in off a module of any phase.
  void collectScaling(ModuleOp module);

  /// Bounds the errors of results of a module of phase 3, on the Tensor Cores of `target` or in
  /// IEEE arithmetic. Arguments without a range are within ± `assumed`.
  void collectCertificates(ModuleOp module, double assumed);

  /// Adds what `mp-run --compare=FILE --per-op --json=FILE` measured. An error if it is of another
  /// module.
  llvm::Error addErrors(StringRef json);

  void addPlacement(const Placement &placement) { placements.push_back(placement); }

  /// A few lines for a person.
  void printTable(raw_ostream &os) const;
  llvm::json::Value toJSON() const;

  ArrayRef<FunctionRow> getFunctions() const { return functions; }
  ArrayRef<OpRow> getOps() const { return ops; }
  ArrayRef<CastRow> getCasts() const { return casts; }
  ArrayRef<Placement> getPlacements() const { return placements; }
  ArrayRef<IdiomRow> getIdioms() const { return idioms; }

private:
  /// Type or format as text, `_` for none; valid until the next call.
  const std::string &typeText(Type type);
  void collectFunction(FunctionOpInterface function);
  int64_t collectOps(FunctionOpInterface function);
  void describeDecision(Operation *op, PrecisionAttr precision, OpRow &row);
  void summarizeFunction(FunctionOpInterface function, int64_t decided);
  void collectCopies(ModuleOp module);
  llvm::json::Object totalsToJSON() const;
  void printTotals(raw_ostream &os) const;
  void printScaling(raw_ostream &os) const;
  llvm::json::Array scalingToJSON() const;
  void collectRewrite(FunctionOpInterface function, Operation *op);
  void printEvidence(raw_ostream &os) const;
  void printRewrites(raw_ostream &os) const;
  llvm::json::Array rewritesToJSON() const;
  /// Returns the suggestions for one op.
  llvm::json::Array suggestionsToJSON(const OpRow &row) const;
  void printCertificates(raw_ostream &os) const;
  llvm::json::Array certificatesToJSON() const;

  std::vector<FunctionRow> functions;
  std::vector<OpRow> ops;
  std::vector<CastRow> casts;
  std::vector<IdiomRow> idioms;
  std::vector<ScaledRow> scaled;
  std::vector<SaturatedRow> saturated;
  std::vector<RewriteRow> rewrites;
  std::vector<Placement> placements;
  std::vector<CertificateRow> certificates;
  double assumedRange = 0;
  std::vector<std::string> unassigned; ///< functions left as they were
  int64_t bytesBefore = 0, bytesAfter = 0;
  DenseMap<Type, std::string> typeTexts;
};

} // namespace mlir::mp

#endif // MP_REPORT_REPORT_H
