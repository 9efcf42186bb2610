// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The linalg spelling of models: named contractions and data movement, one
// linalg.generic per elementwise operation, decomposed reductions that keep their axis.

#ifndef MP_MODELS_LINALGBUILDER_H
#define MP_MODELS_LINALGBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mp/Models/GraphBuilder.h"

namespace mlir::mp {

class LinalgBuilder : public GraphBuilder {
public:
  LinalgBuilder(ModuleOp module, const GraphOptions &options);

  Type idType() override { return builder.getI64Type(); }
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
  Value softmax(Value x) override;
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
  unsigned maxDynamicDims() override { return ~0u; }
  Value counter(int64_t value) override;
  Value buildFor(int64_t count, Value x, LoopBody body) override;
  Value buildWhile(int64_t count, Value x, double tolerance, LoopBody body) override;
  Value buildGate(Value gates, Value index, Value x,
                  llvm::function_ref<Value(Value)> then) override;

private:
  using Body = llvm::function_ref<Value(ArrayRef<Value> scalars)>;
  Value scalar(double value);
  Value index(int64_t value);
  Value empty(ArrayRef<OpFoldResult> sizes, Type element = {});
  Value filled(ArrayRef<OpFoldResult> sizes, double value);
  /// Sizes of the broadcast of `operands`.
  SmallVector<OpFoldResult> broadcastSizes(ArrayRef<Value> operands);
  Value elementwise(ArrayRef<Value> operands, Body body);
  Value generic(ArrayRef<Value> operands, Value init, ArrayRef<AffineMap> maps, unsigned reductions,
                Body body);
  Value pad(Value x, int64_t amount, double value);

  template <typename Op, typename... Args> Value create(Args &&...args) {
    return Op::create(builder, loc(), std::forward<Args>(args)...);
  }
};

} // namespace mlir::mp

#endif // MP_MODELS_LINALGBUILDER_H
