// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream's interfaces on the scaling ops that follow from their decomposition.

#include "DecomposeScaling.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mp/Dialect/MP/FakeQuantize.h"
#include "mp/Transforms/Scale/Interfaces.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::bufferization;

namespace {

template <typename ConcreteOp>
struct AggregateModel
    : linalg::AggregatedOpInterface::ExternalModel<AggregateModel<ConcreteOp>, ConcreteOp> {
  FailureOr<SmallVector<Value>> decomposeOperation(Operation *op, OpBuilder &builder) const {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(op);
    return expandScalingOp(builder, op);
  }
};

/// Ops that are made here are bufferized next. None of them writes to an operand of the op, but for
/// an init.
static LogicalResult bufferizeByExpansion(Operation *op, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  rewriter.replaceOp(op, expandScalingOp(rewriter, op));
  return success();
}

/// Reads its operands, and fills buffers of its own.
template <typename ConcreteOp>
struct BufferModel : BufferizableOpInterface::ExternalModel<BufferModel<ConcreteOp>, ConcreteOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &, const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &, const AnalysisState &) const {
    return false;
  }
  bool bufferizesToAllocation(Operation *, Value) const { return true; }
  AliasingValueList getAliasingValues(Operation *, OpOperand &, const AnalysisState &) const {
    return {};
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &,
                          BufferizationState &) const {
    return bufferizeByExpansion(op, rewriter);
  }
};

/// Adds to its init, where nobody else needs that.
struct MatmulBufferModel
    : DstBufferizableOpInterfaceExternalModel<MatmulBufferModel, ScaledMatmulOp> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &,
                          BufferizationState &) const {
    return bufferizeByExpansion(op, rewriter);
  }
};

struct MatmulDestinationModel
    : DestinationStyleOpInterface::ExternalModel<MatmulDestinationModel, ScaledMatmulOp> {
  MutableOperandRange getDpsInitsMutable(Operation *op) const {
    return cast<ScaledMatmulOp>(op).getInitMutable();
  }
};

template <typename... Ops> void attachExpansions(MLIRContext *context) {
  (Ops::template attachInterface<AggregateModel<Ops>>(*context), ...);
}
template <typename... Ops> void attachBuffers(MLIRContext *context) {
  (Ops::template attachInterface<BufferModel<Ops>>(*context), ...);
}

} // namespace

void mlir::mp::registerScalingInterfaces(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MPDialect *) {
    // Decompositions are made of these dialects.
    context->loadDialect<arith::ArithDialect, linalg::LinalgDialect, math::MathDialect,
                         tensor::TensorDialect>();
    attachExpansions<AmaxOp, ComputeScaleOp, UpdateAmaxHistoryOp, QuantizeOp, DequantizeOp,
                     BlockQuantizeOp, HadamardOp, RandomBitsOp, ScaledMatmulOp, FakeQuantizeOp,
                     StraightThroughOp, StepGradientOp, PruneOp>(context);
    attachBuffers<AmaxOp, ComputeScaleOp, UpdateAmaxHistoryOp, QuantizeOp, DequantizeOp,
                  BlockQuantizeOp, HadamardOp, RandomBitsOp, FakeQuantizeOp, StraightThroughOp,
                  StepGradientOp, PruneOp>(context);
    ScaledMatmulOp::attachInterface<MatmulBufferModel, MatmulDestinationModel>(*context);
  });
  registerScalingTiling(registry);
}
