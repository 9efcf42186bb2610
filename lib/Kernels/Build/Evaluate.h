// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes elements of the tensors of a body one by one, in registers: each scalar op of a linalg
// op is cloned for each element that somebody asks for, and once for all elements that agree on it.

#ifndef MP_LIB_KERNELS_BUILD_EVALUATE_H
#define MP_LIB_KERNELS_BUILD_EVALUATE_H

#include "../Plan/StreamPlan.h"
#include "MathForms.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::mp {

/// An element of a fragment by the numbers of its row and its column among those that a thread
/// holds.
struct Point {
  unsigned row = 0, column = 0;
};

class Evaluate {
public:
  /// Knows what the ops of a body do not say.
  class Source {
  public:
    virtual ~Source() = default;
    /// The element of an argument of the body, or of a reduction's result that nobody `set`. It may
    /// `set` neighbours on the way.
    virtual Value read(Value tensor, Point point) = 0;
    /// The element of an argument at indices (`index`) that the body computed for the point.
    /// `varies` has the Varies bits of the indices.
    virtual Value gather(BlockArgument argument, ValueRange indices, Point point,
                         unsigned varies) = 0;
    /// Fails with `message` unless `holds` does at the point. `varies` has the Varies bits of it.
    virtual void check(StringRef message, Value holds, Point point, unsigned varies) {
      llvm_unreachable("only bodies that gather check");
    }
    /// The index of loop `loop` of `op` at the point, an `index`.
    virtual Value index(Operation *op, unsigned loop, Point point) = 0;
    /// Varies bits of a tensor, and of a loop of an op.
    virtual unsigned varies(Value tensor) = 0;
    virtual unsigned varies(Operation *op, unsigned loop) = 0;
  };

  Evaluate(ImplicitLocOpBuilder &builder, Source &source, const MathForms &forms)
      : b(builder), source(source), forms(forms) {}

  /// The element of a tensor of the body (or of a scalar of it) at the point.
  Value at(Value value, Point point);
  /// The value of the body of `op`, an op of the dispatch's body, at the point.
  Value inBody(linalg::LinalgOp op, Value value, Point point);
  /// Makes an element known.
  void set(Value tensor, Point point, Value element);
  /// Says what an element is as f32, exactly, where that is known without a conversion of it.
  void setWidened(Value element, Value wide) { widened[element] = wide; }
  /// Forgets what varies along columns, because other columns are held from now on.
  void forgetColumns() {
    changing.clear();
    widened.clear();
  }
  /// Ops that do not vary along columns go before `op` (a loop over columns) from now on; null: to
  /// the insertion point, as all others.
  void hoistBefore(Operation *op) { loop = op; }

private:
  using Key = std::tuple<Value, unsigned, unsigned>;

  Value compute(Value value, Point point);
  Value computeInBody(linalg::LinalgOp op, Value value, Point point);
  /// Has what a body asserts checked at the point, once where points agree on it.
  void checkAssertions(linalg::LinalgOp op, Point point);
  Value build(Operation *op, ValueRange operands, unsigned result);
  unsigned variesInBody(linalg::LinalgOp op, Value value);
  template <class Make> Value remember(Value value, Point point, unsigned varies, Make make);

  ImplicitLocOpBuilder &b;
  Source &source;
  const MathForms &forms;
  Operation *loop = nullptr;
  DenseMap<Key, Value> fixed, changing; ///< elements that do not and do vary along columns
  DenseMap<Value, unsigned> bodyVaries;
  DenseMap<Value, Value> widened;
  DenseSet<Value> fixedElements; ///< the values of `fixed`
  DenseSet<Value> checked;       ///< what must hold, and was checked
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_BUILD_EVALUATE_H
