// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Classes of the tensor dialect (why: docs/reference/OpClasses.md).

#include "TableModel.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::detail;

static constexpr ClassEntry kEntries[] = {
    {"tensor.cast", OpClass::ExactCommute, TypeRule::Uniform, "moves data"},
    {"tensor.collapse_shape", OpClass::ExactCommute, TypeRule::Uniform, "moves data"},
    {"tensor.expand_shape", OpClass::ExactCommute, TypeRule::Uniform, "moves data"},
    {"tensor.reshape", OpClass::ExactCommute, TypeRule::Uniform, "moves data"},
    {"tensor.concat", OpClass::ExactCommute, TypeRule::Uniform, "moves data"},
    {"tensor.extract_slice", OpClass::ExactCommute, TypeRule::Uniform, "moves data"},
    {"tensor.insert_slice", OpClass::ExactCommute, TypeRule::Uniform, "moves data"},
    {"tensor.gather", OpClass::ExactCommute, TypeRule::Uniform, "moves data"},
    {"tensor.scatter", OpClass::ExactCommute, TypeRule::Uniform, "moves data"},
    {"tensor.empty", OpClass::ExactCommute, TypeRule::Uniform, "moves data"},
    {"tensor.splat", OpClass::ExactCommute, TypeRule::Uniform, "moves data"},
    {"tensor.pad", OpClass::ExactCommute, TypeRule::Uniform,
     "moves data; the padding value is converted"},
    {"tensor.extract", OpClass::ExactCommute, TypeRule::Uniform, "moves data; indices stay"},
    {"tensor.insert", OpClass::ExactCommute, TypeRule::Uniform, "moves data; indices stay"},
    {"tensor.from_elements", OpClass::ExactCommute, TypeRule::Uniform, "moves data; indices stay"},
    {"tensor.generate", OpClass::ExactCommute, TypeRule::Frozen, "its body makes the values"},
    {"tensor.bitcast", OpClass::Barrier, TypeRule::Frozen, "reads the bit pattern"},
    {"tensor.parallel_insert_slice", OpClass::Barrier, TypeRule::Frozen,
     "writes through a destination shared by threads"},
    {"tensor.dim", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"tensor.rank", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"tensor.yield", OpClass::Barrier, TypeRule::Frozen, "part of a body"},
};
const ArrayRef<ClassEntry> mlir::mp::detail::tensorTable = kEntries;

namespace {
/// tensor.pad yields the padding value from a region: it follows the format.
struct PadModel : TableAnswers<PadModel, tensor::PadOp> {
  Operation *rebuild(Operation *op, OpBuilder &builder, ValueRange operands,
                     TypeRange resultTypes) const {
    Operation *copy = cloneWithTypes(builder, op, operands, resultTypes);
    FloatType before = getFloatFormat(op->getResult(0).getType());
    FloatType after = getFloatFormat(resultTypes[0]);
    if (!before || before == after)
      return copy;
    Operation *yield = copy->getRegion(0).front().getTerminator();
    OpBuilder inside(yield);
    bool narrowing = !holdsEveryValueOf(after, before);
    auto cast = CastOp::create(
        inside, op->getLoc(), after, yield->getOperand(0), Value(), RoundingAttr(),
        narrowing ? OverflowAttr::get(op->getContext(), Overflow::IEEE) : OverflowAttr(),
        inside.getUnitAttr());
    yield->setOperand(0, cast);
    return copy;
  }
};

template <typename Op>
struct TensorModel
    : std::conditional_t<std::is_same_v<Op, tensor::PadOp>, PadModel, TableModel<Op>> {};
} // namespace

void mlir::mp::detail::registerTensorModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    attachModels<TensorModel,
#define GET_OP_LIST
#include "mlir/Dialect/Tensor/IR/TensorOps.cpp.inc"
                 >(context);
  });
}
