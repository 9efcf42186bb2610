// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// scatter: every update element is combined with the element of the original it points to,
// one after the other. Its dimensions are
//
//   updates [batch..., window...]   indices [batch..., depth] or [batch...]   original [...]
//
// Window dimensions lie over the last ones of the original; an index into one of those is the
// window's start. Elements that fall outside are dropped, as StableHLO demands.

#include "LoopText.h"

using namespace llvm;
using namespace mlir::mp::import;

/// Returns how many leading dimensions of the updates count updates. tm_tensor has one;
/// iree_linalg_ext any number, its windows have a dimension per one not indexed.
static size_t batchRank(const StructuredOp &op, size_t depth) {
  size_t updates = op.inputs[0].type.rank(), original = op.outputs[0].type.rank();
  size_t window = original - depth;
  bool several = StringRef(op.name).starts_with("iree_linalg_ext") && updates >= window;
  if (!several)
    return 1;
  size_t batch = updates - window;
  size_t indices = op.inputs[1].type.rank();
  return indices == batch || indices == batch + 1 ? batch : indices - 1;
}

void mlir::mp::import::translateScatter(Source &source, const StructuredOp &op) {
  size_t at = op.span.begin;
  auto map = op.words.find("dimension_map");
  if (op.inputs.size() != 2 || op.outputs.size() != 1 || op.arguments.size() != 2 ||
      op.yielded.size() != 1 || map == op.words.end())
    return source.error(at, "'" + op.name +
                                "' expects a dimension_map, updates and indices, one "
                                "destination and a body of two arguments; masks are not supported");
  Operand updates = op.inputs[0], indices = op.inputs[1];
  const Operand &original = op.outputs[0];
  size_t depth = map->second.size(), batch = batchRank(op, depth);
  size_t window = updates.type.rank() - batch;
  bool depthIsDimension = indices.type.rank() == batch + 1;
  if (depth > original.type.rank() || window > original.type.rank() ||
      updates.type.rank() < batch || (!depthIsDimension && indices.type.rank() != batch) ||
      (!depthIsDimension && depth != 1))
    return source.error(at, "'" + op.name + "' has updates " + updates.type.text + " and indices " +
                                indices.type.text + " that do not fit " + original.type.text);

  bool isFloat = original.type.isFloat(), sums = isFloat && accumulates(source, op);
  std::string element = sums ? accumulatorFor(original.type.element).str() : original.type.element;
  LoopText text(source, /*pinned=*/sums && element == "f32");
  bool widened = element != original.type.element;
  SmallVector<Operand> carried = {{text.convert(original.value, original.type, element, false),
                                   original.type.withElement(element)}};
  Operand wideOriginal = carried[0];
  Values bounds = text.sizes(updates), limits = text.sizes(wideOriginal), results;
  std::string head = widened ? text.freshResults(1, results) + " = " : op.results;
  Values counters = text.open(bounds, carried, head);
  ArrayRef<std::string> turn(counters);

  Values position(original.type.rank());
  for (size_t i = 0; i < window; ++i)
    position[position.size() - window + i] = turn[batch + i];
  std::string inside;
  for (size_t i = 0; i < depth; ++i) {
    Values where(turn.take_front(batch).begin(), turn.take_front(batch).end());
    if (depthIsDimension)
      where.push_back(text.index(i));
    std::string value = text.extract(indices, where);
    if (indices.type.element != "index")
      value = text.define("arith.index_cast " + value + " : " + indices.type.element + " to index");
    size_t dim = 0;
    if (StringRef(map->second[i]).getAsInteger(10, dim) || dim >= position.size())
      return source.error(at, "'" + op.name + "' has dimension " + map->second[i] +
                                  " in its dimension_map, beyond " + original.type.text);
    if (!position[dim].empty())
      value = text.define("arith.addi " + value + ", " + position[dim] + " : index");
    position[dim] = value;
    std::string fits = text.define("arith.cmpi ult, " + value + ", " + limits[dim] + " : index");
    inside = inside.empty() ? fits : text.define("arith.andi " + inside + ", " + fits + " : i1");
  }
  for (auto [dim, value] : enumerate(position))
    if (value.empty())
      return source.error(at, "'" + op.name + "' leaves dimension " + Twine(dim) +
                                  " of its result neither indexed nor in the window");

  std::string updated = source.freshValue();
  text.add(updated + " = scf.if " + inside + " -> (" + carried[0].type.text + ") {");
  std::string update = text.convert(text.extract(updates, turn), updates.type, element, true);
  std::string old = text.extract(carried[0], position);
  Values combined = text.body(op, {update, old}, widened ? original.type.element : "", element);
  std::string inserted = text.insert(combined[0], carried[0], position);
  text.add("scf.yield " + inserted + " : " + carried[0].type.text + " } else { scf.yield " +
           carried[0].value + " : " + carried[0].type.text + " }" +
           (sums && element == "f32" ? " {mp.pin = f32}" : ""));
  text.close({updated});
  if (widened)
    text.add(op.results + "arith.truncf " + results[0] + " : " + wideOriginal.type.text + " to " +
             original.type.text);
  source.replace(op.span, text.take());
}
