// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements seen behind a reshape, as they were before it. A reshape of known sizes is a bijection
// of elements, so a function of elements before it is the same function of them behind it. Only
// nodes that the program has are found: none are made.

#include "mp/Analysis/Values/ValueNumbering.h"

using namespace mlir;
using namespace mlir::mp;

static constexpr unsigned kMaxReshapeDepth = 6;

static bool isElementwiseNode(ValueNode::Kind kind) {
  using Kind = ValueNode::Kind;
  return llvm::is_contained(
      {Kind::Unary, Kind::Binary, Kind::Compare, Kind::Select, Kind::Clamp, Kind::Cast}, kind);
}

View ValueNumbering::beforeReshape(const ValueNode &reshape, const View &view,
                                   unsigned depth) const {
  const ValueNode &node = get(view);
  if (node.sizes.empty())
    return view; // the same everywhere
  bool isThere =
      view.map ? view.map.getNumDims() == reshape.sizes.size() : node.sizes == reshape.sizes;
  if (depth > kMaxReshapeDepth || !isThere)
    return {};
  if (!view.map && node.kind == Kind::Moved && node.isWhole && node.from == reshape.from)
    return node.operands[0];
  // The way back of the reshape, from the very element.
  ValueNode back;
  back.kind = Kind::Moved;
  back.isWhole = true;
  back.operands = {view};
  back.sizes.assign(reshape.from.begin(), reshape.from.end());
  back.from.assign(reshape.sizes.begin(), reshape.sizes.end());
  if (NodeId known = find(back))
    return {known, {}};
  if (view.map || !isElementwiseNode(node.kind))
    return {};
  ValueNode before = node;
  SmallVector<View, 3> operands;
  for (const View &operand : node.operands) {
    operands.push_back(beforeReshape(reshape, operand, depth + 1));
    if (!operands.back())
      return {};
  }
  before.sizes.clear();
  AffineMap place = arrange(before, operands, reshape.from);
  NodeId known = find(before);
  return known ? View{known, place} : View();
}
