// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two functions side by side: which converted op stands for which original one.

#ifndef MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASUREMATCHER_H
#define MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASUREMATCHER_H

#include "ErasureExponents.h"
#include "ErasureLayouts.h"
#include "mp/Dialect/MP/Scaling.h"
#include "mp/Dialect/MP/SplitOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::mp {

/// Equal attributes, or a float constant converted to another format by rounding to nearest even.
/// Reads resources; one whose data is missing equals only itself. With `mayBeTF32`, f32 values may
/// also be the original's rounded to tf32; with `saturated` what overflows is clamped.
bool isSameConstant(Attribute original, Attribute converted, bool mayBeTF32 = false,
                    bool saturated = false);

/// Equal types up to the format of float elements.
bool isSameUpToFormat(Type original, Type converted);

/// Pairs the ops of an original op and a converted one, regions included. *Anchored* ops pair one
/// to one in program order. *Floating* ops (constants, tensor.empty, linalg.fill) pair on demand,
/// when operands of anchored ops are compared. Inserted casts stand for their source, on both
/// sides.
class ErasureMatcher {
public:
  using SymbolPair = std::pair<StringAttr, StringAttr>;

  explicit ErasureMatcher(bool allowPromotion) : allowPromotion(allowPromotion) {}

  /// Pairs everything, then compares operands (blocks need not stand in order of dominance).
  LogicalResult match(Operation *original, Operation *converted);

  /// Callees that differ in name, and so must match as functions.
  ArrayRef<SymbolPair> getCalls() const { return calls.getArrayRef(); }

private:
  LogicalResult pairOps(Operation *original, Operation *converted);
  LogicalResult pairRegions(Region &original, Region &converted);
  LogicalResult pairBlocks(Block &original, Block &converted);
  LogicalResult compareAttributes(Operation *original, Operation *converted);
  LogicalResult compareTypes(Operation *original, Operation *converted);
  /// Compares those of ops with as many results, which may be of different dialects.
  LogicalResult compareResultTypes(Operation *original, Operation *converted);
  LogicalResult checkPromotion(Operation *original, Operation *converted);
  LogicalResult compareOperands(Operation *original, Operation *converted);
  LogicalResult pairScaled(Operation *original, ScaledMatmulOp converted);
  LogicalResult compareScaled(Operation *original, ScaledMatmulOp converted);
  LogicalResult pairCodes(Operation *original, Operation *converted);
  LogicalResult pairSplit(Operation *original, JoinSplitOp converted);
  LogicalResult compareSplit(Operation *original, JoinSplitOp converted);
  LogicalResult pairFactored(Operation *original, Operation *converted);
  LogicalResult pairMoved(Operation *original, Operation *converted);
  bool isWideningOfArgument(Operation *converted) const;

  /// True if `converted` stands for `original`. A factor of a contraction, where tf32 is stated by
  /// rounding f32 values, may be a constant so rounded. Dimensions lie in that order.
  bool isSame(Value original, Value converted, bool isFactor = false, ArrayRef<int64_t> order = {});
  /// The same of empty and filled tensors and of constants of one number, which are made anew.
  bool isSameUniform(Value original, Value converted, ArrayRef<int64_t> order);
  bool isSameFloating(OpResult original, OpResult converted, bool isFactor);
  /// True if codes times scales stand for `original`.
  bool isSameScaled(Value original, Value codes, ValueRange scales);
  /// The same where the value that was stored is known; null if it is a constant.
  bool isSameStored(Value original, Value source, Value codes, ValueRange scales);

  llvm::DenseMap<Value, Value> originals;  ///< of converted results and block arguments
  llvm::DenseMap<Block *, Block *> blocks; ///< original to converted
  llvm::DenseSet<Operation *>
      parts; ///< converted ops that a join of parts stands for, or that only scaling reads
  ErasureExponents powersBefore, powers; ///< of the original and the converted function
  unsigned appendedResults = 0; ///< state of scaling, behind what the function itself returns
  llvm::DenseSet<std::pair<Value, Value>> sameFloating;
  ErasureLayouts layouts;
  SmallVector<std::pair<Operation *, Operation *>> pairs;
  llvm::SetVector<SymbolPair> calls;
  bool allowPromotion;
};

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASUREMATCHER_H
