// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration of the check dialect, its verifiers, and how it meets buffers.

#include "mp/Dialect/Check/CheckDialect.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::mp;

#include "mp/Dialect/Check/CheckDialect.cpp.inc"

#define GET_OP_CLASSES
#include "mp/Dialect/Check/CheckOps.cpp.inc"

void CheckDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "mp/Dialect/Check/CheckOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

static LogicalResult verifyWidth(Operation *op) {
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  if (element.getIntOrFloatBitWidth() > 64)
    return op->emitOpError("expected elements of at most 64 bits, found ") << element;
  return success();
}

LogicalResult ExpectCloseOp::verify() {
  if (!getUlp() && !getRel() && !getAbs())
    return emitOpError("expected at least one limit: ulp, rel or abs");
  if (auto ulp = int64_t(getUlp().value_or(0)); ulp < 0)
    return emitOpError("expected a limit that is not negative, found ulp ") << ulp;
  for (auto [name, limit] : {std::pair{"rel", getRel()}, std::pair{"abs", getAbs()}})
    if (limit && (limit->isNaN() || (limit->isNegative() && !limit->isZero())))
      return emitOpError("expected a limit that is not negative, found ")
             << name << " " << limit->convertToDouble();
  return verifyWidth(*this);
}

LogicalResult ExpectFiniteOp::verify() { return verifyWidth(*this); }

LogicalResult ExpectBitsOp::verify() { return verifyWidth(*this); }

//===----------------------------------------------------------------------===//
// Bufferization: the ops read buffers as they read tensors
//===----------------------------------------------------------------------===//

/// The type of a buffer whose layout is known only when it runs, into which the
/// buffers of all tensors of one type can be cast.
static MemRefType withDynamicLayout(MemRefType type) {
  SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
  auto layout = StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides);
  return MemRefType::get(type.getShape(), type.getElementType(), layout, type.getMemorySpace());
}

LogicalResult mlir::mp::detail::readBuffers(Operation *op, RewriterBase &rewriter,
                                            const bufferization::BufferizationOptions &options,
                                            bufferization::BufferizationState &state) {
  SmallVector<Value> buffers;
  for (Value operand : op->getOperands()) {
    FailureOr<Value> buffer = bufferization::getBuffer(rewriter, operand, options, state);
    if (failed(buffer))
      return failure();
    buffers.push_back(*buffer);
  }
  if (!llvm::all_equal(ValueRange(buffers).getTypes()))
    for (Value &buffer : buffers)
      buffer = memref::CastOp::create(
          rewriter, op->getLoc(), withDynamicLayout(cast<MemRefType>(buffer.getType())), buffer);
  rewriter.modifyOpInPlace(op, [&] { op->setOperands(buffers); });
  return success();
}
