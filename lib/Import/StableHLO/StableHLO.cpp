// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites what torch-mlir's lowering of StableHLO leaves, in the generic form. Control flow
// becomes scf in place, whatever stands in it; sort and scatter become those of iree_linalg_ext,
// which the next pass over the text translates; select_and_scatter becomes loops. Functions of chlo
// on each element become products, or what the dialect math has by the same name.

#include "../Rules.h"
#include "SelectAndScatter.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mlir::mp::import;

namespace {
/// Writes what replaces one op, and returns the token to go on with.
class StableHLOWriter {
public:
  StableHLOWriter(Source &source, size_t name, const GenericOp &op)
      : source(source), name(name), op(op), text(source) {}

  size_t loop();
  size_t branch();
  size_t sort();
  size_t scatter();
  size_t topK();
  size_t barrier();
  size_t elementwise();
  size_t selectAndScatter() {
    translateSelectAndScatter(source, op);
    return op.span.end;
  }

private:
  size_t fail(const Twine &why) {
    source.error(op.span.begin, "'" + op.name + "' " + why);
    return op.span.end;
  }
  void yield(const GenericRegion &region) {
    source.replace({region.terminator, region.terminator + 1}, "\"scf.yield\"");
  }
  size_t structured(StringRef words, ArrayRef<Operand> ins, ArrayRef<Operand> outs,
                    ArrayRef<size_t> order);

  Source &source;
  size_t name;
  const GenericOp &op;
  LoopText text;
};
} // namespace

static std::string typesOf(ArrayRef<Operand> operands) {
  Values types;
  for (const Operand &operand : operands)
    types.push_back(operand.type.text);
  return join(types, ", ");
}

static std::string valuesOf(ArrayRef<Operand> operands) {
  Values values;
  for (const Operand &operand : operands)
    values.push_back(operand.value);
  return join(values, ", ");
}

/// while(state) cond body: the condition hands its state on.
size_t StableHLOWriter::loop() {
  if (op.regions.size() != 2)
    return fail("expects a condition and a body, found " + Twine(op.regions.size()) + " regions");
  std::optional<GenericOp> asks = GenericOp::parse(source, op.regions[0].terminator);
  if (!asks || asks->operands.size() != 1)
    return fail("expects a condition that returns one truth value");
  Values values = {text.extract(asks->operands[0], {})}, types = {"i1"};
  for (const GenericRegion::Argument &argument : op.regions[0].arguments) {
    values.push_back(argument.value);
    types.push_back(argument.type);
  }
  text.add("\"scf.condition\"(" + join(values, ", ") + ") : (" + join(types, ", ") + ") -> ()");
  source.replace({name, name + 1}, "\"scf.while\"");
  source.replace(asks->span, text.take());
  yield(op.regions[1]);
  return name + 1;
}

/// if(truth) yes no, case(index) branches: what is no index takes the last branch.
size_t StableHLOWriter::branch() {
  bool isCase = op.name == "stablehlo.case";
  size_t count = op.regions.size();
  if (op.operands.size() != 1 || op.operands[0].type.rank() != 0 || count < 1 ||
      (!isCase && count != 2))
    return fail("expects one scalar and its branches, found " + Twine(op.operands.size()) +
                " operands and " + Twine(count) + " branches");
  const TensorType &type = op.operands[0].type;
  std::string chosen = text.extract(op.operands[0], {});
  if (isCase) {
    auto number = [&](size_t value) {
      return text.define("arith.constant " + Twine(value) + " : " + type.element);
    };
    std::string last = number(count - 1);
    std::string fits =
        text.define("arith.cmpi ult, " + chosen + ", " + last + " : " + type.element);
    chosen =
        text.define("arith.select " + fits + ", " + chosen + ", " + last + " : " + type.element);
  }
  if (isCase && count == 2) { // the first branch is taken for zero
    chosen = text.define("arith.cmpi eq, " + chosen + ", " +
                         text.define("arith.constant 0 : " + type.element) + " : " + type.element);
  } else if (isCase) {
    chosen = text.define("arith.index_cast " + chosen + " : " + type.element + " to index");
  }
  bool isSwitch = isCase && count != 2;
  Values cases;
  for (size_t i = 1; isSwitch && i < count; ++i)
    cases.push_back(std::to_string(i));
  std::string head = isSwitch ? "\"scf.index_switch\"(" + chosen + ") <{cases = array<i64" +
                                    (cases.empty() ? "" : ": ") + join(cases, ", ") + ">}>"
                              : "\"scf.if\"(" + chosen + ")";
  source.insertBefore(op.span.begin, text.take());
  source.replace({name, source.closing(name + 1) + 1}, head);
  source.replace({op.typesBegin, source.closing(op.typesBegin) + 1}, isSwitch ? "(index)" : "(i1)");
  for (const GenericRegion &region : op.regions)
    yield(region);
  return name + 1;
}

/// Writes an op of iree_linalg_ext whose body takes the arguments of the region in this order.
size_t StableHLOWriter::structured(StringRef words, ArrayRef<Operand> ins, ArrayRef<Operand> outs,
                                   ArrayRef<size_t> order) {
  const GenericRegion &region = op.regions[0];
  Values arguments(order.size()), declared;
  for (size_t from : order) {
    arguments[from] = source.freshValue();
    std::optional<TensorType> type = TensorType::parse(region.arguments[from].type);
    if (!type || type->rank() != 0)
      return fail("expects a body on tensors without dimensions, found " +
                  region.arguments[from].type);
    declared.push_back(arguments[from] + ": " + type->element);
  }
  LoopText body(source);
  std::optional<Values> yielded = writeScalarBody(source, body, region, arguments);
  if (!yielded || yielded->size() != 1)
    return op.span.end;
  std::string kind = StringRef(op.name).split('.').second.str();
  std::string element = kind == "sort" ? "i1" : outs[0].type.element;
  text.add(op.results + "iree_linalg_ext." + kind + " " + words +
           (ins.empty() ? "" : " ins(" + valuesOf(ins) + " : " + typesOf(ins) + ")") + " outs(" +
           valuesOf(outs) + " : " + typesOf(outs) + ") { ^bb0(" + join(declared, ", ") +
           "): " + body.take() + "iree_linalg_ext.yield " + (*yielded)[0] + " : " + element +
           " } -> " + typesOf(outs));
  source.replace(op.span, text.take());
  return op.span.end;
}

size_t StableHLOWriter::sort() {
  size_t count = op.operands.size();
  SmallVector<int64_t> dimension = integersOf(op.properties.lookup("dimension"));
  if (count == 0 || dimension.size() != 1 || op.regions.size() != 1 ||
      op.regions[0].arguments.size() != 2 * count)
    return fail("expects a dimension, and a comparison of two elements of each operand");
  SmallVector<size_t> order(2 * count);
  std::iota(order.begin(), order.end(), 0);
  return structured("dimension(" + std::to_string(dimension[0]) + ")", {}, op.operands, order);
}

size_t StableHLOWriter::scatter() {
  if (op.operands.size() != 3 || op.regions.size() != 1 || op.regions[0].arguments.size() != 2)
    return fail("expects one operand, indices and updates, found " + Twine(op.operands.size()) +
                " operands");
  static constexpr StringLiteral lists[][2] = {
      {"scatter_dims_to_operand_dims", "dimension_map"},
      {"update_window_dims", "update_window_dims"},
      {"inserted_window_dims", "inserted_window_dims"},
      {"input_batching_dims", "input_batching_dims"},
      {"scatter_indices_batching_dims", "scatter_indices_batching_dims"}};
  StringRef numbers = op.properties.find("scatter_dimension_numbers") == op.properties.end()
                          ? StringRef()
                          : op.properties.find("scatter_dimension_numbers")->second;
  auto after = [&](StringRef word) {
    size_t at = numbers.find((word + " = ").str());
    return at == StringRef::npos ? StringRef() : numbers.drop_front(at + word.size() + 3);
  };
  std::string words;
  for (auto &[name, word] : lists)
    words += (word + " = [" + after(name).split(']').first.drop_front(!after(name).empty()) + "] ")
                 .str();
  StringRef vector = after("index_vector_dim").take_while(isDigit);
  words +=
      ("index_vector_dim(" + (vector.empty() ? "0" : vector) + ") unique_indices(false)").str();
  const Operand &original = op.operands[0], &indices = op.operands[1], &updates = op.operands[2];
  return structured(words, {updates, indices}, {original}, {1, 0});
}

size_t StableHLOWriter::topK() {
  if (op.operands.size() != 1 || op.types.size() != 2)
    return fail("expects one operand and two results, found " + Twine(op.operands.size()) +
                " and " + Twine(op.types.size()));
  writeTopK(source, op, /*ordersNaN=*/true);
  return op.span.end;
}

size_t StableHLOWriter::barrier() {
  source.replace(op.span, op.results + "util.optimization_barrier " + valuesOf(op.operands) +
                              " : " + typesOf(op.operands));
  return op.span.end;
}

/// A function of one number becomes an op on tensors of its operand's type.
size_t StableHLOWriter::elementwise() {
  StringRef kind = StringRef(op.name).split('.').second;
  const bool isSquare = kind == "square";
  if (op.operands.size() != 1 || op.types.size() != 1)
    return fail("expects one operand and one result, found " + Twine(op.operands.size()) + " and " +
                Twine(op.types.size()));
  const auto &[x, type] = op.operands[0];
  if (!type.isFloat() && !(isSquare && largestInteger(type.element)))
    return fail("expects " + Twine(isSquare ? "floats or signless integers" : "floats") +
                ", found " + type.text);
  std::string words = isSquare ? (type.isFloat() ? "arith.mulf " : "arith.muli ") + x + ", " + x
                               : ("math." + kind + " " + x).str();
  source.replace(op.span, op.results + words + " : " + type.text);
  return op.span.end;
}

size_t mlir::mp::import::translateStableHLOOp(Source &source, size_t name) {
  auto write =
      StringSwitch<size_t (StableHLOWriter::*)()>(source.text(name).trim('"'))
          .Case("stablehlo.while", &StableHLOWriter::loop)
          .Cases({"stablehlo.if", "stablehlo.case"}, &StableHLOWriter::branch)
          .Case("stablehlo.sort", &StableHLOWriter::sort)
          .Case("stablehlo.scatter", &StableHLOWriter::scatter)
          .Case("stablehlo.select_and_scatter", &StableHLOWriter::selectAndScatter)
          .Case("stablehlo.optimization_barrier", &StableHLOWriter::barrier)
          .Case("chlo.top_k", &StableHLOWriter::topK)
          .Cases({"chlo.square", "chlo.acos", "chlo.acosh", "chlo.asin", "chlo.asinh", "chlo.atan",
                  "chlo.atanh", "chlo.cosh", "chlo.erf", "chlo.erfc", "chlo.sinh", "chlo.tan"},
                 &StableHLOWriter::elementwise)
          .Default(nullptr);
  if (!write || !source.isOperation(name))
    return name + 1;
  std::optional<GenericOp> op = GenericOp::parse(source, name);
  return op ? (StableHLOWriter(source, name, *op).*write)() : name + 1;
}
