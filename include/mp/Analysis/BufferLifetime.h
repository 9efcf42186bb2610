// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds where a buffer is used, under whatever name.

#ifndef MP_ANALYSIS_BUFFERLIFETIME_H
#define MP_ANALYSIS_BUFFERLIFETIME_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::mp {

/// The uses of an allocation and of everything that may alias it, seen from its block.
class BufferLifetime {
public:
  explicit BufferLifetime(memref::AllocOp alloc);

  /// True if it leaves its block, or may: nobody can say when it is used last.
  bool escapes = false;
  /// True if the function returns it, itself or a view of it.
  bool isReturned = false;
  /// The first op that reads or writes it and the last that uses it, in the block of the
  /// allocation.
  Operation *first, *last;

private:
  void follow(ValueRange values);
  void visit(OpOperand &use);
  void followRegions(Operation *op);

  Block *block;
  bool touched = false;
  SmallVector<Value> pending;
  llvm::DenseSet<Value> seen;
};

} // namespace mlir::mp

#endif // MP_ANALYSIS_BUFFERLIFETIME_H
