// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module that runs on batches and shows what its contractions multiply.

#ifndef MP_LIB_EXECUTION_CALIBRATION_OBSERVEDMODULE_H
#define MP_LIB_EXECUTION_CALIBRATION_OBSERVEDMODULE_H

#include "../Host/Observer.h"
#include "Calibrate.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::mp {

/// A copy of a module that shows every factor of its contractions while it runs.
struct ObservedModule {
  OwningOpRef<ModuleOp> module;
  struct Place {
    func::FuncOp function; ///< of the module as given
    ContractionFactor factor;
  };
  std::vector<Place> places;
};

/// Brings f32 constants from resources, as exporters write them, into attributes, whose elements
/// can be read and changed.
void unpackConstants(ModuleOp module);

/// An error where nothing is to be observed.
llvm::Expected<ObservedModule> observeFactors(ModuleOp original, StringRef entry);

/// Notices values that an option which learns from data can learn nothing from.
class FiniteCheck {
public:
  explicit FiniteCheck(StringRef option) : option(option) {}

  void see(int64_t place, ArrayRef<float> elements);

  /// Errors where a value that was seen is no number or infinite: names the row of the batch that
  /// was fed, where it comes from there.
  llvm::Error check(const ObservedModule &observed, const Signature &signature, int64_t batch,
                    ArrayRef<Array> arguments, ArrayRef<BatchedInput> batches) const;

private:
  StringRef option;
  std::optional<float> value; ///< the first that is not finite
  size_t place = 0;
  int64_t element = 0;
};

/// Runs the copy once for each whole batch, and returns how many there were. `finish` is told the
/// results of each; after the first batch that `finite` finds fault with there is no other.
llvm::Expected<int64_t> runBatches(const ObservedModule &observed, StringRef entry,
                                   const InputOptions &inputs, Observation observation,
                                   llvm::function_ref<void(ArrayRef<Array>)> finish = nullptr,
                                   const FiniteCheck *finite = nullptr);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_CALIBRATION_OBSERVEDMODULE_H
