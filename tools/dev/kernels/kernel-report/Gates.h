// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bounds on what kernels may cost, as data, and whether the kernels of a folder keep them.

#ifndef MP_TOOLS_DEV_KERNELREPORT_GATES_H
#define MP_TOOLS_DEV_KERNELREPORT_GATES_H

#include "Kernels.h"

namespace kernelreport {

/// One bound on one metric. With `other`, the bound is `bound` times that gate's metric.
struct Check {
  std::string metric;
  enum Relation : uint8_t { AtMost, AtLeast, Equals } relation = AtMost;
  double bound = 0;
  std::string other;
};

struct Gate {
  std::string id;     ///< also the name of the kernel's file
  std::string family; ///< of kernels: rows, matmul, ...
  std::string target; ///< sm_80
  std::string what;   ///< for people
  LaunchFacts facts;
  std::vector<Check> checks;
};

/// Reads {"schema": "mp-kernel-gates", "version": 1, "gates": [{"id", "family", "target", "what",
/// "element_bytes", "at_most": {METRIC: NUMBER | {"times": NUMBER, "of": ID}}, "at_least": {...},
/// "equals": {...}}]}. Errors name the gate and the key.
llvm::Expected<std::vector<Gate>> readGates(llvm::StringRef json);

enum class Outcome : uint8_t { Passed, Missed, NotEmitted };

struct Result {
  const Gate *gate;
  Outcome outcome = Outcome::NotEmitted;
  std::vector<std::string> lines; ///< one for each check, those that are missed begin with "missed"
};

/// Holds each gate against ID.ptx or ID.cubin of the folder; one that has no such file is not
/// emitted. Errors for files that belong to no gate or have several kernels, and for kernels of
/// another target.
llvm::Expected<std::vector<Result>> checkGates(llvm::ArrayRef<Gate> gates, llvm::StringRef folder,
                                               const LoadOptions &options);

} // namespace kernelreport

#endif // MP_TOOLS_DEV_KERNELREPORT_GATES_H
