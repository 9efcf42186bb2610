// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes nodes and views: elementwise functions in the space of what they read, reductions
// as fibres of it. The walk over the program is in NumberingWalk.cpp.

#include "mp/Analysis/Values/ValueNumbering.h"
#include "NumberingSpace.h"

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using domains::ReduceFn;
using domains::UnaryFn;

/// A node in the table, by everything that tells it from others.
struct ValueNumbering::Entry : llvm::FoldingSetNode {
  explicit Entry(ValueNode node, NodeId id) : node(std::move(node)), id(id) {}

  static void profile(llvm::FoldingSetNodeID &key, const ValueNode &node) {
    key.AddInteger(static_cast<unsigned>(node.kind) << 24 |
                   static_cast<unsigned>(node.unary) << 16 |
                   static_cast<unsigned>(node.binary) << 8 | static_cast<unsigned>(node.predicate));
    key.AddInteger(static_cast<unsigned>(node.reduce));
    key.AddPointer(node.format.getAsOpaquePointer());
    key.AddInteger(llvm::bit_cast<uint64_t>(node.value));
    key.AddInteger(llvm::bit_cast<uint64_t>(node.high));
    key.AddInteger(node.reduced);
    for (const View &operand : node.operands) {
      key.AddInteger(operand.node);
      key.AddPointer(operand.map.getAsOpaquePointer());
    }
    key.AddInteger(node.operands.size());
    for (int64_t size : node.sizes)
      key.AddInteger(size);
    for (int64_t size : node.from)
      key.AddInteger(size);
  }
  void Profile(llvm::FoldingSetNodeID &key) const { profile(key, node); }

  ValueNode node;
  NodeId id;
};

ValueNumbering::ValueNumbering(Operation *root) {
  nodes.push_back(&(new (allocator.Allocate<Entry>()) Entry({}, 0))->node);
  add(root);
}

ValueNumbering::~ValueNumbering() {
  for (const ValueNode *node : nodes)
    node->~ValueNode();
}

/// Sums and products are equal to themselves alone: in which order they add up is not known, so
/// that two of the same elements may differ in their last bits.
static bool isUnique(const ValueNode &node) {
  using Kind = ValueNode::Kind;
  switch (node.kind) {
  case Kind::Opaque:
  case Kind::Integer:
  case Kind::Softmax: return true;
  case Kind::Reduce:
    return !node.isWhole || (node.reduce != ReduceFn::Max && node.reduce != ReduceFn::Min);
  case Kind::Moved: return !node.isWhole;
  default: return false;
  }
}

NodeId ValueNumbering::intern(ValueNode node) {
  llvm::FoldingSetNodeID key;
  void *position = nullptr;
  bool unique = isUnique(node);
  if (!unique) {
    Entry::profile(key, node);
    if (Entry *known = entries.FindNodeOrInsertPos(key, position))
      return known->id;
  }
  NodeId id = nodes.size();
  auto *entry = new (allocator.Allocate<Entry>()) Entry(std::move(node), id);
  if (!unique)
    entries.InsertNode(entry, position);
  nodes.push_back(&entry->node);
  return id;
}

NodeId ValueNumbering::find(const ValueNode &node) const {
  llvm::FoldingSetNodeID key;
  void *position = nullptr;
  Entry::profile(key, node);
  Entry *known = isUnique(node) ? nullptr : entries.FindNodeOrInsertPos(key, position);
  return known ? known->id : 0;
}

NodeId ValueNumbering::opaque(Kind kind, ArrayRef<int64_t> sizes, Operation *op) {
  ValueNode node;
  node.kind = kind;
  node.sizes.assign(sizes.begin(), sizes.end());
  node.op = op;
  return intern(std::move(node));
}

View ValueNumbering::constant(double value, Operation *op) {
  ValueNode node;
  node.kind = std::isnan(value) ? Kind::NaN : Kind::Constant;
  node.value = std::isnan(value) ? 0 : value;
  node.op = op;
  return {intern(std::move(node)), {}};
}

std::optional<double> ValueNumbering::constantOf(NodeId id) const {
  return nodes[id]->kind == Kind::Constant ? std::optional(nodes[id]->value) : std::nullopt;
}

//===-- views -------------------------------------------------------------------------------===//

View ValueNumbering::compose(const View &outer, const View &inner) const {
  return composeViews(outer, inner, nodes[inner.node]->sizes.empty());
}

View ValueNumbering::stripSign(View view) const {
  constexpr unsigned kMost = 8; // programs write one or two
  for (unsigned count = 0; count < kMost; ++count) {
    const ValueNode &node = get(view);
    if (node.kind != ValueNode::Kind::Unary ||
        (node.unary != domains::UnaryFn::Neg && node.unary != domains::UnaryFn::Abs))
      break;
    view = compose(view, node.operands[0]);
  }
  return view;
}

bool ValueNumbering::covers(const View &view, ArrayRef<int64_t> extents) const {
  const ValueNode &node = get(view);
  auto loops = permutationOf(view.map, node.sizes.size());
  if (!loops || loops->size() != node.sizes.size())
    return false;
  return llvm::all_of(llvm::zip_equal(*loops, node.sizes), [&](auto pair) {
    auto [loop, size] = pair;
    return loop < extents.size() && extents[loop] == size;
  });
}

//===-- nodes -------------------------------------------------------------------------------===//

AffineMap ValueNumbering::arrange(ValueNode &node, ArrayRef<View> given,
                                  ArrayRef<int64_t> sizes) const {
  node.operands.assign(given.begin(), given.end());
  // In one order: scalars last.
  auto key = [&](const View &view) {
    return std::tuple(get(view).sizes.empty(), view.node, view.map.getAsOpaquePointer());
  };
  bool commutes =
      node.kind == Kind::Binary && (node.binary == BinaryFn::Add || node.binary == BinaryFn::Mul);
  if (commutes && key(node.operands[1]) < key(node.operands[0]))
    std::swap(node.operands[0], node.operands[1]);
  if (commutes && node.binary == BinaryFn::Mul && node.operands[0] == node.operands[1]) {
    node.kind = Kind::Unary;
    node.unary = UnaryFn::Square;
    node.operands.pop_back();
  }
  auto sizesOf = [&](NodeId id) { return ArrayRef<int64_t>(nodes[id]->sizes); };
  MeetingSpace space = meet(node.operands, sizes, sizesOf, node.op->getContext());
  node.sizes = space.sizes;
  return space.place;
}

View ValueNumbering::elementwise(ValueNode node, ArrayRef<View> operands, ArrayRef<int64_t> sizes) {
  AffineMap place = arrange(node, operands, sizes);
  return {intern(std::move(node)), place};
}

/// The dimensions that two reductions after each other reduce, of the tensor that the inner one
/// reads: dimensions reduced before may be gone, and the others have moved up.
static void mergeAxes(ValueNode &outer, const ValueNode &inner) {
  uint64_t axes = outer.axes;
  if (outer.rank + llvm::popcount(inner.axes) == inner.rank) {
    axes = 0;
    for (unsigned dim = 0, kept = 0; dim < inner.rank; ++dim)
      if (!(inner.axes >> dim & 1))
        axes |= (outer.axes >> kept++ & 1) << dim;
  }
  outer.rank = inner.rank;
  outer.axes = inner.axes | axes;
}

View ValueNumbering::reduction(ValueNode node, const View &operand, const Space &space,
                               ArrayRef<bool> isReduced, ArrayRef<unsigned> kept) {
  const ValueNode &source = get(operand);
  auto loops = permutationOf(operand.map, space.extents.size());
  bool isWhole =
      !source.sizes.empty() && loops && covers(operand, space.extents) && source.sizes.size() <= 64;
  // Every reduced loop must be one of the fibres, and each index of the result one of the node's.
  for (unsigned loop = 0; isWhole && loop < isReduced.size(); ++loop)
    isWhole = !isReduced[loop] || llvm::is_contained(*loops, loop);
  SmallVector<AffineExpr> place;
  MLIRContext *context = node.op->getContext();
  if (isWhole)
    for (auto [dim, loop] : llvm::enumerate(*loops)) {
      if (isReduced[loop]) {
        node.reduced |= 1ull << dim;
        continue;
      }
      const auto *at = llvm::find(kept, loop);
      if (at == kept.end()) {
        isWhole = false;
        break;
      }
      node.sizes.push_back(source.sizes[dim]);
      place.push_back(getAffineDimExpr(at - kept.begin(), context));
    }
  node.count = 1;
  for (auto [loop, size] : llvm::enumerate(space.extents))
    if (isReduced[loop])
      node.count = node.count < 0 || size < 0 ? -1 : node.count * size;
  node.isWhole = isWhole;
  node.operands = {{operand.node, {}}};
  if (!isWhole) {
    node.operands = {operand};
    node.reduced = 0;
    node.sizes.clear();
    for (unsigned loop : kept)
      node.sizes.push_back(space.extents[loop]);
    return {intern(std::move(node)), {}};
  }
  // A reduction of a reduction is one over both.
  if (source.kind == Kind::Reduce && source.isWhole && source.reduce == node.reduce) {
    uint64_t outer = node.reduced;
    unsigned next = 0, rank = get(source.operands[0]).sizes.size();
    node.reduced = source.reduced;
    for (unsigned dim = 0; dim < rank; ++dim)
      if (!(source.reduced >> dim & 1))
        node.reduced |= (outer >> next++ & 1) << dim;
    node.count = node.count < 0 || source.count < 0 ? -1 : node.count * source.count;
    node.operands = source.operands;
    mergeAxes(node, source);
  }
  AffineMap map;
  if (!node.sizes.empty())
    map = canonicalMap(AffineMap::get(kept.size(), 0, place, context));
  return {intern(std::move(node)), map};
}

View ValueNumbering::part(const View &operand, ArrayRef<int64_t> sizes, Operation *op) {
  ValueNode node;
  node.kind = Kind::Part;
  node.operands = {operand};
  node.sizes.assign(sizes.begin(), sizes.end());
  node.op = op;
  return {intern(std::move(node)), {}};
}

View ValueNumbering::moved(const View &operand, ArrayRef<int64_t> sizes, Operation *op) {
  ValueNode node;
  node.kind = Kind::Moved;
  node.operands = {operand};
  node.sizes.assign(sizes.begin(), sizes.end());
  node.op = op;
  SmallVector<int64_t, 4> before = extentsOf(op->getOperand(0));
  ArrayRef<int64_t> from = before;
  auto isKnown = [](int64_t size) { return size >= 0; };
  node.isWhole = getMovement(op) == Movement::View && llvm::all_of(sizes, isKnown) &&
                 llvm::all_of(from, isKnown);
  if (!node.isWhole)
    return {intern(std::move(node)), {}};
  // A reshape of a reshape is one, and none if it leads back.
  const ValueNode &source = get(operand);
  if (source.kind == Kind::Moved && source.isWhole && !operand.map &&
      from == ArrayRef(source.sizes)) {
    from = source.from;
    node.operands = source.operands;
  }
  if (from == sizes)
    return node.operands[0];
  node.from.assign(from.begin(), from.end());
  return {intern(std::move(node)), {}};
}
