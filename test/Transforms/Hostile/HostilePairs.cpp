// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A statistic bounds only the elements it was taken of. Every way of pairing it with others is a
// row of a table here, which all families with statistics share.

#include "ClaimWriter.h"

using namespace mlir;
using namespace mlir::mp::test;

namespace {

/// A mismatch can be written down for layouts of one kind, or for any.
enum class Needs { Any, Square, Rows, Batches };

struct Mismatch {
  StringLiteral hypothesis;
  Needs needs;
  void (*apply)(ClaimWriter &, Pair &);
};
} // namespace

static Value mask(ClaimWriter &b, Value like) {
  return b.argumentOf(b.typeOf(like).clone(b.getBuilder().getI1Type()));
}

static Value through(ClaimWriter &b, Value x, FloatType format) {
  return b.cast(b.cast(x, format), b.formatOf(x));
}

static Value rowsOf(ClaimWriter &b, Value x, int64_t from, int64_t count, int64_t step = 1) {
  int64_t columns = b.shapeOf(x)[1];
  if (step == 1)
    return b.slice(x, {from, 0}, {count, columns});
  return b.slice(x, {from, 0}, {count, columns}, {step, 1});
}

static Value rolled(ClaimWriter &b, Value x) {
  int64_t rows = b.shapeOf(x)[0];
  return rows < 2 ? x : b.concat({rowsOf(b, x, 1, rows - 1), rowsOf(b, x, 0, 1)}, 0);
}

static Value gathered(ClaimWriter &b, Value x) {
  SmallVector<int32_t> rows;
  for (int64_t i = 0, e = b.shapeOf(x)[0]; i < e; ++i)
    rows.push_back(b.below(e));
  return b.gather(x, rows);
}

/// Replaces the first row of `x`.
static Value inserted(ClaimWriter &b, Value x) {
  int64_t rows = b.shapeOf(x)[0], columns = b.shapeOf(x)[1];
  Value row = b.argument({1, columns});
  return rows < 2 ? row : b.concat({row, rowsOf(b, x, 1, rows - 1)}, 0);
}

static void takePart(ClaimWriter &b, Pair &p) {
  int64_t rows = b.shapeOf(p.of)[0], columns = b.shapeOf(p.of)[1];
  p.of = b.slice(p.of, {0, 0}, {rows, std::max<int64_t>(columns / 2, 1)});
}

static void takeNone(ClaimWriter &b, Pair &p) {
  if (b.getSpelling() == Spelling::Tosa)
    return takePart(b, p);
  p.of = b.slice(p.of, {0, 0}, {b.shapeOf(p.of)[0], 0}, {1, 1});
}

static void takeAlternateRows(ClaimWriter &b, Pair &p) {
  int64_t rows = b.shapeOf(p.of)[0] / 2;
  Value x = p.of;
  p.of = rowsOf(b, x, 0, rows, 2);
  p.to = rowsOf(b, x, 1, rows, 2);
}

static void takeRowsBefore(ClaimWriter &b, Pair &p) {
  int64_t rows = b.shapeOf(p.of)[0] - 1;
  Value x = p.of;
  p.of = rowsOf(b, x, 0, rows);
  p.to = rowsOf(b, x, 1, rows);
}

/// Takes the statistic over x[i + j] with j below one size, and applies it with j below another.
static void takeWindows(ClaimWriter &b, Pair &p) {
  int64_t count = 2 + b.below(4), narrow = 2 + b.below(2), wide = narrow + 1 + b.below(3);
  Value x = b.argument({count + wide - 1});
  p.of = b.windows(x, count, narrow);
  p.to = b.windows(x, count, wide);
}

/// Takes the statistic of neighbours, and applies it to groups of every so many elements.
static void interleave(ClaimWriter &b, Pair &p) {
  int64_t groups = 2 + b.below(2), size = 2 + b.below(3);
  Value x = b.argument({groups * size});
  p.of = b.reshape(x, {groups, size});
  p.to = b.transpose(b.reshape(x, {size, groups}), {1, 0});
}

static const Mismatch kMismatches[] = {
    {"statistic of another tensor", Needs::Any,
     [](ClaimWriter &b, Pair &p) { p.of = b.another(p.to); }},
    {"statistic of a masked copy", Needs::Any,
     [](ClaimWriter &b, Pair &p) { p.of = b.select(mask(b, p.of), p.of, 0.0); }},
    {"applied to a merged copy", Needs::Any,
     [](ClaimWriter &b, Pair &p) { p.to = b.select(mask(b, p.of), p.of, b.another(p.of)); }},
    {"statistic of a bf16 copy", Needs::Any,
     [](ClaimWriter &b, Pair &p) { p.of = through(b, p.of, b.getBuilder().getBF16Type()); }},
    {"statistic of an f16 copy", Needs::Any,
     [](ClaimWriter &b, Pair &p) { p.of = through(b, p.of, b.getBuilder().getF16Type()); }},
    {"statistic computed in bf16", Needs::Any,
     [](ClaimWriter &b, Pair &p) { p.of = b.cast(p.of, b.getBuilder().getBF16Type()); }},
    {"statistic computed in f64", Needs::Any,
     [](ClaimWriter &b, Pair &p) {
       if (b.getSpelling() != Spelling::Tosa)
         p.of = b.cast(p.of, b.getBuilder().getF64Type());
     }},
    {"applied to a bf16 copy", Needs::Any,
     [](ClaimWriter &b, Pair &p) { p.to = through(b, p.of, b.getBuilder().getBF16Type()); }},
    {"statistic of a scaled copy", Needs::Any,
     [](ClaimWriter &b, Pair &p) { p.of = b.mul(p.of, b.pick({0x1p-10, 0x1p-20, -1.0})); }},
    {"statistic of a shifted copy", Needs::Any,
     [](ClaimWriter &b, Pair &p) { p.of = b.add(p.of, b.pick({1.0, -1.0, 1e-3})); }},
    {"statistic of a clamped copy", Needs::Any,
     [](ClaimWriter &b, Pair &p) { p.of = b.min(p.of, b.pick({1.0, 0.0, 100.0})); }},
    {"statistic of a floored copy", Needs::Any,
     [](ClaimWriter &b, Pair &p) { p.of = b.apply(Fn::Floor, {p.of}); }},
    {"statistic before an update", Needs::Any,
     [](ClaimWriter &b, Pair &p) { p.to = b.add(p.of, b.another(p.of)); }},
    {"statistic after an update", Needs::Any,
     [](ClaimWriter &b, Pair &p) { p.of = b.add(p.of, b.another(p.of)); }},
    {"statistic of the transpose", Needs::Square,
     [](ClaimWriter &b, Pair &p) { p.of = b.transpose(p.of, {1, 0}); }},
    {"statistic along the other axis", Needs::Square,
     [](ClaimWriter &, Pair &p) { p.over[0] = 1 - p.over[0]; }},
    {"statistic spread along the wrong dimension", Needs::Square,
     [](ClaimWriter &, Pair &p) { p.along[0] = 1 - p.along[0]; }},
    {"statistic of another batch", Needs::Batches,
     [](ClaimWriter &b, Pair &p) { p.of = b.transpose(p.of, {1, 0, 2}); }},
    {"statistic of reversed rows", Needs::Rows,
     [](ClaimWriter &b, Pair &p) { p.of = b.reverse(p.of, 0); }},
    {"statistic of the reversed group", Needs::Rows, // of the same elements
     [](ClaimWriter &b, Pair &p) { p.of = b.reverse(p.of, 1); }},
    {"statistic of a larger group", Needs::Rows, // all elements, and others
     [](ClaimWriter &b, Pair &p) { p.of = b.concat({p.of, b.another(p.of)}, 1); }},
    {"statistic of rolled rows", Needs::Rows,
     [](ClaimWriter &b, Pair &p) { p.of = rolled(b, p.of); }},
    {"statistic of gathered rows", Needs::Rows,
     [](ClaimWriter &b, Pair &p) { p.of = gathered(b, p.of); }},
    {"applied to gathered rows", Needs::Rows,
     [](ClaimWriter &b, Pair &p) { p.to = gathered(b, p.of); }},
    {"applied to an inserted row", Needs::Rows,
     [](ClaimWriter &b, Pair &p) { p.to = inserted(b, p.of); }},
    {"statistic of part of the group", Needs::Rows, takePart},
    {"statistic of none of the group", Needs::Rows, takeNone},
    {"statistic of every other row", Needs::Rows, takeAlternateRows},
    {"statistic of the rows before", Needs::Rows, takeRowsBefore},
    {"statistic of narrower windows", Needs::Rows, takeWindows},
    {"statistic of groups in order, applied to interleaved ones", Needs::Rows, interleave},
};

static ArrayRef<StringLiteral> namesOfMismatches() {
  static const auto names =
      llvm::map_to_vector(kMismatches, [](const Mismatch &row) { return row.hypothesis; });
  return names;
}

const ArrayRef<StringLiteral> mlir::mp::test::kPairHypotheses = namesOfMismatches();

/// Picks rows, columns, tokens or images: norms and softmaxes are taken over these.
static std::pair<ClaimWriter::Dims, ClaimWriter::Dims> pickLayout(ClaimWriter &b, Needs needs) {
  int64_t n = b.size(), m = b.size(), k = b.size();
  switch (needs) {
  case Needs::Square: n = std::max<int64_t>(n, 2); return {{n, n}, {int64_t(b.below(2))}};
  case Needs::Rows: return {{2 * std::min<int64_t>(n, 3), m}, {1}};
  case Needs::Batches: return {{2, 2, m}, {2}};
  case Needs::Any: break;
  }
  switch (b.isDynamic() ? b.below(4) : b.below(11)) {
  case 0:
  case 1:
  case 2: return {{n, m}, {1}};
  case 3: return {{n, m}, {0}};
  case 4: return {{n, n}, {1}};
  case 5: return {{n, n}, {0}};
  case 6: return {{std::min<int64_t>(n, 3), m, k}, {2}};
  case 7: return {{std::min<int64_t>(n, 3), m, k}, {1}};
  case 8: return {{2, 2, m, k}, {1, 2}};
  case 9: return {{2, m, 2, k}, {0, 1, 2}};
  default: return {{n, m}, {0, 1}};
  }
}

Pair ClaimWriter::pair() {
  const Mismatch *broken = nullptr;
  for (const Mismatch &row : kMismatches)
    if (breaks(row.hypothesis))
      broken = &row;
  auto [shape, over] = pickLayout(*this, broken ? broken->needs : Needs::Any);
  bool isMatrix = shape.size() == 2 && over.size() == 1;
  if (isDynamic() && isMatrix && (!broken || broken->needs == Needs::Any)) {
    sizeOfDynamic = oneIn(12) ? 0 : shape[0];
    shape[0] = ShapedType::kDynamic;
  }
  std::optional<Bounds> range;
  if (oneIn(3))
    range = pick<Bounds>({{-1, 1}, {-1e30, 1e30}, {0, 5}, {-1000, 1000}, {-3e38, 3e38}});
  Value x = argument(shape, range);
  bool grouped = !broken && !isDynamic() && isMatrix && over[0] == 1 && oneIn(6);
  if (grouped) { // a group norm: the groups are part of a longer row
    int64_t groups = shape[1] % 2 == 0 ? 2 : 1;
    x = reshape(x, {shape[0], groups, shape[1] / groups});
    over = {2};
  }
  Pair result{x, x, over, over};
  if (broken)
    broken->apply(*this, result);
  return result;
}
