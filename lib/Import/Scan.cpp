// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// scan: out[k] = body(out[k-1], in[k]) along one dimension; the accumulator is a scalar of the
// loop, in f32 at least. Inclusive scans start with out[0] = in[0]; exclusive ones with the given
// accumulator, and read in[k-1]. The second result is the last out.

#include "Forms/LoopText.h"

using namespace llvm;
using namespace mlir::mp::import;

void mlir::mp::import::translateScan(Source &source, const StructuredOp &op) {
  std::optional<int64_t> dimension = op.integer("dimension");
  auto inclusive = op.words.find("inclusive");
  if (op.inputs.size() != 1 || op.outputs.size() != 2 || op.arguments.size() != 2 ||
      op.yielded.size() != 1 || !dimension || *dimension < 0 ||
      *dimension >= int64_t(op.inputs[0].type.rank()) || inclusive == op.words.end() ||
      inclusive->second.size() != 1 || op.outputs[1].type.rank() + 1 != op.outputs[0].type.rank())
    return source.error(op.span.begin, "'" + op.name +
                                           "' expects dimension(D) inclusive(B), one input, an "
                                           "output and an accumulator of one dimension less");
  const Operand &input = op.inputs[0];
  bool isInclusive = inclusive->second[0] == "true";
  std::string narrow = input.type.element;
  bool widened = accumulates(source, op) && accumulatorFor(narrow) != narrow;
  std::string element = widened ? accumulatorFor(narrow).str() : narrow;

  LoopText text(source);
  SmallVector<Operand> carried = {op.outputs[0], op.outputs[1]};
  Values bounds = text.sizes(input);
  std::string length = bounds[*dimension];
  bounds.erase(bounds.begin() + *dimension);
  Values outer = text.open(bounds, carried, op.results);

  std::string start = text.extract(carried[1], outer);
  start = text.convert(start, carried[1].type, element, true);
  Values state = {start, carried[0].value}, types = {element, carried[0].type.text}, results;
  std::string head = text.freshResults(2, results) + " = ";
  std::string counter = text.openOne(length, state, types, head);
  std::string zero = text.index(0), one = text.index(1), read = counter;
  if (!isInclusive) {
    std::string before = text.define("arith.subi " + counter + ", " + one + " : index");
    read = text.define("arith.maxsi " + before + ", " + zero + " : index");
  }
  Values there(outer), here(outer);
  there.insert(there.begin() + *dimension, read);
  here.insert(here.begin() + *dimension, counter);
  std::string value = text.convert(text.extract(input, there), input.type, element, true);
  Values combined = text.body(op, {state[0], value}, widened ? narrow : "", element);
  std::string first = text.define("arith.cmpi eq, " + counter + ", " + zero + " : index");
  std::string next = text.define("arith.select " + first + ", " + (isInclusive ? value : state[0]) +
                                 ", " + combined[0] + " : " + element);
  TensorType wide = carried[0].type.withElement(element);
  std::string stored = text.convert(next, wide, narrow, true);
  std::string out = text.insert(stored, {state[1], carried[0].type}, here);
  text.close({next, out});

  std::string last = text.convert(results[0], wide, narrow, true);
  std::string accumulator = text.insert(last, carried[1], outer);
  text.close({results[1], accumulator});
  source.replace(op.span, text.take());
}
