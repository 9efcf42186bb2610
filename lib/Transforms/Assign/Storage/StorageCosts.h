// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prices storing, casting and contracting: modelled time in picoseconds, or bytes stored.
//
// Times are those of the performance model, for kernels as dispatch formation makes them
// (DispatchGroups.h): what stays inside a kernel is neither written nor read; elementwise kernels
// and reductions read whatever is stored; what a kernel makes it writes in any format, or in two;
// products narrow f32 that no kernel makes while they load it. Every other change of format is a
// kernel of its own.

#ifndef MP_LIB_TRANSFORMS_ASSIGN_STORAGECOSTS_H
#define MP_LIB_TRANSFORMS_ASSIGN_STORAGECOSTS_H

#include "../Decisions.h"
#include "mp/Analysis/Cost/DispatchGroups.h"
#include "mp/Analysis/Cost/FusionGroups.h"
#include "mp/Analysis/Cost/Sizes.h"
#include "mp/Dialect/MP/Namespaces.h"

namespace mlir::mp {

class StorageCosts {
public:
  StorageCosts(FunctionDecisions &decisions, const AssignSettings &settings);

  bool countsMemory() const { return options.objective == Objective::Memory; }
  /// True if `value` lives in registers only.
  bool isInternal(Value value) const { return dispatches.isInternal(value); }
  Sizes &getSizes() { return sizes; }
  const Sizes &getSizes() const { return sizes; }

  /// True if `op` is read where its operand lies.
  bool showsOperand(Operation *op) const { return dispatches.showsOperand(op); }

  KernelKind getKind(Operation *op) const { return groups.getKind(op); }

  /// True of constants, and of tensors that are made again in any format.
  bool isMadeInAnyFormat(Value value) const {
    Operation *def = value.getDefiningOp();
    return def && groups.isRemakeable(def);
  }

  /// True if `op` converts what it reads in registers.
  bool readsAnyFormat(Operation *op) const;

  int64_t ofBytes(Value value, FloatType format);
  /// A copy of `value`, stored in `from`, in `to`, where the dispatch that makes or reads it makes
  /// the copy, or as a kernel of its own.
  int64_t ofCast(Value value, FloatType from, FloatType to);
  /// Having `value` in memory in `format`: writing it, and reading it by what reads any format.
  int64_t ofStoring(Value value, FloatType format);
  /// Storing the result of a contraction that computes in `format` in `stored` instead of f32, the
  /// storage itself left out.
  int64_t ofNarrowing(Operation *op, FloatType format, FloatType stored);
  /// Computing in `format` of factors stored in `factors`, which are read; what it writes counts
  /// with its result.
  int64_t ofContraction(Operation *op, FloatType format, FloatType factors) {
    return ofContraction(op, format, factors, /*converts=*/true);
  }
  /// The launch of the kernel that `op` is the first of; none for others.
  int64_t ofFirst(Operation *op) {
    return getKind(op) != KernelKind::None && dispatches.isFirst(op) ? ofLaunch() : 0;
  }
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
  bool canContractIn(FloatType format);
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

  /// Returns what `value` shows the elements of.
  Value skipViews(Value value) const;
  /// True if a kernel makes `value`, seen through views, that may write it in several formats.
  bool isMade(Value value);
  /// True if `value` is stored in `from` whatever is chosen, and the products that read it convert
  /// it while they load it.
  bool isConvertedByReaders(Value value, FloatType from, FloatType to);
  /// The time that its readers read longer if `value` is stored in `from` instead of `to`.
  int64_t ofReadingWide(Value value, FloatType from, FloatType to);
  /// The contractions that read a value.
  struct Products {
    unsigned count = 0;
    bool areNarrow = true; ///< all of them, and run in tiles
  };
  const Products &productsThatRead(Value value);
  /// True if no more than a cast of its own would take.
  bool mayConvertInReaders(Value value, FloatType from, FloatType to);
  /// True if a contraction runs in tiles, as it is decided or in `format`: on Tensor Cores, in f32
  /// on the scalar units.
  bool hasTiles(Operation *op);
  bool runsInTiles(Operation *op, FloatType format);
  const mpcore::performance::MatmulProblem &sizeOf(Operation *op);
  /// The same; `converts`: factors may be stored in f32 and narrowed on the way.
  int64_t ofContraction(Operation *op, FloatType format, FloatType factors, bool converts);
  /// The time of a contraction as one kernel that reads its factors and writes its result.
  int64_t ofKernel(Operation *op, FloatType format, FloatType factors, bool converts);
  /// The shares of both products in the kernel of attention, whose second is `values`. The first
  /// one's is what it takes apart, so that it gains nothing where the other stays in f32.
  struct AttentionTimes {
    int64_t logits, values;
  };
  AttentionTimes ofAttention(Operation *values, FloatType format);
  /// The time that a product of attention takes more where kernels are apart: the softmax is one,
  /// and logits and probabilities are written and read.
  int64_t ofKernelsApart(Operation *op);

  FunctionDecisions &decisions;
  const mpcore::performance::CostModel &model;
  const PlacementOptions &options;
  std::map<std::string, int64_t> *asked; ///< of the settings
  FusionGroups groups;
  Sizes sizes;
  SmallVector<std::pair<FloatType, bool>, 4> contracts; ///< formats asked for so far
  llvm::DenseMap<Operation *, mpcore::performance::MatmulProblem> products; ///< of contractions
  llvm::DenseMap<Value, Products> readers; ///< of values that contractions read
  DispatchGroups dispatches;
  Value counted; ///< the last one: each format is asked for in turn
  Transfers transfers = {false, false, 0};
  /// A copy in another format is made in the registers of the kernel that makes the value, written
  /// by that beside the value, or made elsewhere.
  enum class Copied : uint8_t { Inside, Beside, Apart };
  Value copied; ///< the last one
  Copied copiedBy = Copied::Apart;
  int64_t largest; ///< of one term
};

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_ASSIGN_STORAGECOSTS_H
