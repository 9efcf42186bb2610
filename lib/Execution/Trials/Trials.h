// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts one program again and again, each time with other contractions wide, and runs it on the
// same data: what bisection, sensitivity and measured budgets ask.

#ifndef MP_LIB_EXECUTION_TRIALS_TRIALS_H
#define MP_LIB_EXECUTION_TRIALS_TRIALS_H

#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Execution/Inputs.h"
#include "mp/Policy/PolicyJSON.h"

#include <map>

namespace mlir::mp {

class Report;

/// A contraction of the program as given.
struct TrialContraction {
  std::string function, op, location;
  std::string name;     ///< of the location, empty if none
  unsigned ordinal = 0; ///< among the contractions of its function, in walk order
};

/// Results of the last step, or of every draw; `isFinite` of all steps.
struct TrialRun {
  std::vector<std::vector<Array>> results; ///< by draw, those of the program as given
  bool isFinite = true;
  std::vector<std::vector<double>> losses; ///< by draw, step by step: the first scalar result
  /// The same of further scalar results, by name.
  std::map<std::string, std::vector<std::vector<double>>> metrics;
  double seconds = 0;
  int64_t peakBytes = 0;
};

struct TrialData {
  InputOptions inputs;
  int64_t steps = 1; ///< more than one: a train step that is run so often
  int64_t draws = 1; ///< batches, and seeds where inputs are seeded
};

class Trials {
public:
  /// `assign` has the options of mp-train-step, if `data.steps` is more than 1, else of
  /// mp-mixed-precision. Errors where contractions cannot be told apart by their locations.
  static llvm::Expected<Trials> create(ModuleOp source, llvm::StringRef entry,
                                       llvm::StringRef assign, TrialData data);

  llvm::ArrayRef<TrialContraction> contractions() const { return places; }

  /// The target that `assign` names, or nothing.
  llvm::StringRef target() const { return request.target; }

  /// The policy of `assign`, with these contractions wide.
  llvm::Expected<policy::Policy> policyWith(llvm::ArrayRef<unsigned> wide) const;

  /// The program converted by a policy.
  llvm::Expected<OwningOpRef<ModuleOp>> convert(const policy::Policy &policy) const;
  llvm::Expected<OwningOpRef<ModuleOp>> convertWith(llvm::ArrayRef<unsigned> wide) const;

  /// The program converted under a limit of the modelled error, with all else as `assign` says.
  /// `report` is filled in. Without one that keeps the limit there is no module, and no error.
  llvm::Expected<OwningOpRef<ModuleOp>> convertWithin(double maxRelError,
                                                      std::shared_ptr<Report> report) const;

  /// Runs a converted program, or the one given.
  llvm::Expected<TrialRun> run(ModuleOp program) const { return run(program, 0, data.draws); }
  llvm::Expected<TrialRun> run(ModuleOp program, int64_t firstDraw, int64_t draws) const;
  /// The program as given; a train step says what its state is, so that it starts from the state
  /// that converted ones start from.
  ModuleOp reference() const { return stated ? stated.get() : source; }
  llvm::Expected<TrialRun> runReference() const { return run(reference()); }

  /// All results of the first step of the first draw, whatever the program returns.
  llvm::Expected<std::vector<Array>> runOnce(ModuleOp program) const;

  /// All results of the first step with one argument replaced, or none.
  using RunWith =
      llvm::function_ref<llvm::Expected<std::vector<Array>>(std::optional<size_t>, Array)>;
  /// Compiles the program, and lets `body` run it as often as it wants on the arguments of a draw.
  llvm::Error
  runChanged(ModuleOp program, int64_t draw,
             llvm::function_ref<llvm::Error(RunWith, llvm::ArrayRef<Array> arguments)> body) const;

  /// Returns what a policy's rule selects a contraction by.
  policy::Selector selectorOf(unsigned contraction) const;

private:
  Trials() = default;
  llvm::Expected<OwningOpRef<ModuleOp>> runPipeline(llvm::StringRef text,
                                                    std::shared_ptr<Report> report) const;
  struct Prepared;
  llvm::Expected<Prepared> prepare(ModuleOp program, int64_t calls) const;
  llvm::Expected<std::vector<Array>> argumentsOf(ModuleOp program, const Prepared &prepared,
                                                 int64_t draw,
                                                 std::vector<BatchedInput> &batches) const;

  ModuleOp source;
  OwningOpRef<ModuleOp> stated; ///< of a train step: as given, but for roles and state
  std::string entry, assign;    ///< without policy=
  std::string asGiven;          ///< with it
  policy::Request request;
  TrialData data;
  size_t results = 0; ///< of the program as given
  std::vector<TrialContraction> places;
};

/// The sum over float results of the mean square error, each relative to its own mean square, as
/// the error model adds them up; infinite where what is no number differs.
double meanSquareError(llvm::ArrayRef<Array> results, llvm::ArrayRef<Array> reference);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_TRIALS_TRIALS_H
