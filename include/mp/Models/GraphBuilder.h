// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds a model as a graph of f32 tensors. Models are written once against this
// interface; LinalgBuilder and TosaBuilder spell each operation the way frontends
// print it in their dialect. Shapes are in elements; a size is an OpFoldResult, a
// constant or (in linalg) an SSA index for a dynamic dimension.

#ifndef MP_MODELS_GRAPHBUILDER_H
#define MP_MODELS_GRAPHBUILDER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <memory>
#include <string>

namespace mlir::mp {

enum class Unary {
  Relu,
  Gelu,
  Tanh,
  Exp,
  Rsqrt,
  Sqrt,
  Sigmoid,
  Sin,
  Cos,
  Negate,
  Log,
  Erf,
  Abs,
  Reciprocal,
  Step ///< 1 where positive, else 0.
};
enum class Binary { Add, Subtract, Multiply, Divide };
enum class Reduction { Sum, Max };
enum class WeightStorage { Arguments, Constants, Resources };
enum class SoftmaxForm { Decomposed, Named };
enum class ControlFlow { None, For, If, While, All };
enum class Optimizer { None, Sgd, Momentum, Adam, AdamW, Lamb };
/// The loss that a training step of the model minimises.
enum class Loss { SquaredError, CrossEntropy };

/// A weight with its seeded initial value, offset + scale * uniform(-1, 1).
/// Values depend on the seed and the name alone, and are drawn in the order of
/// `shape`; `layout`, if any, permutes them into the stored order, so that the
/// linalg and the TOSA form of a convolution hold the same numbers.
struct WeightSpec {
  std::string name;
  SmallVector<int64_t> shape;
  double scale = 0;
  double offset = 0;
  SmallVector<int64_t> layout = {};
  /// Trained values, instead of drawn ones.
  std::vector<float> values = {};

  SmallVector<int64_t> storedShape() const;
};

struct GraphOptions {
  WeightStorage weights = WeightStorage::Arguments;
  SoftmaxForm softmax = SoftmaxForm::Decomposed;
  ControlFlow controlFlow = ControlFlow::None;
  Optimizer optimizer = Optimizer::None;
  /// Training minimises 2^lossExponent times the loss, with rates to match: the same steps.
  int64_t lossExponent = 0;
  bool calls = false;
  bool dynamic = false;
  bool roles = false;
  uint64_t seed = 0;
};

/// The weights of one layer, by name.
class LayerWeights {
public:
  LayerWeights(ArrayRef<WeightSpec> specs, ValueRange values) : specs(specs), values(values) {}
  Value operator[](StringRef name) const;

private:
  ArrayRef<WeightSpec> specs;
  SmallVector<Value> values;
};

/// A layer applied `count` times to a value of one type. `captured` are values
/// every application reads (masks, positions).
struct LayerStack {
  StringRef name;
  int64_t count;
  SmallVector<WeightSpec> weights;
  SmallVector<Value> captured;
  llvm::function_ref<Value(Value x, ValueRange captured, const LayerWeights &weights)> body;
};

class GraphBuilder {
public:
  GraphBuilder(ModuleOp module, const GraphOptions &options);
  virtual ~GraphBuilder() = default;

  const GraphOptions &getOptions() const { return options; }
  OpBuilder &getBuilder() { return builder; }
  Type f32() { return builder.getF32Type(); }
  /// Returns the type of token ids and positions: i64 as PyTorch has it, i32 in TOSA.
  virtual Type idType() = 0;

  // Function interface.

  /// An argument of @main. With --dynamic the dimensions listed in `dynamicAxes`
  /// (as far as the dialect allows several) become `?`.
  Value input(StringRef name, ArrayRef<int64_t> shape, Type element,
              ArrayRef<int64_t> dynamicAxes = {0});
  /// A weight of @main: an argument, a constant or a resource.
  Value weight(const WeightSpec &spec);
  /// A tensor whose values belong to the model's definition, never an argument.
  virtual Value constant(ArrayRef<float> values, ArrayRef<int64_t> shape) = 0;
  /// Ends @main; `loss` is what training minimises on the first result.
  virtual void finish(ValueRange results, Loss loss = Loss::SquaredError);

  /// Applies the layers one after the other: unrolled, as calls of one private
  /// function, or under control flow, as the options say.
  Value stack(const LayerStack &layers, Value x);

  // Shapes.

  RankedTensorType typeOf(Value v) { return cast<RankedTensorType>(v.getType()); }
  int64_t rankOf(Value v) { return typeOf(v).getRank(); }
  virtual OpFoldResult dim(Value v, int64_t axis) = 0;
  SmallVector<OpFoldResult> dims(Value v);
  OpFoldResult size(int64_t n) { return builder.getIndexAttr(n); }
  /// The constant size, or ShapedType::kDynamic.
  static int64_t staticSize(OpFoldResult size);

  // Contractions.

  /// [M, K] x [K, N]; in linalg `a` may have more row axes and is then contracted by a
  /// linalg.generic.
  virtual Value matmul(Value a, Value b) = 0;
  /// [B, M, K] x [B, K, N].
  virtual Value batchMatmul(Value a, Value b) = 0;
  /// A weight for conv2d, drawn as [outputs, inputs, kernel, kernel].
  virtual WeightSpec convWeight(StringRef name, int64_t inputs, int64_t outputs, int64_t kernel,
                                double scale) = 0;
  /// Convolution with bias; `x` as imageShape says.
  virtual Value conv2d(Value x, Value weight, Value bias, int64_t stride, int64_t pad) = 0;

  // Elementwise, with NumPy broadcasting. In a Divide only the divisor broadcasts.

  virtual Value unary(Unary kind, Value x) = 0;
  virtual Value binary(Binary kind, Value a, Value b) = 0;
  virtual Value binary(Binary kind, Value a, double b) = 0;
  /// Integer tensor to f32; `boolean` maps every non-zero value to 1.
  virtual Value toFloat(Value x, bool boolean = false) = 0;

  // Along one axis.

  /// Keeps the reduced axis with size 1.
  virtual Value reduce(Reduction kind, Value x, int64_t axis) = 0;
  virtual Value softmax(Value x);
  /// Scores [.., S, S] where a later column than the row becomes `masked`.
  virtual Value causalMask(Value scores, double masked) = 0;

  // Data movement.

  virtual Value transpose(Value x, ArrayRef<int64_t> permutation) = 0;
  /// Splits `axis` into `sizes`, of which at most one is dynamic.
  virtual Value expand(Value x, int64_t axis, ArrayRef<OpFoldResult> sizes) = 0;
  /// Joins the `count` axes from `axis` on.
  virtual Value collapse(Value x, int64_t axis, int64_t count) = 0;
  virtual Value slice(Value x, int64_t axis, int64_t offset, OpFoldResult size) = 0;
  virtual Value concat(Value a, Value b, int64_t axis) = 0;
  /// Repeats a static axis of size 1.
  virtual Value repeat(Value x, int64_t axis, int64_t times) = 0;
  /// Rows of `table` [V, H] at integer `ids` [B, S], clamped to the table.
  virtual Value gather(Value table, Value ids) = 0;
  /// 1 at each id of the new last axis, else 0.
  virtual Value oneHot(Value ids, int64_t classes) = 0;
  /// Zeros before and after along one axis of a static shape.
  virtual Value padAxis(Value x, int64_t axis, int64_t before, int64_t after) = 0;
  /// One element as a tensor of rank 0.
  virtual Value scalarOf(Value x) = 0;
  /// The layer `index` (an i32 or index value) of a stacked weight [L, ...].
  virtual Value layerOf(Value stacked, Value index) = 0;

  // Images.

  virtual SmallVector<int64_t> imageShape(int64_t batch, int64_t channels, int64_t height,
                                          int64_t width) = 0;
  virtual Value maxPool(Value x, int64_t kernel, int64_t stride, int64_t pad) = 0;
  /// Mean over height and width, [B, C].
  virtual Value globalAveragePool(Value x) = 0;
  /// One token per pixel, [B, height * width, C].
  virtual Value imageToTokens(Value x) = 0;

protected:
  Location loc() { return UnknownLoc::get(builder.getContext()); }
  RankedTensorType tensor(ArrayRef<int64_t> shape, Type element = {});
  /// A constant of the dialect holding the attribute.
  virtual Value materialize(TypedAttr value) = 0;
  /// Returns how many dynamic dimensions an argument may have.
  virtual unsigned maxDynamicDims() = 0;

  // The arguments of @main so far.

  SmallVector<Value> inputValues() { return argumentsOf(ArgumentKind::Input); }
  SmallVector<Value> parameterValues() { return argumentsOf(ArgumentKind::Parameter); }
  /// An argument that holds state of the optimizer.
  Value state(const Twine &name, ArrayRef<int64_t> shape);
  StringRef nameOf(Value argument);
  /// Puts the arguments into this order and lets `results` follow.
  void orderArguments(ArrayRef<Value> order, MutableArrayRef<Value> results);

  /// Shape after NumPy broadcasting.
  SmallVector<int64_t> broadcastShape(ArrayRef<Value> operands);
  /// Runs `make` once per key and function, at the function's entry: what common
  /// subexpression elimination leaves of constants, tensor.empty and fills.
  Value once(Attribute key, llvm::function_ref<Value()> make);

  // Control flow, per dialect.

  using LoopBody = llvm::function_ref<Value(Value counter, Value x)>;
  virtual Value counter(int64_t value) = 0;
  virtual Value buildFor(int64_t count, Value x, LoopBody body) = 0;
  /// Runs while counter < count and the last step moved some element of `x` by more
  /// than `tolerance`.
  virtual Value buildWhile(int64_t count, Value x, double tolerance, LoopBody body) = 0;
  /// `then(x)` where element `index` of the i1 vector `gates` is set, else `x`.
  virtual Value buildGate(Value gates, Value index, Value x,
                          llvm::function_ref<Value(Value)> then) = 0;

  /// A block that keeps its own hoisted values.
  struct Scope {
    Block *block = nullptr;
    Operation *lastHoisted = nullptr;
    llvm::DenseMap<Attribute, Value> hoisted;
  };
  /// Builds `body` at the end of `block`, hoisting into it.
  void inScope(Block *block, llvm::function_ref<void()> body);

  OpBuilder builder;
  GraphOptions options;

private:
  enum class ArgumentKind { Input, Parameter, State };
  struct Argument {
    ArgumentKind kind;
    NamedAttrList attributes;
  };
  SmallVector<Value> argumentsOf(ArgumentKind kind);
  Value addArgument(StringRef name, RankedTensorType type, ArgumentKind kind,
                    ArrayRef<int64_t> likelySizes);
  /// One weight, or with several specs their values along a new first axis.
  Value storedWeight(StringRef name, ArrayRef<WeightSpec> layers, bool stacked);
  SmallVector<Value> weightsOfLayer(const LayerStack &layers, int64_t index);
  SmallVector<Value> stackedWeights(const LayerStack &layers, int64_t begin, int64_t end);
  Value applyLayer(const LayerStack &layers, Value x, ValueRange weights);
  Value callLayer(const LayerStack &layers, Value x, ValueRange weights);

  ModuleOp module;
  func::FuncOp main;
  Scope *scope = nullptr;
  Scope mainScope;
  SmallVector<Argument> arguments;
};

std::unique_ptr<GraphBuilder> createLinalgBuilder(ModuleOp module, const GraphOptions &options);
std::unique_ptr<GraphBuilder> createTosaBuilder(ModuleOp module, const GraphOptions &options);
/// Adds loss, gradients and optimizer to what it builds.
std::unique_ptr<GraphBuilder> createTrainingBuilder(bool tosa, ModuleOp module,
                                                    const GraphOptions &options);

} // namespace mlir::mp

#endif // MP_MODELS_GRAPHBUILDER_H
