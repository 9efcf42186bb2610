// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of a running program, shown to whoever runs it: wherever they are computed, in loops and
// in called functions.

#ifndef MP_LIB_EXECUTION_OBSERVER_H
#define MP_LIB_EXECUTION_OBSERVER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::mp {

/// A callback that gets the number of a place and all elements that it sees.
using Observation = llvm::function_ref<void(int64_t place, ArrayRef<float> elements)>;

/// While it lives, programs that this thread runs report to `observation`.
class Observer {
public:
  explicit Observer(Observation observation);
  ~Observer();
  Observer(const Observer &) = delete;
  Observer &operator=(const Observer &) = delete;
};

/// Reports `operand`, a tensor of f32, as `place` whenever its op is about to run.
void observe(ModuleOp module, OpOperand &operand, int64_t place);

/// Reports `value`, a tensor of f32, as `place` whenever what `builder` stands at is about to run.
void observe(ModuleOp module, OpBuilder &builder, Value value, int64_t place);

/// The name under which compiled code reports, and what serves it.
std::pair<StringRef, void *> observerSymbol();

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_OBSERVER_H
