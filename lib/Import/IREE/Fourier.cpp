// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Translates IREE's Fourier transforms: fft, one stage of butterflies along the last dimension
//
//   %r:2 = iree_linalg_ext.fft ins(%stage, %cos, %sin : index, tensor<4xf32>, tensor<4xf32>)
//          outs(%real, %imaginary : TYPE, TYPE) : TYPE, TYPE
//
// and bitcast between complex numbers and pairs. Of m = 2^stage neighbours, the first half becomes
// u + w v and the second u - w v, where w = cos + i sin. Butterflies carry mp.pin = f32, as
// frameworks leave transforms in f32.

#include "../Forms/LoopText.h"
#include "../Rules.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir::mp::import;

/// affine_map<(d0, d1) -> (d0)>
static std::string projection(size_t rank, size_t kept) {
  Values dims;
  for (size_t dim = 0; dim < rank; ++dim)
    dims.push_back("d" + std::to_string(dim));
  return "affine_map<(" + join(dims, ", ") + ") -> (" +
         join(ArrayRef(dims).take_front(kept), ", ") + ")>";
}

/// "{indexing_maps = [...], iterator_types = [...]}" of parallel loops.
static std::string parallel(size_t rank, ArrayRef<std::string> maps) {
  return "{indexing_maps = [" + join(maps, ", ") + "], iterator_types = [" +
         join(Values(rank, "\"parallel\""), ", ") + "]} ";
}

/// "%a, %b : types" between the bracket at `open` and its partner, whose next token is put into
/// `end`.
static std::optional<SmallVector<Operand>> readOperands(const Source &source, size_t open,
                                                        size_t &end) {
  size_t close = source.closing(open), colon = source.find(open + 1, close, ":");
  SmallVector<Span> values = source.split({open + 1, colon}),
                    types = source.split({colon + 1, close});
  if (!source.is(open, "(") || values.size() != types.size())
    return std::nullopt;
  SmallVector<Operand> operands;
  for (auto [value, type] : zip_equal(values, types))
    operands.push_back({source.value(value.begin).str(),
                        TensorType::parse(source.text(type)).value_or(TensorType())});
  end = close + 1;
  return operands;
}

static size_t fail(Source &source, size_t name, const Twine &what) {
  source.error(name, "'" + source.text(name) + "' expects " + what);
  return name + 1;
}

size_t mlir::mp::import::translateButterflies(Source &source, size_t name) {
  size_t at = name + 1, begin = source.statementBegin(name);
  auto inputs = source.is(at, "ins") ? readOperands(source, at + 1, at) : std::nullopt;
  auto outputs = inputs && source.is(at, "outs") ? readOperands(source, at + 1, at) : std::nullopt;
  if (!outputs || inputs->size() != 3 || outputs->size() != 2 || !source.is(at, ":") ||
      begin == name || (*inputs)[1].type.rank() != 1 || (*inputs)[2].type.rank() != 1 ||
      (*outputs)[0].type.rank() == 0 || (*outputs)[0].type.text != (*outputs)[1].type.text)
    return fail(source, name, "a stage, cosines and sines, and two outputs of one type");
  size_t end = source.typeEnd(source.typeEnd(at + 1) + 1); // TYPE, TYPE
  const Operand &real = (*outputs)[0], &imaginary = (*outputs)[1];
  size_t rank = real.type.rank();
  std::string element = real.type.element;

  LoopText text(source);
  std::string one = text.index(1);
  std::string length = text.define("arith.shli " + one + ", " + (*inputs)[0].value + " : index");
  std::string half = text.define("arith.shrui " + length + ", " + one + " : index");
  Values empty = {text.empty(real), text.empty(imaginary)};
  text.add(source.text(Span{begin, name}) + " linalg.generic " +
           parallel(rank, {projection(rank, rank), projection(rank, rank)}) + "outs(" +
           join(empty, ", ") + " : " + real.type.text + ", " + real.type.text +
           ") attrs = {mp.pin = f32} {");
  text.add("^bb0(" + source.freshValue() + ": " + element + ", " + source.freshValue() + ": " +
           element + "):");
  Values first;
  for (size_t dim = 0; dim < rank; ++dim)
    first.push_back(text.define("linalg.index " + Twine(dim) + " : index"));
  auto indices = [&](StringRef op, StringRef a, StringRef b) {
    return text.define("arith." + op + " " + a + ", " + b + " : index");
  };
  std::string inGroup = indices("remui", first.back(), length);
  std::string isSecond = text.define("arith.cmpi uge, " + inGroup + ", " + half + " : index");
  std::string inHalf = indices("remui", first.back(), half);
  first.back() = indices("addi", indices("subi", first.back(), inGroup), inHalf);
  Values second = first;
  second.back() = indices("addi", first.back(), half);
  auto floats = [&](StringRef op, StringRef a, StringRef b) {
    return text.define("arith." + op + " " + a + ", " + b + " : " + element);
  };
  std::string cosine = text.extract((*inputs)[1], inHalf),
              sine = text.extract((*inputs)[2], inHalf);
  std::string x = text.extract(real, second), y = text.extract(imaginary, second);
  std::string turnedX = floats("subf", floats("mulf", cosine, x), floats("mulf", sine, y));
  std::string turnedY = floats("addf", floats("mulf", cosine, y), floats("mulf", sine, x));
  Values results;
  for (auto [tensor, turned] : {std::pair(real, turnedX), std::pair(imaginary, turnedY)}) {
    std::string stays = text.extract(tensor, first);
    std::string sum = floats("addf", stays, turned), difference = floats("subf", stays, turned);
    results.push_back(
        text.define("arith.select " + isSecond + ", " + difference + ", " + sum + " : " + element));
  }
  text.add("linalg.yield " + join(results, ", ") + " : " + element + ", " + element + " } -> (" +
           real.type.text + ", " + real.type.text + ")");
  source.replace({begin, end}, text.take());
  return end;
}

size_t mlir::mp::import::translateBitcast(Source &source, size_t name) {
  size_t begin = source.statementBegin(name);
  size_t fromEnd = source.typeEnd(name + 3), end = source.typeEnd(fromEnd + 1);
  auto from = TensorType::parse(source.text(Span{name + 3, fromEnd})),
       to = TensorType::parse(source.text(Span{fromEnd + 1, end}));
  auto arePairs = [](const TensorType &numbers, const TensorType &floats) {
    return numbers.element == "complex<" + floats.element + ">" &&
           floats.shape.size() == numbers.shape.size() + 1 && floats.shape.back() == 2 &&
           ArrayRef(floats.shape).drop_back() == ArrayRef(numbers.shape);
  };
  auto isStatic = [](const TensorType &type) { return !is_contained(type.shape, -1); };
  if (!source.isValue(name + 1) || !source.is(name + 2, ":") || !from || !to || begin == name ||
      !isStatic(*from) || (!arePairs(*from, *to) && !arePairs(*to, *from)))
    return fail(
        source, name,
        "complex numbers on one side and pairs of their floats on the other, both of static size");
  Operand operand{source.value(name + 1).str(), *from};
  LoopText text(source);
  size_t rank = to->rank();
  bool toPairs = from->rank() < rank;
  std::string empty = text.empty({operand.value, *to}), number = source.freshValue();
  text.add(source.text(Span{begin, name}) + " linalg.generic ");
  std::string result, element = to->element;
  std::string outs = "outs(" + empty + " : " + to->text + ") { ^bb0(";
  if (toPairs) {
    text.add(parallel(rank, {projection(rank, rank - 1), projection(rank, rank)}) + "ins(" +
             operand.value + " : " + from->text + ") " + outs + number + ": " + from->element +
             ", " + source.freshValue() + ": " + element + "):");
    std::string real = text.define("complex.re " + number + " : " + from->element);
    std::string imaginary = text.define("complex.im " + number + " : " + from->element);
    std::string which = text.define("linalg.index " + Twine(rank - 1) + " : index"),
                zero = text.index(0);
    std::string isReal = text.define("arith.cmpi eq, " + which + ", " + zero + " : index");
    result =
        text.define("arith.select " + isReal + ", " + real + ", " + imaginary + " : " + element);
  } else {
    text.add(parallel(rank, {projection(rank, rank)}) + outs + number + ": " + to->element + "):");
    Values at;
    for (size_t dim = 0; dim < rank; ++dim)
      at.push_back(text.define("linalg.index " + Twine(dim) + " : index"));
    Values parts;
    for (int64_t part : {0, 1}) {
      at.push_back(text.index(part));
      parts.push_back(text.extract(operand, at));
      at.pop_back();
    }
    result = text.define("complex.create " + join(parts, ", ") + " : " + to->element);
  }
  text.add("linalg.yield " + result + " : " + to->element + " } -> " + to->text);
  source.replace({begin, end}, text.take());
  return end;
}
