// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// select_and_scatter(operand, source, start) as loops:
//
//   result = start everywhere
//   for each element s of the source:
//     for each place w of its window, but for the padding:
//       keep the place seen so far if select(operand[seen], operand[w]) holds, else take w
//     result[seen] = scatter(result[seen], source[s])

#include "SelectAndScatter.h"

using namespace llvm;
using namespace mlir::mp::import;

namespace {
class WindowLoops {
public:
  WindowLoops(Source &source, const GenericOp &op)
      : source(source), op(op), text(source), operand(op.operands[0]), values(op.operands[1]),
        type(operand.type) {}

  bool readWindow();
  void translate();

private:
  bool select(ArrayRef<std::string> turn, Values &found);
  std::string index(const Twine &operation) { return text.define(operation + " : index"); }
  std::string truth(const Twine &operation) { return text.define(operation + " : i1"); }

  Source &source;
  const GenericOp &op;
  LoopText text;
  Operand operand, values;
  TensorType type;
  SmallVector<int64_t> sizes, strides, before; ///< of the window; of the padding in front
};
} // namespace

bool WindowLoops::readWindow() {
  size_t rank = type.rank();
  auto read = [&](StringRef name, size_t count, int64_t otherwise) {
    SmallVector<int64_t> integers = integersOf(op.properties.lookup(name));
    if (integers.size() <= 1)
      integers.assign(count, integers.empty() ? otherwise : integers[0]);
    return integers;
  };
  sizes = read("window_dimensions", rank, 1);
  strides = read("window_strides", rank, 1);
  SmallVector<int64_t> padding = read("padding", 2 * rank, 0);
  if (sizes.size() != rank || strides.size() != rank || padding.size() != 2 * rank ||
      values.type.rank() != rank)
    return false;
  for (size_t dim = 0; dim < rank; ++dim)
    before.push_back(padding[2 * dim]);
  return true;
}

/// Writes the search through the window of `turn`. `found`: whether there is a place, its value,
/// and its coordinates.
bool WindowLoops::select(ArrayRef<std::string> turn, Values &found) {
  std::string zero = text.index(0), no = text.define("arith.constant false");
  SmallVector<Operand> state = {
      {no, {"i1", {}, "i1"}},
      {text.extract(operand, Values(type.rank(), zero)), {type.element, {}, type.element}}};
  state.append(type.rank(), {zero, {"index", {}, "index"}});
  Values bounds;
  for (int64_t size : sizes)
    bounds.push_back(text.index(size));
  std::string head = text.freshResults(state.size(), found) + " = ";
  Values offsets = text.open(bounds, state, head), limits = text.sizes(operand), place, safe;
  std::string inside;
  for (size_t dim = 0; dim < type.rank(); ++dim) {
    std::string start = index("arith.muli " + turn[dim] + ", " + text.index(strides[dim]));
    std::string shifted = index("arith.addi " + start + ", " + offsets[dim]);
    place.push_back(index("arith.subi " + shifted + ", " + text.index(before[dim])));
    std::string fits =
        text.define("arith.cmpi ult, " + place[dim] + ", " + limits[dim] + " : index");
    inside = inside.empty() ? fits : truth("arith.andi " + inside + ", " + fits);
  }
  for (const std::string &coordinate : place)
    safe.push_back(index("arith.select " + inside + ", " + coordinate + ", " + zero));
  std::string candidate = text.extract(operand, safe);
  std::optional<Values> keeps =
      writeScalarBody(source, text, op.regions[0], {state[1].value, candidate});
  if (!keeps || keeps->size() != 1)
    return false;
  std::string yes = text.define("arith.constant true");
  std::string seen = truth("arith.andi " + state[0].value + ", " + (*keeps)[0]);
  std::string isNew = truth("arith.xori " + seen + ", " + yes);
  std::string takes = truth("arith.andi " + inside + ", " + isNew);
  Values next = {truth("arith.ori " + state[0].value + ", " + inside),
                 text.define("arith.select " + takes + ", " + candidate + ", " + state[1].value +
                             " : " + type.element)};
  for (auto [coordinate, seenAt] : zip_equal(place, ArrayRef(state).drop_front(2)))
    next.push_back(index("arith.select " + takes + ", " + coordinate + ", " + seenAt.value));
  text.close(next);
  return true;
}

void WindowLoops::translate() {
  std::string start = text.extract(op.operands[2], {});
  std::string filled = text.define("linalg.fill ins(" + start + " : " + type.element + ") outs(" +
                                   text.empty(operand) + " : " + type.text + ") -> " + type.text);
  SmallVector<Operand> carried = {{filled, type}};
  Values turn = text.open(text.sizes(values), carried, op.results), found;
  if (!select(turn, found))
    return;
  ArrayRef<std::string> place = ArrayRef(found).drop_front(2);
  std::string old = text.extract(carried[0], place);
  std::optional<Values> combined =
      writeScalarBody(source, text, op.regions[1], {old, text.extract(values, turn)});
  if (!combined || combined->size() != 1)
    return;
  std::string written = text.define("arith.select " + found[0] + ", " + (*combined)[0] + ", " +
                                    old + " : " + type.element);
  text.close(text.insert(written, carried[0], place));
  source.replace(op.span, text.take());
}

void mlir::mp::import::translateSelectAndScatter(Source &source, const GenericOp &op) {
  auto takesTwo = [](const GenericRegion &region) { return region.arguments.size() == 2; };
  bool isValid = op.operands.size() == 3 && op.regions.size() == 2 &&
                 all_of(op.regions, takesTwo) && op.operands[0].type.rank() > 0;
  if (isValid) {
    WindowLoops loops(source, op);
    if (loops.readWindow())
      return loops.translate();
  }
  source.error(op.span.begin, "'" + op.name +
                                  "' expects an operand, a source and a start, a window of a "
                                  "size for each dimension, and two bodies of two arguments");
}
