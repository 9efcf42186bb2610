// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transfers worst-case errors through one operation, given the ranges of its operands and results.

#ifndef MP_LIB_ANALYSIS_ERROR_ERRORTRANSFER_H
#define MP_LIB_ANALYSIS_ERROR_ERRORTRANSFER_H

#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Domains/Error.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"

namespace mlir::mp {

/// The operands of an op, and what is known of its result.
struct ErrorOperands {
  /// Per operand; of those that are no floats the error alone counts: exact, or unknown where they
  /// may differ from what exact arithmetic gives.
  SmallVector<domains::Measured> measured;
  domains::FloatFacts exact;    ///< of the result
  domains::FloatFacts computed; ///< of the result as it is computed
  domains::RowLength rows;
  /// Errors are linked to row norms; not so in bodies, whose rows are not those of operands.
  bool hasRows = true;
  /// The scheme of a contraction that stands for split products of its factors.
  std::optional<numerics::SplitScheme> split = std::nullopt;

  bool isSame(unsigned operand) const { return measured[operand].error.isExact(); }
};

class ErrorTransfer {
public:
  explicit ErrorTransfer(StringRef chip) {
    if (auto architecture = numerics::parseArchitecture(chip))
      chips.push_back(*architecture);
  }

  /// Error of a float result of an op that is no linalg op with a body.
  domains::ErrorFacts evaluate(Operation *op, Value result, const ErrorOperands &operands) const;

  /// A sum of `x` over groups of elements on top of `init`, in the format of `type`.
  domains::ErrorFacts sum(const domains::Measured &x, const domains::ReducedElements &elements,
                          const domains::Measured *init, Type type) const;

  /// Bounds the error by the ranges alone: two values in them may be that far apart.
  static domains::ErrorFacts apart(const domains::FloatFacts &exact,
                                   const domains::FloatFacts &computed);

private:
  domains::ErrorFacts evaluateKnown(Operation *op, const FloatMeaning &meaning, Value result,
                                    const ErrorOperands &operands) const;
  domains::ErrorFacts merge(Operation *op, const FloatMeaning &meaning,
                            const ErrorOperands &operands) const;
  domains::ErrorFacts contraction(Operation *op, const FloatMeaning &meaning, Value result,
                                  const ErrorOperands &operands) const;

  SmallVector<numerics::Architecture, 1> chips; ///< whose Tensor Cores may sum: one or none
};

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_ERROR_ERRORTRANSFER_H
