// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says what values depend on: what they are made of, and what decides which numbers they are.

#ifndef MP_LIB_ANALYSIS_RANGES_POLES_FEEDS_H
#define MP_LIB_ANALYSIS_RANGES_POLES_FEEDS_H

#include "mlir/Interfaces/CallInterfaces.h"
#include "mp/Analysis/Ranges/RangeAnalysis.h"

namespace mlir::mp {

/// Returns whether `value` holds integers, truth values, indices or a function.
bool isWhole(Value value);

/// Returns whether `op`, which may be null, reads or writes a buffer.
bool isOnBuffers(Operation *op);

/// Returns whether `op`, which may be null, reads or writes a global of the module by its name.
bool namesMemory(Operation *op);

/// Returns whether no value decides which function `call` calls.
bool callsByName(CallOpInterface call);

/// Returns the function that `op`, which may be null, calls, if it has several blocks.
FunctionOpInterface findCalleeInBlocks(Operation *op);

/// Collects what an argument of a block is given, and what says who gives it.
void addFeeds(BlockArgument argument, ModuleRanges &ranges, SmallVectorImpl<Value> &values);
/// Collects what a result of an op is made of.
void addFeeds(OpResult result, SmallVectorImpl<Value> &values);
/// A buffer is also made of what ops on it read, and of its other names.
void addFeeds(Value value, ModuleRanges &ranges, SmallVectorImpl<Value> &values);

/// Collects what decides which numbers the results of `op` are.
void addDeciders(Operation *op, SmallVectorImpl<Value> &deciders);

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_RANGES_POLES_FEEDS_H
