// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The TOSA spelling of models, in the forms of the specification: operands of equal rank,
// zero points and shapes as constant operands, NHWC images, isolated control flow.

#ifndef MP_MODELS_TOSABUILDER_H
#define MP_MODELS_TOSABUILDER_H

#include "mp/Models/GraphBuilder.h"

namespace mlir::mp {

class TosaBuilder : public GraphBuilder {
public:
  TosaBuilder(ModuleOp module, const GraphOptions &options);

  Type idType() override { return builder.getI32Type(); }
  OpFoldResult dim(Value v, int64_t axis) override;
  Value constant(ArrayRef<float> values, ArrayRef<int64_t> shape) override;
  Value matmul(Value a, Value b) override;
  Value batchMatmul(Value a, Value b) override;
  WeightSpec convWeight(StringRef name, int64_t inputs, int64_t outputs, int64_t kernel,
                        double scale) override;
  Value conv2d(Value x, Value weight, Value bias, int64_t stride, int64_t pad) override;
  Value unary(Unary kind, Value x) override;
  Value binary(Binary kind, Value a, Value b) override;
  Value binary(Binary kind, Value a, double b) override;
  Value toFloat(Value x, bool boolean) override;
  Value reduce(Reduction kind, Value x, int64_t axis) override;
  Value causalMask(Value scores, double masked) override;
  Value transpose(Value x, ArrayRef<int64_t> permutation) override;
  Value expand(Value x, int64_t axis, ArrayRef<OpFoldResult> sizes) override;
  Value collapse(Value x, int64_t axis, int64_t count) override;
  Value slice(Value x, int64_t axis, int64_t offset, OpFoldResult size) override;
  Value concat(Value a, Value b, int64_t axis) override;
  Value repeat(Value x, int64_t axis, int64_t times) override;
  Value gather(Value table, Value ids) override;
  Value oneHot(Value ids, int64_t classes) override;
  Value padAxis(Value x, int64_t axis, int64_t before, int64_t after) override;
  Value scalarOf(Value x) override;
  Value layerOf(Value stacked, Value index) override;
  SmallVector<int64_t> imageShape(int64_t batch, int64_t channels, int64_t height,
                                  int64_t width) override;
  Value maxPool(Value x, int64_t kernel, int64_t stride, int64_t pad) override;
  Value globalAveragePool(Value x) override;
  Value imageToTokens(Value x) override;

protected:
  Value materialize(TypedAttr value) override;
  /// tosa.reshape infers one size at most.
  unsigned maxDynamicDims() override { return 1; }
  Value counter(int64_t value) override;
  Value buildFor(int64_t count, Value x, LoopBody body) override;
  Value buildWhile(int64_t count, Value x, double tolerance, LoopBody body) override;
  Value buildGate(Value gates, Value index, Value x,
                  llvm::function_ref<Value(Value)> then) override;

private:
  /// A constant of one value: shape 1x1x.., of the given rank.
  Value splat(Attribute value, Type element, int64_t rank);
  Value splat(double value, int64_t rank) {
    return splat(builder.getF32FloatAttr(value), f32(), rank);
  }
  /// 0, 1, .. along one axis, i32; the other axes have size 1.
  Value iota(int64_t rank, int64_t axis, int64_t length);
  /// A !tosa.shape constant; kDynamic is written -1, the size to infer.
  Value shapeOf(ArrayRef<int64_t> shape);
  Value reshape(Value x, ArrayRef<int64_t> shape);
  /// `x` with leading axes of size 1.
  Value withRank(Value x, int64_t rank);
  Value arithmetic(Binary kind, Value a, Value b);
  /// `x` cut and the padding shrunk so that windows divide the image exactly, as the
  /// specification demands; pads are top, bottom, left, right.
  std::pair<Value, SmallVector<int64_t>> exactWindows(Value x, int64_t kernel, int64_t stride,
                                                      int64_t pad);
  /// Values of a region, given its arguments.
  using RegionBody = llvm::function_ref<SmallVector<Value>(ValueRange)>;
  /// Fills an empty region with one block that ends in tosa.yield.
  void fillRegion(Region &region, TypeRange types, RegionBody body);
  /// Makes values from outside, used in either region, arguments of both; returns them.
  SmallVector<Value> passCaptured(Region &first, Region &second);
  SmallVector<Value> whileLoop(ArrayRef<Value> inits, llvm::function_ref<Value(ValueRange)> more,
                               RegionBody body);

  template <typename Op, typename... Args> Value create(Args &&...args) {
    return Op::create(builder, loc(), std::forward<Args>(args)...);
  }
};

} // namespace mlir::mp

#endif // MP_MODELS_TOSABUILDER_H
