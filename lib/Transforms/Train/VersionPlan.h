// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads what mp-merge-versions is told by its file: versions of a step, and the rules of the
// choice.

#ifndef MP_LIB_TRANSFORMS_TRAIN_VERSIONPLAN_H
#define MP_LIB_TRANSFORMS_TRAIN_VERSIONPLAN_H

#include "mp/Dialect/MP/Versions.h"
#include "llvm/Support/Error.h"

namespace mlir::mp {

/// Version of the layout of the file.
inline constexpr int64_t kVersionPlanVersion = 1;

struct VersionPlan {
  struct Version {
    std::string name, file; ///< no file: the module that the pass runs on
  };
  std::vector<Version> versions; ///< from the widest on
  int64_t otherwise = 0, hold = 0;
  std::vector<std::string> signals; ///< that rules ask for, each once
  std::vector<VersionRule> rules;   ///< with numbers of `signals` and `versions`

  /// Reads a file. Errors name it, what was expected and what was found.
  static llvm::Expected<VersionPlan> read(StringRef path, StringRef option);
};

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_TRAIN_VERSIONPLAN_H
