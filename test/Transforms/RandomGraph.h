// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random modules over the input dialects: ops, control flow, calls, constants, dynamic sizes. Valid
// by construction; equal seeds give equal modules.

#ifndef MP_TEST_TRANSFORMS_RANDOMGRAPH_H
#define MP_TEST_TRANSFORMS_RANDOMGRAPH_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <random>

namespace mlir::mp::test {

/// Loads the dialects that graphs use, and the models of mp's interfaces.
void loadDialects(MLIRContext &context);

class RandomGraph {
public:
  RandomGraph(MLIRContext *context, uint64_t seed);

  /// One public function of `size` ops or so, and the private ones it calls, among them @main of
  /// `idioms`. Loops end, and nothing it computes is undefined where all `?` are equal.
  OwningOpRef<ModuleOp> build(unsigned size, ArrayRef<ModuleOp> idioms = {});

private:
  using Pool = SmallVector<Value>; ///< rank-2 tensors of floats that may be used

  // RandomGraph.cpp: straight-line ops. Each adds one value to the pool.
  func::FuncOp buildFunction(StringRef name, TypeRange inputs, unsigned size);
  void addOps(Pool &pool, unsigned count, unsigned depth);
  void addUnary(Pool &pool);
  void addBinary(Pool &pool);
  void addNamedElementwise(Pool &pool);
  void addGenericElementwise(Pool &pool);
  void addRowReduction(Pool &pool);
  void addSoftmax(Pool &pool);
  void addTranspose(Pool &pool);
  void addMatmul(Pool &pool);
  void addGenericContraction(Pool &pool);
  void addConstant(Pool &pool);
  void addSelect(Pool &pool);
  void addUserCasts(Pool &pool);
  void addSlices(Pool &pool);
  void addScalars(Pool &pool);
  void addPad(Pool &pool);

  // RandomGraphTosa.cpp: elementwise, data movement, matmul, conv2d.
  void addTosa(Pool &pool);
  Value tosaConstant(RankedTensorType type);

  // RandomGraphControl.cpp: regions, calls and blocks.
  void addFor(Pool &pool, unsigned depth);
  void addIf(Pool &pool, unsigned depth);
  void addWhile(Pool &pool, unsigned depth);
  void addCall(Pool &pool);
  void addIdiom(ModuleOp idiom);
  /// Splits the function at the insertion point into a diamond of blocks.
  void addDiamond(Pool &pool);

  unsigned below(unsigned limit) { return random() % limit; }
  bool oneIn(unsigned n) { return below(n) == 0; }
  Value pick(const Pool &pool) { return pool[below(pool.size())]; }
  /// A value of the pool with exactly this type; `other` if there is none but itself.
  Value pickLike(const Pool &pool, Value other);
  RankedTensorType randomType();
  Value constant(RankedTensorType type);
  Value scalar(FloatType format);
  /// Sizes of the dynamic dimensions of `type`, whose dimensions are those of `rows` and `columns`.
  SmallVector<Value> sizes(Value value, ArrayRef<int64_t> dims);
  Value dim(Value value, int64_t index);
  /// A destination of `rows` x `columns` like these dimensions of two values.
  Value destination(Value rows, int64_t rowDim, Value columns, int64_t columnDim, FloatType format,
                    bool filled);
  RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

  MLIRContext *context;
  OpBuilder builder;
  Location loc;
  std::mt19937_64 random;
  SmallVector<func::FuncOp> helpers;
};

} // namespace mlir::mp::test

#endif // MP_TEST_TRANSFORMS_RANDOMGRAPH_H
