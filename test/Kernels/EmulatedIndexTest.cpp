// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions that say where the largest or smallest element is, as torch-mlir and TOSA write them:
// threads that share rows give the bits of the plain route, where one thread goes along each row.

#include "Lowering.h"
#include "mp/Numerics/Cast.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mlir::mp;
using namespace mlir::mp::test;
using numerics::Format;

namespace {

/// Tells who writes it: torch (a NaN ends the search, the value is NaN), TOSA that looks for NaN,
/// TOSA that ignores it, and integers.
enum class Form { Torch, Propagate, Ignore, Integers };

struct Reduction {
  Form form = Form::Torch;
  std::string element = "f32", index = "i64";
  bool largest = true, alongRows = false, values = true, widens = false;
  int64_t rows = 5, columns = 77;
  bool dynamic = false;

  bool isFloat() const { return form != Form::Integers; }
  std::string compared() const { return widens ? "f32" : element; }
};

std::string bodyOf(const Reduction &r) {
  const char *is = r.largest ? "gt" : "lt", *most = r.largest ? "max" : "min", *x = "%x";
  std::string body = (llvm::Twine("%k = linalg.index ") + (r.alongRows ? "0" : "1") +
                      " : index\n%i = arith.index_cast %k : index to " + r.index + "\n")
                         .str();
  const std::string t = r.compared();
  if (r.widens) {
    body +=
        "%wide = arith.extf %x : " + r.element + " to f32\n%w = arith.mulf %wide, %wide : f32\n";
    x = "%w";
  }
  auto line = [&](const llvm::Twine &text) { body += text.str() + "\n"; };
  switch (r.form) {
  case Form::Torch:
    line(llvm::Twine("%v = arith.") + most + "imumf " + x + ", %old : " + t);
    line(llvm::Twine("%c = arith.cmpf o") + is + ", " + x + ", %old : " + t);
    break;
  case Form::Propagate:
    line(llvm::Twine("%u = arith.cmpf u") + is + ", " + x + ", %old : " + t);
    line("%o = arith.cmpf ord, %old, %old : " + t);
    line("%c = arith.andi %u, %o : i1");
    line(llvm::Twine("%v = arith.select %c, ") + x + ", %old : " + t);
    break;
  case Form::Ignore:
    line(llvm::Twine("%c = arith.cmpf o") + is + ", " + x + ", %old : " + t);
    line(llvm::Twine("%v = arith.select %c, ") + x + ", %old : " + t);
    break;
  case Form::Integers:
    line(llvm::Twine("%c = arith.cmpi s") + is + ", " + x + ", %old : " + t);
    line(llvm::Twine("%v = arith.select %c, ") + x + ", %old : " + t);
    break;
  }
  line("%p = arith.select %c, %i, %before : " + r.index);
  return body;
}

/// @f(%x, %values, %places): what the destinations hold are arguments.
std::string moduleText(const Reduction &r) {
  auto size = [&](int64_t n) { return r.dynamic ? std::string("?") : std::to_string(n); };
  const std::string t = r.compared(), kept = size(r.alongRows ? r.columns : r.rows);
  const std::string in = "tensor<" + size(r.rows) + "x" + size(r.columns) + "x" + r.element + ">",
                    value = "tensor<" + kept + "x" + t + ">",
                    place = "tensor<" + kept + "x" + r.index + ">";
  const char *own = r.alongRows ? "[\"reduction\", \"parallel\"]" : "[\"parallel\", \"reduction\"]";
  std::string text = "#m = affine_map<(i, j) -> (i, j)>\n#r = affine_map<(i, j) -> (" +
                     std::string(r.alongRows ? "j" : "i") + ")>\n";
  text += "func.func @f(%a: " + in + ", %v0: " + value + ", %p0: " + place + ") -> (" +
          (r.values ? value + ", " : "") + place + ") {\n";
  text +=
      "%0:2 = linalg.generic {indexing_maps = [#m, #r, #r], iterator_types = " + std::string(own) +
      "} ins(%a : " + in + ") outs(%v0, %p0 : " + value + ", " + place +
      ") {\n^bb0(%x: " + r.element + ", %old: " + t + ", %before: " + r.index + "):\n" + bodyOf(r) +
      "linalg.yield %v, %p : " + t + ", " + r.index + "\n} -> (" + value + ", " + place +
      ")\nreturn " + (r.values ? "%0#0, %0#1 : " + value + ", " : "%0#1 : ") + place + "\n}\n";
  return text;
}

/// Few different numbers, so that many are equal; zeros of both signs, infinities, and NaN in some
/// rows.
Array drawnTies(ElementType type, llvm::ArrayRef<int64_t> sizes, bool isFloat,
                std::mt19937 &random) {
  Array array(type, sizes);
  const float values[] = {0.0f, -0.0f, 1, 2, -1, -3, 0.5f, INFINITY, -INFINITY, -2};
  const int64_t width = sizes.back();
  for (int64_t i = 0; i < array.size(); ++i) {
    const int64_t row = width ? i / width : 0;
    if (!isFloat) {
      array.setPattern(i, uint8_t(random() % 7 - 3));
      continue;
    }
    float value = values[random() % (row % 3 == 0 ? 7 : 10)];
    if (row % 4 == 1) // all alike, or all the least
      value = row % 8 == 1 ? -INFINITY : 2;
    if (row % 5 >= 3 && random() % 23 == 0)
      value = NAN;
    array.setPattern(i, numerics::encode(value, type.format));
  }
  return array;
}

/// Makes one NaN of all.
std::vector<Array> withOneNaN(std::vector<Array> arrays) {
  for (Array &array : arrays)
    for (int64_t i = 0; i < array.size() && array.type.isFloat; ++i)
      if (std::isnan(array.value(i)))
        array.setPattern(i, numerics::encode(NAN, array.type.format));
  return arrays;
}

void check(const Reduction &r) {
  const std::string text = moduleText(r);
  SCOPED_TRACE(text);
  std::mt19937 random(3);
  ElementType element = r.isFloat() ? ElementType::floating(*numerics::parseFormat(r.element))
                                    : ElementType::integer(8);
  ElementType compared = r.isFloat() ? ElementType::floating(*numerics::parseFormat(r.compared()))
                                     : ElementType::integer(8);
  const int64_t kept = r.alongRows ? r.columns : r.rows;
  Array x = drawnTies(element, {r.rows, r.columns}, r.isFloat(), random), values(compared, {kept}),
        places(ElementType::integer(r.index == "i32" ? 32 : 64), {kept});
  for (int64_t i = 0; i < kept; ++i) {
    const float start = i % 7 == 6 ? NAN : i % 3 == 2 ? 1 : r.largest ? -INFINITY : INFINITY;
    values.setPattern(i, r.isFloat() ? numerics::encode(start, compared.format)
                                     : uint8_t(i % 3 == 2  ? 1
                                               : r.largest ? -128
                                                           : 127));
    places.setPattern(i, 1000 + i);
  }
  Lowered plain(text, "sm_80", "dispatches=false"), shared(text, "sm_80", "dispatches=true"),
      ordered(text, "sm_80", "sums=ordered");
  ASSERT_EQ(plain.error + shared.error + ordered.error, "");
  std::vector<Array> expected = withOneNaN(plain.run({x, values, places})),
                     found = withOneNaN(shared.run({x, values, places})),
                     again = withOneNaN(ordered.run({x, values, places}));
  ASSERT_EQ(plain.error + shared.error + ordered.error, "");
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].data, expected[i].data) << "result " << i;
    EXPECT_EQ(again[i].data, expected[i].data) << "result " << i << " of ordered sums";
  }
  // A loop of one iteration is none: there one column is a few maps.
  if (r.rows * r.columns != 0 && (r.columns != 1 || r.dynamic))
    EXPECT_EQ(shared.launches, 1u);
}

TEST(EmulatedIndex, GivesTheBitsOfThePlainRoute) {
  for (Form form : {Form::Torch, Form::Propagate, Form::Ignore, Form::Integers})
    for (bool largest : {true, false})
      for (bool alongRows : {false, true})
        check({.form = form,
               .element = form == Form::Integers ? "i8" : "f32",
               .index = form == Form::Torch ? "i64" : "i32",
               .largest = largest,
               .alongRows = alongRows,
               .rows = 40});
}

TEST(EmulatedIndex, OfEveryFormatAndSize) {
  for (Form form : {Form::Torch, Form::Propagate, Form::Ignore})
    for (const char *element : {"f16", "bf16", "f64"})
      check({.form = form, .element = element, .rows = 20, .columns = 33});
  for (Form form : {Form::Torch, Form::Propagate, Form::Integers})
    for (int64_t columns : {0, 1, 2, 1024, 3001})
      check({.form = form, .element = form == Form::Integers ? "i8" : "f32", .columns = columns});
  check({.rows = 1, .columns = 40000});
  check({.rows = 0, .columns = 8});
}

TEST(EmulatedIndex, OfSizesThatAreKnownAtRunTime) {
  for (Form form : {Form::Torch, Form::Propagate, Form::Ignore, Form::Integers})
    for (int64_t columns : {0, 1, 100})
      check({.form = form,
             .element = form == Form::Integers ? "i8" : "f32",
             .rows = 12,
             .columns = columns,
             .dynamic = true});
}

TEST(EmulatedIndex, OfElementsThatAreComputedAndPlacesAlone) {
  for (Form form : {Form::Torch, Form::Propagate, Form::Ignore})
    for (bool values : {true, false})
      check({.form = form, .element = "bf16", .values = values, .widens = true, .rows = 20});
}

/// torch-mlir flattens a tensor before it looks for the largest of all elements.
TEST(EmulatedIndex, OfAllElementsOfATensor) {
  const char *text = R"(
#x = affine_map<(i) -> (i)>
#r = affine_map<(i) -> ()>
func.func @f(%x: tensor<12x50xf32>) -> (tensor<f32>, tensor<i64>) {
  %zero = arith.constant 0 : i64
  %least = arith.constant 0xFF800000 : f32
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<12x50xf32> into tensor<600xf32>
  %ei = tensor.empty() : tensor<i64>
  %i = linalg.fill ins(%zero : i64) outs(%ei : tensor<i64>) -> tensor<i64>
  %ev = tensor.empty() : tensor<f32>
  %v = linalg.fill ins(%least : f32) outs(%ev : tensor<f32>) -> tensor<f32>
  %0:2 = linalg.generic {indexing_maps = [#x, #r, #r], iterator_types = ["reduction"]} ins(%flat : tensor<600xf32>) outs(%v, %i : tensor<f32>, tensor<i64>) {
  ^bb0(%in: f32, %out: f32, %place: i64):
    %1 = linalg.index 0 : index
    %2 = arith.index_cast %1 : index to i64
    %3 = arith.maximumf %in, %out : f32
    %4 = arith.cmpf ogt, %in, %out : f32
    %5 = arith.select %4, %2, %place : i64
    linalg.yield %3, %5 : f32, i64
  } -> (tensor<f32>, tensor<i64>)
  return %0#0, %0#1 : tensor<f32>, tensor<i64>
})";
  Lowered plain(text, "sm_80", "dispatches=false"), shared(text, "sm_80", "dispatches=true");
  ASSERT_EQ(plain.error + shared.error, "");
  std::mt19937 random(5);
  for (int64_t place : {0, 1, 31, 49, 50, 333, 599, -1})
    for (bool hasNaN : {false, true}) {
      Array x(ElementType::floating(Format::F32), {12, 50});
      for (int64_t i = 0; i < 600; ++i)
        x.setPattern(i, numerics::encode(double(random() % 9), Format::F32));
      if (place >= 0)
        x.setPattern(place, numerics::encode(hasNaN ? NAN : 100, Format::F32));
      std::vector<Array> expected = withOneNaN(plain.run({x})), found = withOneNaN(shared.run({x}));
      ASSERT_EQ(plain.error + shared.error, "");
      for (size_t i = 0; i < 2; ++i)
        EXPECT_EQ(found[i].data, expected[i].data) << "result " << i << ", place " << place;
      if (place >= 0 && !hasNaN)
        EXPECT_EQ(found[1].value(0), place);
    }
  EXPECT_EQ(shared.launches, 1u);
}

} // namespace
