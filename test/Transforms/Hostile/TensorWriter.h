// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TensorWriter writes one tensor computation in several spellings: ops of arith and math on whole
// tensors, one linalg.generic an op, or TOSA. Upstream passes make more spellings of these
// (Respell.cpp).

#ifndef MP_TEST_TRANSFORMS_HOSTILE_TENSORWRITER_H
#define MP_TEST_TRANSFORMS_HOSTILE_TENSORWRITER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::mp::test {

enum class Spelling { Tensor, Generic, Tosa };

enum class Fn {
  // One operand:
  Neg,
  Abs,
  Exp,
  Exp2,
  Log,
  Log1p,
  Sqrt,
  Rsqrt,
  Reciprocal,
  Square,
  Sigmoid,
  Tanh,
  Erf,
  Sin,
  Floor,
  Ceil,
  Round,
  // Two operands:
  Add,
  Sub,
  Mul,
  Div,
  Max,
  Min,
  MaxNum,
  MinNum,
  Pow,
  Rem,
  CopySign
};

/// A tensor, or a number that stands for a tensor of it.
struct Operand {
  Operand(Value value) : value(value) {}
  Operand(double number) : number(number) {}
  Value value;
  double number = 0;
};

class TensorWriter {
public:
  using Dims = SmallVector<int64_t>;
  using Predicate = arith::CmpFPredicate;

  TensorWriter(OpBuilder &builder, Spelling spelling)
      : builder(builder), loc(builder.getUnknownLoc()), spelling(spelling) {}

  // Elementwise ops take tensors of one shape, or in TOSA of shapes that broadcast.
  Value apply(Fn fn, ArrayRef<Operand> operands);
  Value neg(Value x) { return apply(Fn::Neg, {x}); }
  Value abs(Value x) { return apply(Fn::Abs, {x}); }
  Value exp(Value x) { return apply(Fn::Exp, {x}); }
  Value log(Value x) { return apply(Fn::Log, {x}); }
  Value sqrt(Value x) { return apply(Fn::Sqrt, {x}); }
  Value rsqrt(Value x) { return apply(Fn::Rsqrt, {x}); }
  Value reciprocal(Value x) { return apply(Fn::Reciprocal, {x}); }
  Value square(Value x) { return apply(Fn::Square, {x}); }
  Value tanh(Value x) { return apply(Fn::Tanh, {x}); }
  Value add(Operand x, Operand y) { return apply(Fn::Add, {x, y}); }
  Value sub(Operand x, Operand y) { return apply(Fn::Sub, {x, y}); }
  Value mul(Operand x, Operand y) { return apply(Fn::Mul, {x, y}); }
  Value div(Operand x, Operand y) { return apply(Fn::Div, {x, y}); }
  Value max(Operand x, Operand y) { return apply(Fn::Max, {x, y}); }
  Value min(Operand x, Operand y) { return apply(Fn::Min, {x, y}); }
  /// min(max(x, lo), hi), where `min` says what becomes of NaN: an op of its own in TOSA.
  Value clamp(Value x, double lo, double hi, Fn min);
  Value compare(Predicate predicate, Operand x, Operand y);
  Value select(Value condition, Operand yes, Operand no);
  /// Converts `x` to another float format.
  Value cast(Value x, FloatType format);

  /// Writes a constant of the shape of `like`, all elements equal.
  Value splat(double number, Value like, FloatType format);
  Value constant(ArrayRef<int64_t> shape, ArrayRef<double> numbers);
  Value integers(ArrayRef<int64_t> shape, ArrayRef<int32_t> numbers);

  // Reduced dimensions are left out of the type; in TOSA they have size 1.
  /// Reduces by Add, Mul or an extremum, starting at `init`, or else at the neutral element.
  Value reduce(Fn combiner, Value x, ArrayRef<int64_t> dims, std::optional<double> init = {});
  /// Repeats `statistic` along `dims` of `like`, from which these were reduced; in TOSA it only
  /// gets the shape that broadcasts.
  Value spread(Value statistic, Value like, ArrayRef<int64_t> dims);
  Value transpose(Value x, ArrayRef<int64_t> permutation);
  Value reverse(Value x, int64_t dim);
  Value slice(Value x, ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes,
              ArrayRef<int64_t> strides = {});
  Value concat(ValueRange parts, int64_t dim);
  Value pad(Value x, ArrayRef<int64_t> low, ArrayRef<int64_t> high, double number);
  /// Makes a matrix whose element (i, j) is element i + j of `x`.
  Value windows(Value x, int64_t count, int64_t size);
  /// Takes maxima of windows of `size` rows of `x`, which is NHWC, behind `pad` rows of `start`.
  Value poolMax(Value x, int64_t size, int64_t pad, double start);
  /// Takes these rows of the matrix `x`.
  Value gather(Value x, ArrayRef<int32_t> rows);
  /// Keeps the elements in order.
  Value reshape(Value x, ArrayRef<int64_t> shape);

  // Contractions add up f32, beginning with zero.
  /// Multiplies matrices, or batches of such.
  Value matmul(Value x, Value y);
  /// Multiplies `x` by the transpose of `y`.
  Value matmulTransposed(Value x, Value y);
  /// Convolves `x`, which is NHWC, with a filter that is HWCF.
  Value convolve(Value x, Value filter);
  Value matvec(Value x, Value y);

  static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
  static Dims shapeOf(Value value) { return Dims(typeOf(value).getShape()); }
  FloatType formatOf(Value value) { return cast<FloatType>(typeOf(value).getElementType()); }
  /// Repeats `value`, by tosa.tile, until it has this shape.
  Value broadcastTo(Value value, ArrayRef<int64_t> shape);
  Spelling getSpelling() const { return spelling; }
  OpBuilder &getBuilder() { return builder; }
  /// Loops of generic ops run in the opposite order from now on.
  void permuteLoops() { permuted = true; }

  Value create(StringRef name, ValueRange operands, Type type,
               ArrayRef<NamedAttribute> attributes = {});
  /// Makes a destination with the sizes of `like` at `dims`.
  Value empty(Value like, ArrayRef<int64_t> dims, Type format);
  Value filled(double number, Value like, ArrayRef<int64_t> dims, FloatType format);

private:
  using Emit = llvm::function_ref<Value(OpBuilder &, ValueRange)>;
  /// `emit` of the elements of `operands`, or of them as they are. The elements of the result are
  /// of type `result`, or of the operands' if that is null.
  Value elementwise(ArrayRef<Operand> operands, Type result, Emit emit);
  Value generic(ArrayRef<Operand> operands, FloatType format, Type result, Emit emit);
  Value applyTosa(Fn fn, ArrayRef<Operand> operands);
  Value reduceTosa(Fn combiner, Value x, ArrayRef<int64_t> dims);
  Value tosaNumber(double number, Value like, FloatType format);
  Value tosaShape(ArrayRef<int64_t> sizes);
  Value zeroPoint(FloatType format);
  NamedAttribute nanMode(Fn fn);
  AffineMap loops(unsigned rank, ArrayRef<int64_t> kept);
  SmallVector<utils::IteratorType> iterators(unsigned rank, ArrayRef<int64_t> reduced);
  Value sumOfProducts(Value x, Value y, Value init, ArrayRef<AffineMap> maps, unsigned parallel);

  OpBuilder &builder;
  Location loc;
  Spelling spelling;
  bool permuted = false;
};

} // namespace mlir::mp::test

#endif // MP_TEST_TRANSFORMS_HOSTILE_TENSORWRITER_H
