// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups ops that share a kernel. The cost model counts memory traffic and launches by these
// groups, and dispatch formation (mp-fuse-elementwise) fuses by the same predicate.

#ifndef MP_ANALYSIS_COST_FUSIONGROUPS_H
#define MP_ANALYSIS_COST_FUSIONGROUPS_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::mp {

/// The kind of kernel an op runs in.
enum class KernelKind : uint8_t {
  None,        ///< makes or needs no kernel: constants, empty tensors, scalars, control flow
  View,        ///< renames elements in place
  Elementwise, ///< each result element from few operand elements, in parallel
  Reduction,   ///< reads elementwise, combines
  Contraction, ///< a kernel of its own
  Other,       ///< a kernel of its own that moves or makes data
};

KernelKind getKernelKind(Operation *op);

/// True of kernels that compute in registers on what they load, in whatever format that is.
inline bool computesInRegisters(KernelKind kind) {
  return kind == KernelKind::Elementwise || kind == KernelKind::Reduction;
}

/// True if the op that defines `operand` is computed inside the kernel of its owner. Casts are,
/// however many readers they have; other elementwise ops when this is their one use, and nothing
/// costly is computed several times.
bool fusesIntoConsumer(OpOperand &operand,
                       llvm::function_ref<KernelKind(Operation *)> kindOf = getKernelKind);

/// The value that reshapes show; exporters write one for each reader.
Value behindReshapes(Value value);

/// True if computing `op` again costs more than loading its result.
bool isCostlyToRepeat(Operation *op);

class FusionGroups {
public:
  explicit FusionGroups(FunctionOpInterface function);

  /// getKernelKind(), asked of each op once: it reads the bodies of structured ops.
  KernelKind getKind(Operation *op) const;

  /// isRemakeable(), asked of each op once.
  bool isRemakeable(Operation *op) const { return getPlace(op).isRemakeable; }

  /// The last op of the kernel that `op` belongs to; `op` itself where it stands alone, and where
  /// several kernels compute it.
  Operation *getRoot(Operation *op) const;

  /// True if the kernels of its readers compute `op`, so that it has none of its own.
  bool isAbsorbed(Operation *op) const;

  /// True if `value` lives in registers only.
  bool isInternal(Value value) const { return isAbsorbed(value.getDefiningOp()); }

private:
  /// Says where and how one op runs.
  struct Place {
    KernelKind kind;
    bool isRemakeable;
    bool isAbsorbed = false;
    Operation *root = nullptr; ///< null: itself
  };
  Place &getPlace(Operation *op) const;

  mutable llvm::DenseMap<Operation *, Place> places;
  mutable std::pair<Operation *, Place *> lastAsked; ///< until `places` grows
};

} // namespace mlir::mp

#endif // MP_ANALYSIS_COST_FUSIONGROUPS_H
