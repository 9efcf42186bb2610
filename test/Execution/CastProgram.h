// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that convert an array in many ways, and what lib/Numerics says the
// results are.

#ifndef MP_TEST_EXECUTION_CASTPROGRAM_H
#define MP_TEST_EXECUTION_CASTPROGRAM_H

#include "mlir/IR/MLIRContext.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Execution/Array.h"
#include "mp/Numerics/Cast.h"

#include <memory>

namespace mlir::mp::test {

struct Conversion {
  /// mp.cast, arith.extf or arith.truncf, mp.round.
  enum Kind { Cast, Upstream, Round };

  numerics::Format to;
  numerics::Rounding rounding = numerics::Rounding::RNE;
  numerics::Overflow overflow = numerics::Overflow::IEEE;
  Kind kind = Cast;

  /// Format of the result: that of the source for Round.
  numerics::Format resultFormat(numerics::Format from) const { return kind == Round ? from : to; }
  bool isRandom() const { return rounding == numerics::Rounding::SR; }
  /// The pattern that lib/Numerics makes of `bits`.
  uint64_t expected(uint64_t bits, numerics::Format from, uint64_t randomBits) const;
  /// "f32 to f8E4M3FN rz saturate"
  std::string describe(numerics::Format from) const;
};

/// A context with every dialect, ready to compile and run.
std::unique_ptr<MLIRContext> makeExecutionContext();

/// Every rounding and overflow rule into every target (tf32 is no storage format).
std::vector<Conversion> everyWay(numerics::Format from, llvm::ArrayRef<numerics::Format> targets);
/// Into every format, to nearest even.
std::vector<Conversion> toNearest(numerics::Format from);

/// Every pattern of narrow formats; of wide ones the neighbourhoods where roundings
/// change (all exponents, few significands) and random ones up to `random`.
std::vector<uint64_t> patternsOf(numerics::Format format, size_t random);

/// @f(%x : patterns, %r : random bits) with a result for each conversion.
std::string castProgram(numerics::Format from, llvm::ArrayRef<Conversion> conversions,
                        int64_t count);

/// The arguments of that function.
std::vector<Array> castArguments(numerics::Format from, llvm::ArrayRef<uint64_t> patterns);

/// Compares the results with lib/Numerics. `exactNaN` false: any NaN will do for one.
void expectConverted(llvm::StringRef path, numerics::Format from,
                     llvm::ArrayRef<Conversion> conversions, llvm::ArrayRef<Array> arguments,
                     llvm::ArrayRef<Array> results, bool exactNaN = true);

} // namespace mlir::mp::test

#endif // MP_TEST_EXECUTION_CASTPROGRAM_H
