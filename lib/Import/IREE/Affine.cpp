// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// quantize_affine and dequantize_affine, which have maps and no body:
//
//   %r = iree_linalg_ext.quantize_affine <indexing_maps = [MAPS], quant_min = -128, quant_max =
//   127, FLAG>
//        ins(%value, %scale, %zero_point : TYPES) outs(%out : TYPE) -> TYPE
//
// The zero point may be left out, scale and zero point may be scalars; FLAG is storage_unsigned or
// input_unsigned. They become linalg.generic over the same maps: round half to even, saturate, and
// convert; or subtract, convert and scale.

#include "../Forms/LoopText.h"
#include "../Rules.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir::mp::import;

namespace {
struct AffineOp {
  std::string maps;
  std::string lowest, highest; ///< of the quantised type
  bool isUnsigned = false;
  Values values, types, elements; ///< of the operands, the output last
  size_t rank = 0;                ///< of the output
};
} // namespace

/// Reads what stands behind the name; one past the whole in `end`. Why it cannot, if it cannot.
static std::string read(const Source &source, size_t at, AffineOp &op, size_t &end) {
  if (!source.is(at, "<"))
    return "expects '<indexing_maps = ...>'";
  size_t close = source.closing(at);
  for (Span entry : source.split({at + 1, close})) {
    StringRef word = source.text(entry.begin);
    std::string value =
        entry.end > entry.begin + 2 ? source.text(Span{entry.begin + 2, entry.end}).str() : "";
    if (word == "indexing_maps")
      op.maps = value;
    else if (word == "quant_min")
      op.lowest = value;
    else if (word == "quant_max")
      op.highest = value;
    else if (word == "storage_unsigned" || word == "input_unsigned")
      op.isUnsigned = true;
    else
      return ("expects maps, quant_min, quant_max and a sign, found '" + word + "'").str();
  }
  at = close + 1;
  for (StringRef word : {"ins", "outs"}) {
    if (!source.is(at, word) || !source.is(at + 1, "("))
      return ("has no '" + word + "(...)'").str();
    close = source.closing(at + 1);
    size_t colon = source.find(at + 2, close, ":");
    for (Span value : source.split({at + 2, colon}))
      op.values.push_back(source.value(value.begin).str());
    for (Span type : source.split({colon + 1, close})) {
      auto tensor = TensorType::parse(source.text(type));
      op.types.push_back(source.text(type).str());
      op.elements.push_back(tensor ? tensor->element : op.types.back());
      op.rank = tensor ? tensor->rank() : 0;
    }
    at = close + 1;
  }
  if (source.kind(at) != Tok::Arrow)
    return "has no tensor result; it was exported after bufferization, export tensors";
  end = source.typeEnd(at + 1);
  if (op.values.size() != op.types.size() || op.values.size() < 3 || op.values.size() > 4 ||
      op.maps.empty() || op.lowest.empty() || op.highest.empty())
    return "expects maps, quant_min, quant_max, a tensor, scale, maybe zero point, and an output";
  return "";
}

/// The value in `type` of the integer `value`, which has the type `from`.
static std::string resize(LoopText &text, StringRef value, StringRef from, StringRef type,
                          bool isUnsigned) {
  unsigned width = 0, wanted = 0;
  from.drop_front().getAsInteger(10, width);
  type.drop_front().getAsInteger(10, wanted);
  if (width == wanted)
    return value.str();
  StringRef op = width > wanted ? "trunci" : isUnsigned ? "extui" : "extsi";
  return text.define("arith." + op + " " + value + " : " + from + " to " + type);
}

size_t mlir::mp::import::translateAffine(Source &source, size_t name) {
  AffineOp op;
  size_t end = name + 1, begin = source.statementBegin(name);
  bool quantizes = source.text(name).ends_with(".quantize_affine");
  std::string why = read(source, name + 1, op, end);
  bool hasZero = op.values.size() == 4;
  if (!why.empty()) {
    source.error(name, "'" + source.text(name) + "' " + why);
    return name + 1;
  }
  StringRef input = op.elements.front(), output = op.elements.back();
  StringRef integer = quantizes ? output : input, real = quantizes ? input : output;
  unsigned width = 0;
  if (!integer.starts_with("i") || integer.drop_front().getAsInteger(10, width) ||
      op.elements[1] != real) {
    source.error(
        name, "'" + source.text(name) +
                  "' expects integers on one side and the scale in the type of the other, found " +
                  input + ", " + op.elements[1] + " and " + output);
    return name + 1;
  }

  LoopText text(source);
  text.add((begin == name ? "" : source.text(Span{begin, name})) +
           " linalg.generic {indexing_maps = " + op.maps + ", iterator_types = [");
  text.add(join(Values(op.rank, "\"parallel\""), ", ") + "]} ins(" +
           join(drop_end(op.values), ", ") + " : " + join(drop_end(op.types), ", ") + ") outs(" +
           op.values.back() + " : " + op.types.back() + ") {");
  Values arguments, heads;
  for (StringRef element : op.elements) {
    arguments.push_back(source.freshValue());
    heads.push_back((arguments.back() + ": " + element).str());
  }
  text.add("^bb0(" + join(heads, ", ") + "):");
  std::string result;
  if (quantizes) {
    result = text.define("arith.divf " + arguments[0] + ", " + arguments[1] + " : " + real);
    result = text.define("math.roundeven " + result + " : " + real);
    if (hasZero) {
      std::string zero =
          text.define("arith.sitofp " + arguments[2] + " : " + op.elements[2] + " to " + real);
      result = text.define("arith.addf " + result + ", " + zero + " : " + real);
    }
    std::string lowest = text.define("arith.constant " + op.lowest + ".0 : " + real);
    std::string highest = text.define("arith.constant " + op.highest + ".0 : " + real);
    result = text.define("arith.maxnumf " + result + ", " + lowest + " : " + real);
    result = text.define("arith.minnumf " + result + ", " + highest + " : " + real);
    result = text.define("arith.fpto" + Twine(op.isUnsigned ? "u" : "s") + "i " + result + " : " +
                         real + " to " + integer);
  } else {
    // The difference of two numbers of n bits needs n + 1.
    std::string wide = width < 32 ? "i32" : "i64";
    result = resize(text, arguments[0], integer, wide, op.isUnsigned);
    if (hasZero) {
      std::string zero = resize(text, arguments[2], op.elements[2], wide, /*isUnsigned=*/false);
      result = text.define("arith.subi " + result + ", " + zero + " : " + wide);
    }
    result = text.define("arith.sitofp " + result + " : " + wide + " to " + real);
    result = text.define("arith.mulf " + result + ", " + arguments[1] + " : " + real);
  }
  text.add("linalg.yield " + result + " : " + output + " } -> " + op.types.back());
  source.replace({begin, end}, text.take());
  return end;
}
