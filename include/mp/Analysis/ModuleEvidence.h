// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evidence through calls: an argument has what all calls of its function hand it.
//
// Nobody sees who else calls a public function, or one whose address is taken: there the class
// assumption about arguments is joined with what the calls in the module say. Calls on a cycle
// say nothing.

#ifndef MP_ANALYSIS_MODULEEVIDENCE_H
#define MP_ANALYSIS_MODULEEVIDENCE_H

#include "mp/Analysis/Evidence.h"
#include "mp/Analysis/FloatRanges.h"
#include "mp/Analysis/TiedStorage.h"

namespace mlir::mp {

class ModuleEvidence {
public:
  explicit ModuleEvidence(const TiedStorage &ties) : ties(ties) {}

  /// Of a function of the module; computed at the first call, callers before callees.
  const EvidenceAnalysis &get(FunctionOpInterface function) { return *compute(function); }
  /// What `call` alone hands to the arguments of its callee.
  SmallVector<Evidence> getOperands(Operation *call);

  /// What is proved of the values of the module that `function` stands in; computed at the first
  /// call.
  const FloatRanges &getProofs(FunctionOpInterface function);

private:
  /// Null while the evidence of the function itself is being computed.
  const EvidenceAnalysis *compute(FunctionOpInterface function);
  /// Empty if nothing is known of an operand's function yet.
  Evidence lookup(Value operand);

  const TiedStorage &ties;
  std::optional<FloatRanges> proofs;
  DenseMap<Operation *, std::unique_ptr<EvidenceAnalysis>> known;
};

} // namespace mlir::mp

#endif // MP_ANALYSIS_MODULEEVIDENCE_H
