// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Magnitudes of contraction operands, measured on data and kept in a file.

#ifndef MP_TRANSFORMS_SCALE_STATICSCALES_H
#define MP_TRANSFORMS_SCALE_STATICSCALES_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <map>

namespace mlir::mp {

/// Version of the file; a reader refuses others.
inline constexpr int64_t kScalesVersion = 1;

/// An operand whose values a contraction multiplies.
struct ContractionFactor {
  Operation *op;
  unsigned contraction; ///< in walk order over the function
  unsigned operand;
};
/// Returns the f32 operands of contractions in a function, in walk order.
SmallVector<ContractionFactor> findContractionFactors(FunctionOpInterface function);

/// The measured magnitude of one operand.
struct MeasuredMagnitude {
  double amax;    ///< what the scale is made from
  double largest; ///< seen
  uint64_t values, nonFinite;
};

/// The magnitudes of one function, which the file names by its content.
struct FunctionMagnitudes {
  std::string name, hash;
  std::map<std::pair<unsigned, unsigned>, MeasuredMagnitude>
      operands; ///< by contraction and operand
};

class StaticScales {
public:
  std::string method;
  int64_t batches = 0;
  std::vector<FunctionMagnitudes> functions;

  /// Reads a file. An error says which, what was expected and what was found.
  static llvm::Expected<StaticScales> read(StringRef path);
  llvm::json::Value toJSON() const;

  /// Returns what was measured in the function, or an error: there is nothing of that name, or it
  /// was another function.
  llvm::Expected<const FunctionMagnitudes &> lookup(FunctionOpInterface function) const;

private:
  std::string path;
};

} // namespace mlir::mp

#endif // MP_TRANSFORMS_SCALE_STATICSCALES_H
