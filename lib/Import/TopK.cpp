// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// topk: every input element is put into a list of the best k seen so far, which starts as the
// outs. Among equals the lower index comes first.

#include "Forms/GenericOp.h"

using namespace llvm;
using namespace mlir::mp::import;

void mlir::mp::import::translateTopK(Source &source, const StructuredOp &op) {
  std::optional<int64_t> dimension = op.comparedDimension(/*lost=*/0);
  if (!dimension)
    return source.error(op.span.begin,
                        "'" + op.name +
                            "' expects dimension(D), values and maybe "
                            "indices, two outputs and a comparison of two arguments");
  LoopText text(source);
  const Operand &input = op.inputs[0];
  std::string element = input.type.element, indexType = op.outputs[1].type.element;
  SmallVector<Operand> carried = {op.outputs[0], op.outputs[1]};
  Values bounds = text.sizes(input);
  std::string length = bounds[*dimension], k = text.size(op.outputs[0], *dimension);
  bounds.erase(bounds.begin() + *dimension);
  Values outer = text.open(bounds, carried, op.results), seen, best;
  Values lists = {carried[0].value, carried[1].value};
  Values listTypes = {carried[0].type.text, carried[1].type.text};
  auto at = [&](StringRef along) {
    Values position(outer);
    position.insert(position.begin() + *dimension, along.str());
    return position;
  };

  std::string head = text.freshResults(2, seen) + " = ";
  std::string i = text.openOne(length, lists, listTypes, head);
  std::string value = text.extract(input, at(i)), number = i;
  if (op.inputs.size() == 2)
    number = text.extract(op.inputs[1], at(i));
  else if (indexType != "index")
    number = text.define("arith.index_cast " + i + " : index to " + indexType);

  Values state = {value, number, lists[0], lists[1]};
  head = text.freshResults(4, best) + " = ";
  std::string j = text.openOne(k, state, {element, indexType, listTypes[0], listTypes[1]}, head);
  std::string listed = text.extract({state[2], carried[0].type}, at(j));
  std::string listedNumber = text.extract({state[3], carried[1].type}, at(j));
  std::string newFirst = text.body(op, {state[0], listed})[0];
  std::string oldFirst = text.body(op, {listed, state[0]})[0];
  std::string tie = text.define("arith.cmpi eq, " + newFirst + ", " + oldFirst + " : i1");
  std::string lower =
      text.define("arith.cmpi slt, " + state[1] + ", " + listedNumber + " : " + indexType);
  std::string take = text.define("arith.select " + tie + ", " + lower + ", " + newFirst + " : i1");
  auto choose = [&](StringRef ifTaken, StringRef otherwise, StringRef type) {
    return text.define("arith.select " + take + ", " + ifTaken + ", " + otherwise + " : " + type);
  };
  std::string newValue = choose(state[0], listed, element);
  std::string newNumber = choose(state[1], listedNumber, indexType);
  std::string restValue = choose(listed, state[0], element);
  std::string restNumber = choose(listedNumber, state[1], indexType);
  std::string values = text.insert(newValue, {state[2], carried[0].type}, at(j));
  std::string numbers = text.insert(newNumber, {state[3], carried[1].type}, at(j));
  text.close({restValue, restNumber, values, numbers});
  text.close({best[2], best[3]});
  text.close({seen[0], seen[1]});
  source.replace(op.span, text.take());
}

void mlir::mp::import::writeTopK(Source &source, const GenericOp &op, bool ordersNaN) {
  auto isStatic = [](const TensorType &type) {
    return all_of(type.shape, [](int64_t size) { return size >= 0; });
  };
  const TensorType &values = op.types[0], &indices = op.types[1];
  if (values.rank() == 0 || !isStatic(values) || !isStatic(indices) ||
      (!values.isFloat() && !largestInteger(values.element)))
    return source.error(op.span.begin, "'" + op.name +
                                           "' expects results of static size of floats or "
                                           "signless integers, found " +
                                           values.text + " and " + indices.text);
  LoopText text(source), body(source);
  std::string bests = text.filled(lowestOf(values), values);
  std::string numbers = text.filled(std::to_string(largestInteger(indices.element)), indices);
  std::string a = source.freshValue(), b = source.freshValue();
  auto compare = [&](StringRef predicate, StringRef x, StringRef y) {
    return body.define("arith.cmp" + predicate + ", " + x + ", " + y + " : " + values.element);
  };
  std::string first = compare(values.isFloat() ? "f ogt" : "i sgt", a, b);
  if (ordersNaN && values.isFloat()) {
    std::string isOnly = body.define("arith.andi " + compare("f uno", a, a) + ", " +
                                     compare("f ord", b, b) + " : i1");
    first = body.define("arith.ori " + first + ", " + isOnly + " : i1");
  }
  const Operand &x = op.operands[0];
  text.add(op.results + "tm_tensor.topk dimension(" + Twine(values.rank() - 1) + ") ins(" +
           x.value + " : " + x.type.text + ") outs(" + bests + ", " + numbers + " : " +
           values.text + ", " + indices.text + ") { ^bb0(" + a + ": " + values.element + ", " + b +
           ": " + values.element + "): " + body.take() + "tm_tensor.yield " + first +
           " : i1 } -> " + values.text + ", " + indices.text);
  source.replace(op.span, text.take());
}
