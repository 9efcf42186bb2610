// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows gradients through the depth of a network: where they vanish or explode on their way back.

#ifndef MP_LIB_EXECUTION_WATCH_GRADIENTFLOW_H
#define MP_LIB_EXECUTION_WATCH_GRADIENTFLOW_H

#include "mp/Watch/Alarms.h"
#include "llvm/Support/JSON.h"

#include <string>
#include <utility>
#include <vector>

namespace mlir::mp {
namespace watch = mpcore::watch;

class GradientFlow {
public:
  /// Takes the gradients of a step. Layers are the names before the last dot, in the order that
  /// `placeOf` says of parameters.
  void add(const watch::StepReading &reading,
           llvm::function_ref<size_t(llvm::StringRef parameter)> placeOf);

  /// Bits by which the norm of a layer's gradient changes from one to the next, by least squares
  /// over medians of the steps; none below three layers. Positive: less arrives at the first.
  std::optional<double> slope() const;

  /// "vanish" or "explode" where the slope is beyond a bit a layer, else "arrive".
  llvm::StringRef verdict() const;
  /// Says what to try, or is empty.
  llvm::StringRef advice() const;

  /// Name and figures of each layer, and the verdict last; empty without gradients.
  std::vector<std::pair<std::string, std::string>> rows() const;
  llvm::json::Object toJSON() const;

private:
  struct Layer {
    std::string name;
    size_t place = 0;         ///< of its first parameter
    std::vector<double> bits; ///< log2 of the norm, by step
    std::vector<double> zeros;
  };
  std::vector<Layer> layers;
};

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_WATCH_GRADIENTFLOW_H
