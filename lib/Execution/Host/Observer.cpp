// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls back from compiled code with the elements of observed buffers.

#include "Observer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mp;

static constexpr StringLiteral kObserve = "mp_observe_f32",
                               kObserveWrapper = "_mlir_ciface_mp_observe_f32";
static thread_local std::optional<Observation> current;

Observer::Observer(Observation observation) { current = observation; }
Observer::~Observer() { current.reset(); }

void mlir::mp::observe(ModuleOp module, OpOperand &operand, int64_t place) {
  OpBuilder builder(operand.getOwner());
  observe(module, builder, operand.get(), place);
}

void mlir::mp::observe(ModuleOp module, OpBuilder &builder, Value value, int64_t place) {
  Location loc = value.getLoc();
  auto unranked = UnrankedTensorType::get(builder.getF32Type());
  auto report = module.lookupSymbol<func::FuncOp>(kObserve);
  if (!report) {
    OpBuilder atEnd = OpBuilder::atBlockEnd(module.getBody());
    report = func::FuncOp::create(atEnd, loc, kObserve,
                                  builder.getFunctionType({builder.getI64Type(), unranked}, {}));
    report.setPrivate();
    report->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(), builder.getUnitAttr());
  }
  Value number = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(place));
  Value any = tensor::CastOp::create(builder, loc, unranked, value);
  func::CallOp::create(builder, loc, report, ValueRange{number, any});
}

namespace {
/// A buffer without rank as C sees it: two pointers, offset, sizes, strides.
struct UnrankedBuffer {
  int64_t rank;
  const int64_t *words;
};
} // namespace

static void report(int64_t place, const UnrankedBuffer *buffer) {
  if (!current)
    return;
  int64_t rank = buffer->rank, count = 1;
  ArrayRef<int64_t> sizes(buffer->words + 3, rank), strides(buffer->words + 3 + rank, rank);
  const float *data = reinterpret_cast<const float *>(buffer->words[1]) + buffer->words[2];
  for (int64_t size : sizes)
    count *= size;
  std::vector<float> elements(count);
  for (int64_t i = 0; i != count; ++i) {
    int64_t at = 0, rest = i;
    for (int64_t dim = rank; dim-- > 0; rest /= sizes[dim])
      at += rest % sizes[dim] * strides[dim];
    elements[i] = data[at];
  }
  (*current)(place, elements);
}

std::pair<StringRef, void *> mlir::mp::observerSymbol() {
  return {kObserveWrapper, reinterpret_cast<void *>(&report)};
}
