// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names and categories of the remarks that mp's passes emit through mlir::remark.
// `--remarks-filter` selects by category; docs/reference/Policies.md says how people read them.

#ifndef MP_DIALECT_MP_REMARKS_H
#define MP_DIALECT_MP_REMARKS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::mp::remarks {

/// Decisions about precision, and rewrites that serve them.
inline constexpr llvm::StringLiteral kPrecision = "mp";
/// mp-assign-precision: a contraction computes in a narrow format (passed).
/// mp-narrow-doubles: ops of a function compute in f32 in place of f64 (passed).
inline constexpr llvm::StringLiteral kNarrowed = "narrowed";
/// mp-assign-precision: a contraction computes in split precision (passed).
inline constexpr llvm::StringLiteral kSplit = "split";
/// mp-assign-precision, mp-insert-scaling: a contraction works on scaled values (passed).
inline constexpr llvm::StringLiteral kScaled = "scaled";
/// mp-assign-precision: a contraction keeps its format (missed).
/// mp-narrow-doubles: an op stays in f64 (missed).
inline constexpr llvm::StringLiteral kKeptWide = "kept-wide";
/// mp-assign-precision: a result is stored in a narrow format (analysis).
inline constexpr llvm::StringLiteral kStoredNarrow = "stored-narrow";
/// mp-assign-precision: a rewrite would let an op be narrow (analysis).
inline constexpr llvm::StringLiteral kSuggestion = "suggestion";
/// mp-insert-scaling: a contraction keeps its operands (missed).
inline constexpr llvm::StringLiteral kNotScaled = "not-scaled";
/// mp-insert-clamps: an operand is not clamped (missed).
inline constexpr llvm::StringLiteral kNotClamped = "not-clamped";
/// mp-prescale-norms: a norm keeps its squares as they are (missed).
inline constexpr llvm::StringLiteral kNotPrescaled = "not-prescaled";

/// The choice of instructions by mp-select-contractions.
inline constexpr llvm::StringLiteral kSelection = "mp-select-contractions";
/// A contraction runs on the scalar units (missed).
inline constexpr llvm::StringLiteral kScalarContraction = "scalar-contraction";
/// A contraction of 8-bit floats runs on Tensor Cores of f16, which hold them exactly (passed).
inline constexpr llvm::StringLiteral kWidenedContraction = "widened-contraction";

/// The choice of families by mp-refuse-dispatches.
inline constexpr llvm::StringLiteral kRefusal = "mp-refuse-dispatches";
/// A dispatch takes the plain route (missed).
inline constexpr llvm::StringLiteral kPlainDispatch = "plain-dispatch";

/// Dispatches.
inline constexpr llvm::StringLiteral kDispatches = "mp-dispatches";
/// mp-form-dispatches: ops run as one kernel (passed).
inline constexpr llvm::StringLiteral kFormed = "formed";
/// mp-form-dispatches: ops of a kernel compute in f64 (analysis).
inline constexpr llvm::StringLiteral kComputesF64 = "computes-f64";
/// mp-form-dispatches: a contraction and its readers run as kernels of their own (missed).
inline constexpr llvm::StringLiteral kEpilogueApart = "epilogue-apart";
/// mp-form-dispatches: attention runs as several kernels (missed).
inline constexpr llvm::StringLiteral kAttentionApart = "attention-apart";
/// mp-select-schedules: how far attention as one kernel may be from attention in exact arithmetic,
/// and as several kernels (analysis).
inline constexpr llvm::StringLiteral kAttentionRounding = "attention-rounding";
/// mp-group-dispatches: equal maps run as one kernel (passed).
inline constexpr llvm::StringLiteral kGrouped = "grouped";
/// mp-emit-contractions: a product has sparse weights (passed), or could not (missed).
inline constexpr llvm::StringLiteral kSparseProduct = "sparse-product";
/// mp-to-nvvm: a kernel spilled, and its dispatch takes a schedule of fewer registers (missed).
inline constexpr llvm::StringLiteral kSmallerSchedule = "smaller-schedule";
/// mp-select-schedules: the schedule of a dispatch, and why (analysis).
inline constexpr llvm::StringLiteral kSchedule = "schedule";

/// Machine code made by mp-emit-kernels.
inline constexpr llvm::StringLiteral kKernels = "mp-emit-kernels";
/// The registers and the shared memory that a kernel takes (analysis).
inline constexpr llvm::StringLiteral kKernelResources = "kernel-resources";

/// Programs for many ranks, by mp-partition.
inline constexpr llvm::StringLiteral kDistribution = "mp-partition";
/// mp-partition: says what ranks compute on parts, and what they exchange (analysis).
inline constexpr llvm::StringLiteral kPartitioned = "partitioned";

} // namespace mlir::mp::remarks

#endif // MP_DIALECT_MP_REMARKS_H
