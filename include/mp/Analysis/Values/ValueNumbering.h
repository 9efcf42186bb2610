// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Global value numbering of float values, element by element (Alpern, Wegman and Zadeck, "Detecting
// equality of variables in programs", POPL 1988, over index spaces as in polyhedral compilation).
//
// A *node* is a function from an index space to numbers: an opaque tensor, a constant, an
// elementwise function of other nodes, or a reduction of one. Nodes are hash-consed, so equal
// numbers are equal bits. A *view* says where a value of the program stands in a node:
//
//   value[i] = node[map(i)]
//
// Transpositions, broadcasts, reversals and changes of unit dimensions are views, not nodes;
// two values that meet at one index are the same element exactly when node and map agree. Index
// spaces have no dimensions of size 1. A node's space is that of the first operand which an
// elementwise function reads through a permutation, so that loop orders do not matter.
//
// Nothing is rewritten that could change a bit: algebra is the business of Expressions.h.

#ifndef MP_ANALYSIS_VALUES_VALUENUMBERING_H
#define MP_ANALYSIS_VALUES_VALUENUMBERING_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mp/Analysis/Values/View.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "llvm/ADT/FoldingSet.h"
#include "llvm/Support/Allocator.h"

namespace mlir::mp {

struct ValueNode {
  enum class Kind : uint8_t {
    None,
    Opaque,   ///< anything; each is equal to itself alone
    Integer,  ///< an integer as a float, of unknown value
    Constant, ///< `value` everywhere
    NaN,      ///< everywhere
    Unary,    ///< `unary` of operand 0
    Binary,   ///< `binary` of operands 0 and 1
    Compare,  ///< `predicate` of operands 0 and 1: a truth value
    Select,   ///< operand 1 where operand 0 holds, else operand 2
    Clamp,    ///< operand 0 kept in [value, high]
    Cast,     ///< operand 0 rounded to `format`
    Reduce,   ///< `reduce` of operand 0 over the dimensions `reduced` of its node
    Softmax,  ///< of operand 0, over `reduced`
    Part,     ///< a slice of operand 0, at every index of this node
    Moved, ///< operand 0 reshaped from `from` if `isWhole`; else its elements in untracked places
  };

  Kind kind = Kind::None;
  domains::UnaryFn unary = domains::UnaryFn::Identity;
  domains::BinaryFn binary = domains::BinaryFn::Add;
  domains::ReduceFn reduce = domains::ReduceFn::Sum;
  arith::CmpFPredicate predicate = arith::CmpFPredicate::AlwaysFalse;
  FloatType format;
  double value = 0, high = 0;
  SmallVector<View, 2> operands;
  /// Extents of the index space. A negative one names a dynamic size; equal names are equal sizes.
  SmallVector<int64_t, 4> sizes;

  // Reductions have these.
  uint64_t reduced = 0; ///< a bit per dimension of the operand's node
  int64_t count = -1;   ///< elements in a group; -1 where that is not known
  /// Every group is a whole fibre of the operand's node: all its elements along the reduced
  /// dimensions. Else (windows, slices) the groups are not told.
  bool isWhole = false;
  SmallVector<int64_t, 0>
      from;          ///< sizes before a reshape of known sizes, which keeps row-major order
  unsigned rank = 0; ///< of the tensor that was reduced, and which of its dimensions are:
  uint64_t axes = 0; ///< for the names of norms only

  Operation *op = nullptr; ///< the op, perhaps in a body, that computed it first
};

class ValueNumbering {
public:
  using Kind = ValueNode::Kind;
  /// Numbers every float value and every comparison of floats below `root`, bodies included.
  explicit ValueNumbering(Operation *root);
  ValueNumbering(const ValueNumbering &) = delete;
  ~ValueNumbering();

  /// Numbers what is below `op`, too.
  void add(Operation *op);

  View lookup(Value value) const { return views.lookup(value).view; }
  /// True if the elements of `value` are all those of its node: what holds of one holds of the
  /// other.
  bool coversNode(Value value) const { return views.lookup(value).covers; }
  const ValueNode &operator[](NodeId id) const { return *nodes[id]; }
  const ValueNode &get(const View &view) const { return *nodes[view.node]; }
  size_t size() const { return nodes.size(); }
  /// Counts the values that have a number.
  size_t getValueCount() const { return views.size(); }

  /// True if the two views, taken at one index, are always the same element.
  bool areEqual(const View &a, const View &b) const { return a && a == b; }
  /// `outer` read through `inner`: where operand `inner` of the node that `outer` views lies, seen
  /// from where `outer` is seen.
  View compose(const View &outer, const View &inner) const;
  /// The value behind a few negations and absolute values.
  View stripSign(View view) const;
  std::optional<double> constantOf(NodeId id) const;
  /// `view` is seen at an index behind `reshape`: what it is at that element's index before, where
  /// the program computes that.
  View beforeReshape(const ValueNode &reshape, const View &view, unsigned depth = 0) const;

private:
  struct Entry;
  struct Space;

  /// True if a view over indices of these extents sees every element of its node.
  bool covers(const View &view, ArrayRef<int64_t> extents) const;
  /// Extents of the index space of a value: the sizes of its dimensions other than 1.
  SmallVector<int64_t, 4> extentsOf(Value value);
  NodeId intern(ValueNode node);
  NodeId opaque(Kind kind, ArrayRef<int64_t> sizes, Operation *op);
  View constant(double value, Operation *op);
  /// The number of a node that there is; 0 if there is none.
  NodeId find(const ValueNode &node) const;
  /// An elementwise function in the space of `sizes`; `node` lacks operands and sizes.
  View elementwise(ValueNode node, ArrayRef<View> operands, ArrayRef<int64_t> sizes);
  /// Gives such a node operands and sizes; where it is seen from the space of `sizes`.
  AffineMap arrange(ValueNode &node, ArrayRef<View> operands, ArrayRef<int64_t> sizes) const;
  View reduction(ValueNode node, const View &operand, const Space &space, ArrayRef<bool> isReduced,
                 ArrayRef<unsigned> kept);
  View part(const View &operand, ArrayRef<int64_t> sizes, Operation *op);
  View moved(const View &operand, ArrayRef<int64_t> sizes, Operation *op);

  void visitRegion(Region &region);
  void visitOp(Operation *op);
  void visitStructured(linalg::LinalgOp op);
  void visitBody(Operation *inner, const Space &space);
  View numberReduction(linalg::LinalgOp op, unsigned index, const Space &space);
  View numberTensorOp(Operation *op, const FloatMeaning &meaning);
  View numberScalarOp(Operation *op, const FloatMeaning &meaning, ArrayRef<View> operands,
                      ArrayRef<int64_t> sizes);
  View numberExtract(Operation *op, const Space &space) const;
  /// An operand as it is read through `map`, and a value of the body as the result shows it.
  View read(Value operand, AffineMap map, const Space &space) const;
  View write(const View &element, Value result, unsigned index, const Space &space) const;
  /// Gives dynamic sizes their names; false where it is open whether an operand is repeated.
  bool nameSizes(Space &space);
  void setOpaque(Operation *op, Value value);
  int64_t extentOf(Value value, unsigned dim);

  std::vector<const ValueNode *> nodes;
  llvm::BumpPtrAllocator allocator;
  mutable llvm::FoldingSet<Entry> entries; ///< looking up is no member function that is const
  struct Numbered {
    View view;
    bool covers = false;
  };
  void set(Value value, const View &view, ArrayRef<int64_t> extents);

  DenseMap<Value, Numbered> views;
  DenseMap<std::pair<Value, unsigned>, int64_t> symbols; ///< names of dynamic sizes
  int64_t lastSymbol = -1;
};

} // namespace mlir::mp

#endif // MP_ANALYSIS_VALUES_VALUENUMBERING_H
