// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f32 products from several narrow ones. A header of its own: few files need it.

#ifndef MP_DIALECT_MP_SPLITOPS_H
#define MP_DIALECT_MP_SPLITOPS_H

#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Numerics/SplitPrecision.h"
#include "llvm/ADT/DenseSet.h"

#define GET_OP_CLASSES
#include "mp/Dialect/MP/SplitOps.h.inc"

namespace mlir::mp {

/// `mp.split = "bf16x3"` on an f32 contraction: it is to be computed as that many products of
/// parts. A person's wish, or a decision; mp-split-contractions follows it.
inline constexpr llvm::StringLiteral kSplitAttrName = "mp.split";

/// The scheme that `op` carries, if any.
std::optional<numerics::SplitScheme> getSplitScheme(Operation *op);

/// The schemes of more than one product, from the most accurate to the cheapest.
ArrayRef<numerics::SplitScheme> getSplitSchemes();

/// The scheme of more than one product that is spelled so, if any.
std::optional<numerics::SplitScheme> findSplitScheme(llvm::StringRef spelling);

/// The format of the scheme's parts as a type.
FloatType getPartType(MLIRContext *context, numerics::SplitScheme scheme);

/// The split products that `joined` adds up, in order: smaller ones first, the leading one last.
/// Ops that join some of them on the way go to `inner`.
SmallVector<Operation *> getProducts(JoinSplitOp joined,
                                     SmallVectorImpl<Operation *> *inner = nullptr);

/// All products, and joins on the way, that inserted joins in `root` add up: what they stand for is
/// said by the last join alone.
DenseSet<Operation *> findSplitProducts(Operation *root);

/// The parts of a constant (dense or resource elements of f32), tf32 stored in f32; empty where the
/// attribute is of another kind or its data is missing. A resource's parts get names of their own.
SmallVector<Attribute> splitConstant(Attribute constant, numerics::SplitScheme scheme);

} // namespace mlir::mp

#endif // MP_DIALECT_MP_SPLITOPS_H
