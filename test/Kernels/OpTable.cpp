// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OpTable.h"

#include "mp/Numerics/Cast.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <random>

using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

const char *kSame = "tensor<$S$T>";

std::string apply(const std::string &op, const std::string &operands, const std::string &type) {
  return "%r$N = " + op + " " + operands + " : " + type + "\n";
}

/// A linalg.generic over rows and columns; `body` computes %v from %a (of `input`).
std::string generic(const std::string &input, const std::string &inputType,
                    const std::string &inputMap, const std::string &resultType,
                    const std::string &sizes, const std::string &element, const std::string &body) {
  return "%e$N = tensor.empty(" + sizes + ") : " + resultType +
         "\n%r$N = linalg.generic {indexing_maps = [affine_map<(i, j) -> " + inputMap +
         ">, affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\"]} ins(" +
         input + " : " + inputType + ") outs(%e$N : " + resultType +
         ") {\n^bb0(%a: $T, %o: " + element + "):\n" + body + "linalg.yield %v : " + element +
         "\n} -> " + resultType + "\n";
}

/// Elementwise from $T to another type.
OpCase convert(const std::string &name, unsigned types, const std::string &op,
               const std::string &operand, const std::string &to) {
  std::string result = "tensor<$S" + to + ">";
  return {name, types, "%r$N = " + op + " " + operand + " : tensor<$S$T> to " + result + "\n",
          result};
}

/// `combine` makes %v of %a, the element, and %o, what there is so far.
OpCase reduce(const std::string &name, unsigned types, const std::string &dimensions,
              const std::string &sizes, const std::string &combine) {
  std::string shape = "tensor<" + (sizes.empty() ? "" : "$" + sizes) + "$T>";
  return {name, types,
          "%e$N = tensor.empty(" + (sizes.empty() ? "" : "$d" + sizes) + ") : " + shape +
              "\n%f$N = linalg.fill ins(%zero : $T) outs(%e$N : " + shape + ") -> " + shape +
              "\n%r$N = linalg.reduce ins(%p : tensor<$S$T>) outs(%f$N : " + shape +
              ") dimensions = " + dimensions + "\n(%a: $T, %o: $T) {\n%v = " + combine +
              " %o, %a : $T\nlinalg.yield %v : $T\n}\n",
          shape};
}

std::vector<OpCase> makeCases() {
  std::vector<OpCase> cases;
  auto unary = [&](unsigned types, double ulp, const char *operand,
                   std::initializer_list<const char *> ops) {
    for (const char *op : ops)
      cases.push_back({op, types, apply(op, operand, kSame), kSame, ulp});
  };
  unary(kFloat, 0, "%x",
        {"arith.negf", "math.absf", "math.floor", "math.ceil", "math.trunc", "math.round",
         "math.roundeven"});
  unary(kMath | kDouble, 0, "%p", {"math.sqrt"});
  // f32 and f64: the bound of docs/reference/Math.md and one for the host's library.
  unary(kMath | kDouble, 2.2, "%x", {"math.exp", "math.exp2"});
  unary(kMath | kDouble, 3, "%x", {"math.expm1", "math.tanh", "math.erf", "math.atan"});
  unary(kMath | kDouble, 2.7, "%p", {"math.sin", "math.cos"});
  unary(kMath | kDouble, 2.5, "%p", {"math.log", "math.log2", "math.log10", "math.rsqrt"});
  unary(kMath | kDouble, 4, "%p", {"math.log1p", "math.sinh", "math.asinh"});
  unary(kMath | kDouble, 5.5, "%x", {"math.cbrt"});
  unary(kMath | kDouble, 4.5, "%x", {"math.asin", "math.acos"});
  unary(kInt, 0, "%x", {"math.absi", "math.ctpop", "math.ctlz", "math.cttz"});
  auto binary = [&](unsigned types, double ulp, std::initializer_list<const char *> ops) {
    for (const char *op : ops)
      cases.push_back({op, types, apply(op, "%x, %y", kSame), kSame, ulp});
  };
  binary(kFloat, 0, {"arith.addf", "arith.subf", "arith.mulf", "arith.divf", "math.copysign"});
  // Kernels order zeros by sign, as they should; the host's expansion does not.
  binary(kFloat, 0.5, {"arith.maximumf", "arith.minimumf"});
  binary(kMath, 0, {"arith.remf"});
  cases.push_back({"math.powf", kMath | kDouble, apply("math.powf", "%p, %p", kSame), kSame, 2});
  cases.push_back({"math.atan2", kMath | kDouble, apply("math.atan2", "%x, %y", kSame), kSame, 3});
  binary(kInt, 0,
         {"arith.addi", "arith.subi", "arith.muli", "arith.divsi", "arith.divui", "arith.remsi",
          "arith.remui", "arith.floordivsi", "arith.ceildivsi", "arith.ceildivui", "arith.andi",
          "arith.ori", "arith.xori", "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui"});
  binary(kBool, 0, {"arith.andi", "arith.ori", "arith.xori"});
  for (const char *op : {"arith.shli", "arith.shrsi", "arith.shrui"})
    cases.push_back({op, kInt, apply(op, "%x, %p", kSame), kSame});
  cases.push_back({"math.ipowi", kInt, apply("math.ipowi", "%x, %p", kSame), kSame});
  cases.push_back({"math.fma", kWide | kDouble, apply("math.fma", "%x, %y, %p", kSame), kSame});
  for (const char *predicate : {"oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt",
                                "uge", "ult", "ule", "une", "uno"})
    cases.push_back({std::string("arith.cmpf ") + predicate, kFloat,
                     apply(std::string("arith.cmpf ") + predicate + ",", "%x, %y", kSame),
                     "tensor<$Sxi1>"});
  for (const char *predicate : {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"})
    cases.push_back({std::string("arith.cmpi ") + predicate, kInt,
                     apply(std::string("arith.cmpi ") + predicate + ",", "%x, %y", kSame),
                     "tensor<$Sxi1>"});
  cases.push_back(
      {"arith.select", kFloat,
       "%k$N = arith.cmpf ogt, %x, %y : tensor<$S$T>\n%r$N = arith.select %k$N, %x, %p : "
       "tensor<$Sxi1>, tensor<$S$T>\n",
       kSame});
  cases.push_back(convert("extf to f32", kHalf | kTiny, "arith.extf", "%x", "f32"));
  cases.push_back(convert("extf to f64", kWide | kHalf, "arith.extf", "%x", "f64"));
  for (const char *narrow : {"f16", "bf16"})
    cases.push_back(
        convert(std::string("truncf to ") + narrow, kWide | kDouble, "arith.truncf", "%x", narrow));
  for (const char *narrow : {"f8E4M3FN", "f8E5M2"})
    for (const char *overflow : {"ieee", "saturate"})
      cases.push_back(convert(std::string("mp.cast ") + overflow + " to " + narrow, kMath,
                              std::string("mp.cast ") + overflow, "%x", narrow));
  for (const char *whole : {"i8", "i32", "i64"}) {
    cases.push_back(
        convert(std::string("fptosi ") + whole, kMath | kDouble, "arith.fptosi", "%p", whole));
    cases.push_back(
        convert(std::string("fptoui ") + whole, kMath | kDouble, "arith.fptoui", "%p", whole));
  }
  for (const char *real : {"f16", "bf16", "f32", "f64"}) {
    cases.push_back(convert(std::string("sitofp ") + real, kInt, "arith.sitofp", "%x", real));
    cases.push_back(convert(std::string("uitofp ") + real, kInt, "arith.uitofp", "%x", real));
  }

  // Movement.
  cases.push_back({"linalg.transpose", kAll | kBool,
                   "%e$N = tensor.empty($dX) : tensor<$X$T>\n%r$N = linalg.transpose ins(%x : "
                   "tensor<$S$T>) outs(%e$N : tensor<$X$T>) permutation = [1, 0]\n",
                   "tensor<$X$T>"});
  cases.push_back(
      {"broadcast of the first row", kAll | kBool,
       generic("%x", kSame, "(0, j)", kSame, "$dS", "$T", "%v = arith.bitcast %a : $T to $T\n"),
       kSame});
  cases.push_back(
      {"tensor.concat", kAll,
       "%r$N = tensor.concat dim(1) %x, %y : (tensor<$S$T>, tensor<$S$T>) -> tensor<$R?x$T>\n",
       "tensor<$R?x$T>"});
  cases.push_back({"tensor.pad", kAll,
                   "%r$N = tensor.pad %x low[%one, %zeroth] high[%zeroth, %two] {\n^bb0(%i: index, "
                   "%j: index):\ntensor.yield %zero : "
                   "$T\n} : tensor<$S$T> to tensor<?x?x$T>\n",
                   "tensor<?x?x$T>"});
  // Upstream refuses a slice at offset 0 of a dimension of size 0.
  cases.push_back({"even columns", kAll,
                   "%h$N = arith.ceildivui %n1, %two : index\n%r$N = tensor.extract_slice "
                   "%x[%zeroth, 0] [%n0, %h$N] [1, 2] : "
                   "tensor<$S$T> to tensor<?x?x$T>\n",
                   "tensor<?x?x$T>", 0, /*onEmpty=*/false});
  cases.push_back({"gather of a column per row", kAll | kBool,
                   "%e$N = tensor.empty($dS) : tensor<$S$T>\n%r$N = linalg.generic {indexing_maps "
                   "= [affine_map<(i, j) -> (i, j)>], "
                   "iterator_types = [\"parallel\", \"parallel\"]} outs(%e$N : tensor<$S$T>) "
                   "{\n^bb0(%o: $T):\n%i = linalg.index 0 : index\n"
                   "%j = linalg.index 1 : index\n%k = arith.addi %i, %j : index\n%m = arith.remui "
                   "%k, %n1 : index\n%v = tensor.extract "
                   "%x[%i, %m] : tensor<$S$T>\nlinalg.yield %v : $T\n} -> tensor<$S$T>\n",
                   kSame});

  // Reductions, softmax, argmax, a scan.
  for (auto [suffix, dimensions, sizes] : {std::tuple{" of rows", "[1]", "R"},
                                           {" of columns", "[0]", "C"},
                                           {" of all", "[0, 1]", ""}}) {
    cases.push_back(reduce(std::string("sum") + suffix, kMath | kDouble | kTiny, dimensions, sizes,
                           "arith.addf"));
    cases.push_back(
        reduce(std::string("maximum") + suffix, kFloat, dimensions, sizes, "arith.maximumf"));
    cases.push_back(
        reduce(std::string("integer sum") + suffix, kInt, dimensions, sizes, "arith.addi"));
  }
  // A quotient of a sum of exponentials, each within its bound.
  cases.push_back(
      {"linalg.softmax", kWide,
       "%e$N = tensor.empty($dS) : tensor<$S$T>\n%r$N = linalg.softmax dimension(1) ins(%p : "
       "tensor<$S$T>) outs(%e$N : tensor<$S$T>) -> tensor<$S$T>\n",
       kSame, 6});
  cases.push_back({"cumulative sum of the first row's head", kMath | kDouble,
                   "%r$N = scf.for %i = %one to %head step %one iter_args(%t = %p) -> "
                   "(tensor<$S$T>) {\n%b = arith.subi %i, %one : index\n"
                   "%u = tensor.extract %t[%zeroth, %b] : tensor<$S$T>\n%w = tensor.extract "
                   "%t[%zeroth, %i] : tensor<$S$T>\n%s = arith.addf "
                   "%u, %w : $T\n%q = tensor.insert %s into %t[%zeroth, %i] : "
                   "tensor<$S$T>\nscf.yield %q : tensor<$S$T>\n}\n",
                   kSame});
  cases.push_back({"argmax of rows", kMath | kDouble,
                   "%e$N = tensor.empty($dR) : tensor<$R$T>\n%g$N = tensor.empty($dR) : "
                   "tensor<$Ri32>\n%low$N = arith.constant -1.0 : $T\n"
                   "%none$N = arith.constant -1 : i32\n%f$N = linalg.fill ins(%low$N : $T) "
                   "outs(%e$N : tensor<$R$T>) -> tensor<$R$T>\n"
                   "%h$N = linalg.fill ins(%none$N : i32) outs(%g$N : tensor<$Ri32>) -> "
                   "tensor<$Ri32>\n%m$N, %r$N = linalg.generic "
                   "{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, "
                   "affine_map<(i, j) -> (i)>], iterator_types = "
                   "[\"parallel\", \"reduction\"]} ins(%p : tensor<$S$T>) outs(%f$N, %h$N : "
                   "tensor<$R$T>, tensor<$Ri32>) {\n^bb0(%a: $T, "
                   "%o: $T, %q: i32):\n%i = linalg.index 1 : index\n%c = arith.index_cast %i : "
                   "index to i32\n%k = arith.cmpf ogt, %a, %o : $T\n"
                   "%v = arith.select %k, %a, %o : $T\n%w = arith.select %k, %c, %q : "
                   "i32\nlinalg.yield %v, %w : $T, i32\n} -> "
                   "(tensor<$R$T>, tensor<$Ri32>)\n",
                   "tensor<$Ri32>"});
  return cases;
}

void substitute(std::string &text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

} // namespace

const std::vector<OpCase> &mlir::mp::test::opCases() {
  static const std::vector<OpCase> cases = makeCases();
  return cases;
}

unsigned mlir::mp::test::typeSetOf(const ElementType &type) {
  if (!type.isFloat)
    return type.width == 1 ? kBool : kInt;
  return type.bits() == 64   ? kDouble
         : type.bits() == 32 ? kWide
         : type.bits() == 16 ? kHalf
                             : kTiny;
}

std::string mlir::mp::test::opFunction(const std::string &type, MatrixShape shape,
                                       std::vector<const OpCase *> &used) {
  unsigned set = typeSetOf(*ElementType::parse(type));
  auto size = [](int64_t n) { return (n < 0 ? "?" : std::to_string(n)) + "x"; };
  std::string rows = size(shape.rows), columns = size(shape.columns);
  std::string dynamicRows = shape.rows < 0 ? "%n0" : "",
              dynamicColumns = shape.columns < 0 ? "%n1" : "";
  std::string comma = dynamicRows.empty() || dynamicColumns.empty() ? "" : ", ";
  std::string body, results, types;
  for (const OpCase &test : opCases()) {
    if (!(test.types & set) || (shape.rows == 0 && !test.onEmpty))
      continue;
    std::string number = std::to_string(used.size()), text = test.body, result = test.result;
    used.push_back(&test);
    body += text;
    substitute(body, "$N", number);
    results += (number == "0" ? "%r" : ", %r") + number;
    types += (number == "0" ? "" : ", ") + result;
  }
  std::string zero = type[0] == 'i' ? (type == "i1" ? "false" : "0 : " + type) : "0.0 : " + type;
  // For those who seed the operands.
  std::string positive = type == "i1"     ? ""
                         : type[0] == 'i' ? " {mp.range = [1.0, 7.0]}"
                                          : " {mp.range = [0.125, 4.0]}";
  std::string divisor = type[0] == 'i' ? positive : "";
  std::string text = "func.func @f(%x: tensor<$S$T>, %y: tensor<$S$T>" + divisor +
                     ", %p: tensor<$S$T>" + positive + ") -> (" + types +
                     ") {\n"
                     "%zero = arith.constant " +
                     zero +
                     "\n%zeroth = arith.constant 0 : index\n%one = arith.constant 1 : index\n"
                     "%two = arith.constant 2 : index\n%four = arith.constant 4 : index\n%n0 = "
                     "tensor.dim %x, %zeroth : tensor<$S$T>\n"
                     "%n1 = tensor.dim %x, %one : tensor<$S$T>\n%some = arith.minui %n0, %one : "
                     "index\n%few = arith.minui %n1, %four : index\n"
                     "%head = arith.muli %some, %few : index\n" +
                     body + "return " + results + " : " + types + "\n}\n";
  for (auto [from, to] :
       {std::pair<std::string, std::string>{"$dS", dynamicRows + comma + dynamicColumns},
        {"$dX", dynamicColumns + comma + dynamicRows},
        {"$dR", dynamicRows},
        {"$dC", dynamicColumns},
        {"$Sxi1", rows + columns + "i1"},
        {"$S", rows + columns},
        {"$X", columns + rows},
        {"$R?x", rows + "?x"},
        {"$R", rows},
        {"$C", columns},
        {"?x?x$T", "?x?x" + type},
        {"$T", type}})
    substitute(text, from, to);
  return text;
}

/// Random patterns with every class among them; ordinary ones are 1/8 to 4, or 1 to 7 of integers.
static Array operand(const ElementType &type, int64_t rows, int64_t columns, unsigned seed,
                     bool ordinary, bool divisor) {
  Array array(type, {rows, columns});
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> positive(0.125, 4);
  const double special[] = {0.0,   -0.0, INFINITY, -INFINITY, NAN,  1e-40,
                            -1e-7, 448,  65504,    1e30,      -3.5, 0.5};
  for (int64_t i = 0; i < array.size(); ++i) {
    uint64_t bits = random();
    if (!type.isFloat) {
      uint64_t value = ordinary ? 1 + bits % 7 : bits;
      uint64_t mask = type.width == 64 ? ~uint64_t(0) : (uint64_t(1) << type.width) - 1;
      if (divisor && ((value & mask) == 0 || (value & mask) == mask))
        value = 3;
      array.setPattern(i, value & mask);
      continue;
    }
    double value = positive(random);
    if (!ordinary)
      value = bits % 3 == 0 ? special[bits / 3 % std::size(special)] : (bits & 16 ? value : -value);
    array.setPattern(i, numerics::encode(value, type.format));
  }
  return array;
}

std::vector<Array> mlir::mp::test::opOperands(const std::string &name, int64_t rows,
                                              int64_t columns) {
  ElementType type = *ElementType::parse(name);
  return {operand(type, rows, columns, 1, false, false),
          operand(type, rows, columns, 2, false, true),
          operand(type, rows, columns, 3, true, false)};
}

/// Distance in units of the last place of `expected` in its format.
static double ulps(double found, double expected, numerics::Format format) {
  if (std::isnan(found) || std::isnan(expected))
    return std::isnan(found) && std::isnan(expected) ? 0 : INFINITY;
  if (found == expected)
    return 0;
  const numerics::FormatInfo &facts = numerics::info(format);
  int exponent = std::max(std::ilogb(expected == 0 ? std::ldexp(1.0, facts.minExponent) : expected),
                          facts.minExponent);
  return std::abs(found - expected) / std::ldexp(1.0, exponent - int(facts.fractionBits));
}

std::optional<std::string> mlir::mp::test::firstDifference(const OpCase &test, const Array &found,
                                                           const Array &expected) {
  if (found.shape != expected.shape || !(found.type == expected.type))
    return "is " + found.typeStr() + ", expected " + expected.typeStr();
  for (int64_t i = 0; i < expected.size(); ++i) {
    if (found.pattern(i) == expected.pattern(i))
      continue;
    double x = found.value(i), y = expected.value(i);
    bool fine = found.type.isFloat && ((std::isnan(x) && std::isnan(y)) ||
                                       (test.ulp > 0 && ulps(x, y, found.type.format) <= test.ulp));
    if (!fine)
      return llvm::formatv("element {0} is {1} ({2:x}), expected {3} ({4:x}) within {5} ULP", i, x,
                           found.pattern(i), y, expected.pattern(i), test.ulp)
          .str();
  }
  return std::nullopt;
}
