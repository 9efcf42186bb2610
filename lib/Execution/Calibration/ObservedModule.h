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

/// An error where nothing is to be observed.
llvm::Expected<ObservedModule> observeFactors(ModuleOp original, StringRef entry);

/// Runs the copy once for each whole batch, and returns how many there were. `finish` is told the
/// results of each.
llvm::Expected<int64_t> runBatches(const ObservedModule &observed, StringRef entry,
                                   const InputOptions &inputs, Observation observation,
                                   llvm::function_ref<void(ArrayRef<Array>)> finish = nullptr);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_CALIBRATION_OBSERVEDMODULE_H
