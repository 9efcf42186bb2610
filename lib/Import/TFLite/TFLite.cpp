// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites what tosa-converter-for-tflite leaves in its text. Structured ops become those of
// tm_tensor and iree_linalg_ext, which the next pass over the text translates; the others plain
// MLIR.

#include "../Rules.h"
#include "Suppression.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mlir::mp::import;

namespace {

enum class Combine { Sum, Product, Maximum, Minimum };

/// Writes what replaces one op.
class TFLiteWriter {
public:
  TFLiteWriter(Source &source, const GenericOp &op) : source(source), op(op), text(source) {}

  void topK();
  void cumulativeSum();
  /// Updates added into zeros.
  void scatterND();
  void segments(Combine combine);
  void slice();
  void where();
  void branch();
  void suppress() { translateSuppression(source, op); }

private:
  using Results = std::optional<std::string>;
  void fail(const Twine &why) { source.error(op.span.begin, "'" + op.name + "' " + why); }
  bool expects(size_t operands, size_t results) {
    if (op.operands.size() == operands && op.types.size() == results)
      return true;
    fail("expects " + Twine(operands) + " operands and " + Twine(results) + " results, found " +
         Twine(op.operands.size()) + " and " + Twine(op.types.size()));
    return false;
  }
  bool isStatic(const TensorType &type) {
    if (all_of(type.shape, [](int64_t size) { return size >= 0; }))
      return true;
    fail("expects a result of static size, found " + type.text);
    return false;
  }
  std::string filled(Combine combine, const TensorType &type);
  /// "%c = arith.addf %a, %b : f32"
  std::string combined(Combine combine, const TensorType &type, StringRef a, StringRef b);
  void scatter(const Operand &updates, const Operand &indices, Combine combine);
  std::string asIndex(StringRef value, const TensorType &of) {
    return of.element == "index"
               ? value.str()
               : text.define("arith.index_cast " + value + " : " + of.element + " to index");
  }
  void done() { source.replace(op.span, text.take()); }

  Source &source;
  const GenericOp &op;
  LoopText text;
};

} // namespace

std::string TFLiteWriter::filled(Combine combine, const TensorType &type) {
  if (combine == Combine::Sum || combine == Combine::Product)
    return text.filled(
        (combine == Combine::Sum ? "0" : "1") + std::string(type.isFloat() ? ".0" : ""), type);
  // As TFLite: where there is nothing, the lowest or largest finite number.
  StringRef finite = StringSwitch<StringRef>(type.element)
                         .Case("f32", "3.40282347E+38")
                         .Case("bf16", "3.38953139E+38")
                         .Case("f16", "65504.0")
                         .Default("");
  std::string largest =
      finite.empty() ? std::to_string(largestInteger(type.element)) : finite.str();
  if (combine == Combine::Minimum)
    return text.filled(largest, type);
  return text.filled(finite.empty() ? lowestOf(type) : "-" + largest, type);
}

std::string TFLiteWriter::combined(Combine combine, const TensorType &type, StringRef a,
                                   StringRef b) {
  StringRef op;
  switch (combine) {
  case Combine::Sum: op = type.isFloat() ? "addf" : "addi"; break;
  case Combine::Product: op = type.isFloat() ? "mulf" : "muli"; break;
  case Combine::Maximum: op = type.isFloat() ? "maximumf" : "maxsi"; break;
  case Combine::Minimum: op = type.isFloat() ? "minimumf" : "minsi"; break;
  }
  return ("arith." + op + " " + a + ", " + b + " : " + type.element).str();
}

void TFLiteWriter::topK() {
  if (expects(2, 2))
    writeTopK(source, op, /*ordersNaN=*/false);
}

void TFLiteWriter::cumulativeSum() {
  if (!expects(2, 1) || !isStatic(op.types[0]))
    return;
  auto axis = constantIntegers(source, op, 1);
  const TensorType &type = op.types[0];
  if (!axis || axis->size() != 1 || (*axis)[0] < -int64_t(type.rank()) ||
      (*axis)[0] >= int64_t(type.rank()))
    return fail("expects a constant axis of " + type.text);
  int64_t dim = (*axis)[0] < 0 ? (*axis)[0] + int64_t(type.rank()) : (*axis)[0];
  bool isReversed = op.properties.lookup("reverse") == "true",
       isInclusive = op.properties.lookup("exclusive") != "true";
  std::string x = op.operands[0].value;
  auto reversed = [&](StringRef value) {
    return ("tosa.reverse " + value + " {axis = " + Twine(dim) + " : i32} : (" + type.text +
            ") -> " + type.text)
        .str();
  };
  if (isReversed)
    x = text.define(reversed(x));
  TensorType lower = type;
  lower.shape.erase(lower.shape.begin() + dim);
  lower = TensorType::get(lower.shape, type.element);
  std::string sums = filled(Combine::Sum, type), last = filled(Combine::Sum, lower);
  std::string a = source.freshValue(), b = source.freshValue(), c = source.freshValue();
  std::string result = source.freshValue(), total = source.freshValue();
  StringRef name = StringRef(op.results).split(' ').first; // of the only result
  text.add((isReversed ? StringRef(result) : name) + ", " + total + " = tm_tensor.scan dimension(" +
           Twine(dim) + ") inclusive(" + (isInclusive ? "true" : "false") + ") ins(" + x + " : " +
           type.text + ") outs(" + sums + ", " + last + " : " + type.text + ", " + lower.text +
           ") { ^bb0(" + a + ": " + type.element + ", " + b + ": " + type.element + "): " + c +
           " = " + combined(Combine::Sum, type, a, b) + " tm_tensor.yield " + c + " : " +
           type.element + " } -> " + type.text + ", " + lower.text);
  if (isReversed)
    text.add(op.results + reversed(result));
  done();
}

void TFLiteWriter::scatter(const Operand &updates, const Operand &indices, Combine combine) {
  const TensorType &type = op.types[0];
  bool isSegments = indices.type.rank() + type.rank() == updates.type.rank() + 1;
  int64_t depth = isSegments ? 1 : indices.type.shape.back();
  if (!type.isFloat() && !largestInteger(type.element))
    return fail("expects floats or signless integers, found " + type.text);
  Values dims;
  for (int64_t dim = 0; dim < depth; ++dim)
    dims.push_back(std::to_string(dim));
  std::string start = filled(combine, type);
  std::string a = source.freshValue(), b = source.freshValue(), c = source.freshValue();
  text.add(op.results + "iree_linalg_ext.scatter dimension_map = [" + join(dims, ", ") +
           "] unique_indices(false) ins(" + updates.value + ", " + indices.value + " : " +
           updates.type.text + ", " + indices.type.text + ") outs(" + start + " : " + type.text +
           ") { ^bb0(" + a + ": " + type.element + ", " + b + ": " + type.element + "): " + c +
           " = " + combined(combine, type, b, a) + " iree_linalg_ext.yield " + c + " : " +
           type.element + " } -> " + type.text);
  done();
}

void TFLiteWriter::scatterND() {
  if (!expects(3, 1) || !isStatic(op.types[0]))
    return;
  const TensorType &indices = op.operands[0].type, &updates = op.operands[1].type,
                   &type = op.types[0];
  bool fits = indices.rank() > 0 && indices.shape.back() >= 0 &&
              indices.shape.back() <= int64_t(type.rank()) &&
              updates.rank() + indices.shape.back() == indices.rank() - 1 + type.rank();
  if (!fits)
    return fail("has updates " + updates.text + " and indices " + indices.text +
                " that do not fit " + type.text);
  scatter(op.operands[1], op.operands[0], Combine::Sum);
}

void TFLiteWriter::segments(Combine combine) {
  if (!expects(op.name == "tfl.segment_sum" ? 2 : 3, 1) || !isStatic(op.types[0]))
    return;
  const TensorType &data = op.operands[0].type, &ids = op.operands[1].type, &type = op.types[0];
  if (ids.rank() + type.rank() != data.rank() + 1 || type.rank() == 0)
    return fail("has data " + data.text + " and segments " + ids.text + " that do not fit " +
                type.text);
  scatter(op.operands[0], op.operands[1], combine);
}

/// Sizes of -1 reach to the end.
void TFLiteWriter::slice() {
  if (!expects(3, 1))
    return;
  const Operand &x = op.operands[0], &begin = op.operands[1], &size = op.operands[2];
  const TensorType &type = op.types[0];
  Values offsets, sizes, ones(type.rank(), "1");
  std::string zero = text.index(0);
  for (size_t dim = 0; dim < type.rank(); ++dim) {
    std::string at = text.index(dim);
    offsets.push_back(asIndex(text.extract(begin, at), begin.type));
    if (type.shape[dim] >= 0) {
      sizes.push_back(std::to_string(type.shape[dim]));
      continue;
    }
    std::string stated = asIndex(text.extract(size, at), size.type);
    std::string rest =
        text.define("arith.subi " + text.size(x, dim) + ", " + offsets.back() + " : index");
    std::string toEnd = text.define("arith.cmpi slt, " + stated + ", " + zero + " : index");
    sizes.push_back(
        text.define("arith.select " + toEnd + ", " + rest + ", " + stated + " : index"));
  }
  text.add(op.results + "tensor.extract_slice " + x.value + "[" + join(offsets, ", ") + "] [" +
           join(sizes, ", ") + "] [" + join(ones, ", ") + "] : " + x.type.text + " to " +
           type.text);
  done();
}

/// The places of what is true: counted first, then written row by row.
void TFLiteWriter::where() {
  if (!expects(1, 1))
    return;
  const Operand &x = op.operands[0];
  const TensorType &type = op.types[0];
  if (x.type.element != "i1" || type.rank() != 2 || type.shape[1] != int64_t(x.type.rank()) ||
      type.shape[0] >= 0)
    return fail("expects truth values and a row of indices for each, found " + x.type.text +
                " and " + type.text);
  Values sizes = text.sizes(x);
  std::string total = text.index(1), zero = text.index(0), one = text.index(1);
  for (const std::string &size : sizes)
    total = text.define("arith.muli " + total + ", " + size + " : index");
  Values position;
  auto open = [&](Values &state, ArrayRef<std::string> types, StringRef head) {
    std::string rest = text.openOne(total, state, types, head);
    position.assign(sizes.size(), "");
    for (size_t dim = sizes.size(); dim-- > 0;) {
      position[dim] = text.define("arith.remui " + rest + ", " + sizes[dim] + " : index");
      rest = text.define("arith.divui " + rest + ", " + sizes[dim] + " : index");
    }
    return text.extract(x, position);
  };
  Values results, state = {zero};
  std::string head = text.freshResults(1, results) + " = ";
  std::string count = results[0], holds = open(state, {"index"}, head);
  std::string more = text.define("arith.addi " + state[0] + ", " + one + " : index");
  text.close(text.define("arith.select " + holds + ", " + more + ", " + state[0] + " : index"));

  state = {zero, text.define("tensor.empty(" + count + ") : " + type.text)};
  head = text.freshResults(2, results) + " = ";
  holds = open(state, {"index", type.text}, head);
  Values written;
  text.add(text.freshResults(2, written) + " = scf.if " + holds + " -> (index, " + type.text +
           ") {");
  std::string rows = state[1];
  for (auto [dim, index] : enumerate(position)) {
    std::string value =
        type.element == "index"
            ? index
            : text.define("arith.index_cast " + index + " : index to " + type.element);
    rows = text.insert(value, {rows, type}, {state[0], text.index(dim)});
  }
  std::string next = text.define("arith.addi " + state[0] + ", " + one + " : index");
  text.add("scf.yield " + next + ", " + rows + " : index, " + type.text + " } else { scf.yield " +
           state[0] + ", " + state[1] + " : index, " + type.text + " }");
  text.close(written);
  text.add(op.results + "tensor.cast " + results[1] + " : " + type.text + " to " + type.text);
  done();
}

void TFLiteWriter::branch() {
  std::string yes = op.properties.lookup("then_branch"), no = op.properties.lookup("else_branch");
  const TensorType *condition = op.operands.empty() ? nullptr : &op.operands[0].type;
  if (!condition || condition->element != "i1" || yes.empty() || no.empty())
    return fail("expects a truth value and the functions then_branch and else_branch");
  Values zeros(condition->rank(), text.index(0)), operands, operandTypes, types;
  if (any_of(condition->shape, [](int64_t size) { return size != 1; }))
    return fail("expects one truth value, found " + condition->text);
  for (const Operand &operand : ArrayRef(op.operands).drop_front()) {
    operands.push_back(operand.value);
    operandTypes.push_back(operand.type.text);
  }
  for (const TensorType &type : op.types)
    types.push_back(type.text);
  std::string list = join(types, ", "), taken = text.extract(op.operands[0], zeros);
  auto region = [&](StringRef callee) {
    Values results;
    std::string head = types.empty() ? "" : text.freshResults(types.size(), results) + " = ";
    text.add("{ " + head + "func.call " + callee + "(" + join(operands, ", ") + ") : (" +
             join(operandTypes, ", ") + ") -> (" + list + ")" +
             (types.empty() ? "" : " scf.yield " + join(results, ", ") + " : " + list) + " }");
  };
  text.add(op.results + "scf.if " + taken + (types.empty() ? "" : " -> (" + list + ")"));
  region(yes);
  text.add("else");
  region(no);
  done();
}

size_t mlir::mp::import::translateTFLiteOp(Source &source, size_t name) {
  using Translate = void (*)(TFLiteWriter &);
  auto translate = StringSwitch<Translate>(source.text(name).trim('"'))
                       .Case("tfl.topk_v2", [](TFLiteWriter &writer) { writer.topK(); })
                       .Case("tfl.cumsum", [](TFLiteWriter &writer) { writer.cumulativeSum(); })
                       .Case("tfl.scatter_nd", [](TFLiteWriter &writer) { writer.scatterND(); })
                       .Cases({"tfl.segment_sum", "tfl.unsorted_segment_sum"},
                              [](TFLiteWriter &writer) { writer.segments(Combine::Sum); })
                       .Case("tfl.unsorted_segment_prod",
                             [](TFLiteWriter &writer) { writer.segments(Combine::Product); })
                       .Case("tfl.unsorted_segment_max",
                             [](TFLiteWriter &writer) { writer.segments(Combine::Maximum); })
                       .Case("tfl.unsorted_segment_min",
                             [](TFLiteWriter &writer) { writer.segments(Combine::Minimum); })
                       .Case("tfl.slice", [](TFLiteWriter &writer) { writer.slice(); })
                       .Case("tfl.where", [](TFLiteWriter &writer) { writer.where(); })
                       .Cases({"tfl.non_max_suppression_v4", "tfl.non_max_suppression_v5"},
                              [](TFLiteWriter &writer) { writer.suppress(); })
                       .Case("tf.If", [](TFLiteWriter &writer) { writer.branch(); })
                       .Default(nullptr);
  if (!translate || source.kind(name) != Tok::String || !source.isOperation(name))
    return name;
  std::optional<GenericOp> op = GenericOp::parse(source, name);
  if (!op)
    return name + 1;
  TFLiteWriter writer(source, *op);
  translate(writer);
  return op->span.end;
}
