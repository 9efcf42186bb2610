// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The comm dialect: exchanges between the ranks that run one partitioned program.

#ifndef MP_DIALECT_COMM_COMMDIALECT_H
#define MP_DIALECT_COMM_COMMDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "mp/Dialect/Comm/CommDialect.h.inc"
#include "mp/Dialect/Comm/CommEnums.h.inc"

namespace mlir::mp::comm {

inline constexpr llvm::StringLiteral kRanksAttrName = "comm.ranks";
inline constexpr llvm::StringLiteral kShardAttrName = "comm.shard";
inline constexpr llvm::StringLiteral kStageAttrName = "comm.stage";

/// The `mp.role` of what ranks have not sent yet of their gradients (mp-narrow-gradients).
inline constexpr llvm::StringLiteral kRoleGradientResidual = "gradient_residual";

/// Exchanges read and write this besides buffers: their order.
struct Order : SideEffects::Resource::Base<Order> {
  StringRef getName() final { return "<comm order>"; }
};

namespace detail {
/// True for what the op writes, not for what it reads.
bool isDestination(OpOperand &operand);
void getExchangeEffects(Operation *op, SmallVectorImpl<MemoryEffects::EffectInstance> &effects);
bufferization::AliasingValueList aliasesOfExchange(Operation *op, OpOperand &operand);
LogicalResult bufferizeExchange(Operation *op, RewriterBase &rewriter,
                                const bufferization::BufferizationOptions &options,
                                bufferization::BufferizationState &state);
} // namespace detail

} // namespace mlir::mp::comm

#define GET_OP_CLASSES
#include "mp/Dialect/Comm/CommOps.h.inc"

#endif // MP_DIALECT_COMM_COMMDIALECT_H
