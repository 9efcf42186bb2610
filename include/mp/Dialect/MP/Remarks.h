// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The remarks that mp's passes emit through mlir::remark, each with its name and category.
// `--remarks-filter` selects by category; docs/reference/Policies.md says how people read them.

#ifndef MP_DIALECT_MP_REMARKS_H
#define MP_DIALECT_MP_REMARKS_H

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::mp::remarks {

/// A kind of remark, which is what remark::passed, missed and analysis take.
struct Kind {
  llvm::StringLiteral name, category;

  operator remark::RemarkOpts() const { return remark::RemarkOpts::name(name).category(category); }

  /// The same, with the name of the function that `op` is, or is in.
  remark::RemarkOpts in(Operation *op) const {
    auto function = dyn_cast<FunctionOpInterface>(op);
    if (!function)
      function = op->getParentOfType<FunctionOpInterface>();
    remark::RemarkOpts opts = *this;
    return function ? opts.function(function.getName()) : opts;
  }
};

/// Decisions about precision, and rewrites that serve them.
inline constexpr llvm::StringLiteral kPrecision = "mp";
/// mp-assign-precision: a contraction computes in a narrow format (passed).
/// mp-narrow-doubles: ops of a function compute in f32 in place of f64 (passed).
inline constexpr Kind kNarrowed{"narrowed", kPrecision};
/// mp-assign-precision: a contraction computes in split precision (passed).
inline constexpr Kind kSplit{"split", kPrecision};
/// mp-assign-precision, mp-insert-scaling: a contraction works on scaled values (passed).
inline constexpr Kind kScaled{"scaled", kPrecision};
/// mp-assign-precision: a contraction keeps its format (missed).
/// mp-narrow-doubles: an op stays in f64 (missed).
inline constexpr Kind kKeptWide{"kept-wide", kPrecision};
/// mp-assign-precision: a result is stored in a narrow format (analysis).
inline constexpr Kind kStoredNarrow{"stored-narrow", kPrecision};
/// mp-assign-precision: a rewrite would let an op be narrow (analysis).
inline constexpr Kind kSuggestion{"suggestion", kPrecision};
/// mp-insert-scaling: a contraction keeps its operands (missed).
inline constexpr Kind kNotScaled{"not-scaled", kPrecision};
/// mp-insert-clamps: an operand is not clamped (missed).
inline constexpr Kind kNotClamped{"not-clamped", kPrecision};
/// mp-prescale-norms: a norm keeps its squares as they are (missed).
inline constexpr Kind kNotPrescaled{"not-prescaled", kPrecision};

/// mp-recompute: what a function keeps, computes again and stores narrow (passed).
inline constexpr Kind kRecomputed{"recomputed", kPrecision};

/// mp-choose-layouts: which convolutions of a function have channels last (passed).
inline constexpr Kind kLayouts{"layouts", kPrecision};

/// mp-factor-weights: a weight is two factors (passed).
inline constexpr Kind kFactored{"factored", kPrecision};
/// mp-factor-weights: a weight stays whole (missed).
inline constexpr Kind kNotFactored{"not-factored", kPrecision};

/// The choice of instructions by mp-select-contractions.
inline constexpr llvm::StringLiteral kSelection = "mp-select-contractions";
/// A contraction runs on the scalar units (missed).
inline constexpr Kind kScalarContraction{"scalar-contraction", kSelection};
/// A contraction of 8-bit floats runs on Tensor Cores of f16, which hold them exactly (passed).
inline constexpr Kind kWidenedContraction{"widened-contraction", kSelection};

/// The choice of families by mp-refuse-dispatches.
inline constexpr llvm::StringLiteral kRefusal = "mp-refuse-dispatches";
/// A dispatch takes the plain route (missed).
inline constexpr Kind kPlainDispatch{"plain-dispatch", kRefusal};

/// Dispatches.
inline constexpr llvm::StringLiteral kDispatches = "mp-dispatches";
/// mp-form-dispatches: ops run as one kernel (passed).
inline constexpr Kind kFormed{"formed", kDispatches};
/// mp-form-dispatches: ops of a kernel compute in f64 (analysis).
inline constexpr Kind kComputesF64{"computes-f64", kDispatches};
/// mp-form-dispatches: a contraction and its readers run as kernels of their own (missed).
inline constexpr Kind kEpilogueApart{"epilogue-apart", kDispatches};
/// mp-form-dispatches: attention runs as several kernels (missed).
inline constexpr Kind kAttentionApart{"attention-apart", kDispatches};
/// mp-select-schedules: how far attention as one kernel may be from attention in exact arithmetic,
/// and as several kernels (analysis).
inline constexpr Kind kAttentionRounding{"attention-rounding", kDispatches};
/// mp-choose-functions: a function is approximate, since a rounding hides it (passed).
inline constexpr Kind kApproximated{"approximated", kDispatches};
/// mp-choose-functions: a function is exact, since nothing behind it hides an error (missed).
inline constexpr Kind kKeptExact{"kept-exact", kDispatches};
/// mp-split-index-reductions: one thread goes along each row of a reduction (missed).
inline constexpr Kind kIndexReductionKept{"index-reduction-kept", kDispatches};
/// mp-group-dispatches: equal maps run as one kernel (passed).
inline constexpr Kind kGrouped{"grouped", kDispatches};
/// mp-emit-contractions: a product has sparse weights (passed), or could not (missed).
inline constexpr Kind kSparseProduct{"sparse-product", kDispatches};
/// mp-to-nvvm: a kernel spilled, and its dispatch takes a schedule of fewer registers (missed).
inline constexpr Kind kSmallerSchedule{"smaller-schedule", kDispatches};
/// mp-select-schedules: the schedule of a dispatch, and why (analysis).
inline constexpr Kind kSchedule{"schedule", kDispatches};

/// Machine code made by mp-emit-kernels.
inline constexpr llvm::StringLiteral kKernels = "mp-emit-kernels";
/// The registers and the shared memory that a kernel takes (analysis).
inline constexpr Kind kKernelResources{"kernel-resources", kKernels};

/// Programs for many ranks, by mp-partition.
inline constexpr llvm::StringLiteral kDistribution = "mp-partition";
/// mp-partition: says what ranks compute on parts, and what they exchange (analysis).
inline constexpr Kind kPartitioned{"partitioned", kDistribution};

} // namespace mlir::mp::remarks

#endif // MP_DIALECT_MP_REMARKS_H
