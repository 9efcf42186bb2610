// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports how far a result is from its reference, for people and for programs.

#ifndef MP_EXECUTION_COMPARE_COMPARISON_H
#define MP_EXECUTION_COMPARE_COMPARISON_H

#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Execution/Array.h"
#include "mp/Numerics/Compare.h"
#include "llvm/Support/JSON.h"

namespace mlir::mp {

struct ErrorReport {
  std::string label; ///< "result 0", or the op of an intermediate value
  std::string type;  ///< of the result
  bool isFloat = true;
  numerics::Comparison stats;
  double meanAbsolute = 0;
  double largestReference = 0; ///< largest finite magnitude of the reference
  size_t flushed = 0; ///< elements that `storedAs` holds as zero, where the reference has none
  std::optional<numerics::Format> storedAs;

  /// Largest absolute error over the largest magnitude of the reference; what
  /// --max-rel limits. Infinity if NaN or infinities do not match.
  double relativeToLargest() const;
  /// Signal to quantisation noise in dB; infinity when equal.
  double sqnr() const;
  bool passes(double maxRelative) const { return relativeToLargest() <= maxRelative; }
  llvm::json::Object toJSON() const;
};

/// Compares element by element; shapes must agree, formats need not. ULPs are those
/// of the result's format. `storedAs`: the format that the result is cast to.
llvm::Expected<ErrorReport> compareArrays(const Array &result, const Array &reference,
                                          llvm::StringRef label,
                                          std::optional<numerics::Format> storedAs = std::nullopt);

/// A few lines for one report.
void printReport(llvm::raw_ostream &os, const ErrorReport &report, const Array &result);

/// One line per report, aligned: for the values inside a function.
void printTable(llvm::raw_ostream &os, llvm::ArrayRef<ErrorReport> reports);

/// A warning for each of the first reports of which more than a hundredth is flushed to zero.
void printFlushed(llvm::raw_ostream &os, llvm::ArrayRef<ErrorReport> reports);

/// Type and values of a small array; type, extremes and NaN and infinity counts of
/// a large one.
void printArray(llvm::raw_ostream &os, llvm::StringRef label, const Array &array);

} // namespace mlir::mp

#endif // MP_EXECUTION_COMPARE_COMPARISON_H
