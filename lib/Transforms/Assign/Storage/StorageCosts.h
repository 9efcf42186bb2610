// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prices storing, casting and contracting: modelled time in picoseconds, or bytes stored.
//
// Costs follow fusion groups: what stays inside a kernel is neither written nor read, kernels that
// convert in registers read whatever is stored, an elementwise kernel writes narrow for nothing,
// and every other change of format is a cast of its own.

#ifndef MP_LIB_TRANSFORMS_ASSIGN_STORAGECOSTS_H
#define MP_LIB_TRANSFORMS_ASSIGN_STORAGECOSTS_H

#include "../Decisions.h"
#include "mp/Analysis/Cost/FusionGroups.h"
#include "mp/Analysis/Cost/Sizes.h"
#include "mp/Dialect/MP/Namespaces.h"

namespace mlir::mp {

class StorageCosts {
public:
  StorageCosts(FunctionDecisions &decisions, const AssignSettings &settings);

  bool countsMemory() const { return options.objective == Objective::Memory; }
  const FusionGroups &getGroups() const { return groups; }
  Sizes &getSizes() { return sizes; }
  const Sizes &getSizes() const { return sizes; }

  KernelKind getKind(Operation *op) const { return groups.getKind(op); }

  /// True of constants, and of tensors that are made again in any format.
  bool isMadeInAnyFormat(Value value) const {
    Operation *def = value.getDefiningOp();
    return def && groups.isRemakeable(def);
  }

  /// True if `op` converts what it reads in registers.
  bool readsAnyFormat(Operation *op) const;

  int64_t ofBytes(Value value, FloatType format);
  int64_t ofCast(Value value, FloatType from, FloatType to);
  /// Having `value` in memory in `format`: writing it, and reading it by what reads any format.
  int64_t ofStoring(Value value, FloatType format);
  /// Computing in `format` of factors stored in `factors`, traffic included.
  int64_t ofContraction(Operation *op, FloatType format, FloatType factors);
  /// The parts of `value`, `bits` in all for each element, made from f32.
  int64_t ofSplit(Value value, unsigned bits);
  /// `value` scaled and stored in `format`, made from f32; where it is `measured`, its largest
  /// magnitudes are a pass of their own.
  int64_t ofScaled(Value value, FloatType format, bool measured);
  /// Computing on factors that are stored scaled in `format`, and a pass that scales the sums.
  int64_t ofScaledProduct(Operation *op, FloatType format);
  /// Computing as split products: a kernel each, and one that adds them.
  int64_t ofProducts(Operation *op, numerics::SplitScheme scheme);
  /// True if the target has products of `format`, as far as rates are known.
  bool canContractIn(FloatType format) const {
    return model.contractionTime(getFormatName(format), "", 1, 1).has_value();
  }
  int64_t ofLaunch() const { return countsMemory() ? 0 : model.launch(); }

  /// Costs are limited so that all of them together fit (Problem.h).
  int64_t capped(int64_t cost) const { return std::min(cost, largest); }

private:
  /// The measured time of what `name` names, else `modelled`. Names are made where somebody asks
  /// only.
  int64_t timed(llvm::function_ref<std::string()> name, int64_t modelled) const;

  /// Counts how often `value` is written, and read by what reads any format, whatever it is stored
  /// in.
  struct Transfers {
    bool isStored; ///< in memory at all
    bool isWritten;
    int64_t reads; ///< for each run of the definition
  };
  Transfers countTransfers(Value value);

  /// Returns the bytes that a contraction of factors in `factors` reads and writes.
  uint64_t countTraffic(Operation *op, FloatType factors);

  FunctionDecisions &decisions;
  const target::CostModel &model;
  const PlacementOptions &options;
  std::map<std::string, int64_t> *asked; ///< of the settings
  FusionGroups groups;
  Sizes sizes;
  llvm::DenseMap<Operation *, uint64_t> multiplyAdds;
  Value counted; ///< the last one: each format is asked for in turn
  Transfers transfers = {false, false, 0};
  int64_t largest; ///< of one term
};

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_ASSIGN_STORAGECOSTS_H
