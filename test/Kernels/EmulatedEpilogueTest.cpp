// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions with an epilogue in the same kernel, executed: bit for bit what the same dispatch
// gives when its body is inlined and every op has a kernel of its own.

#include "Lowering.h"
#include "mp/Numerics/Cast.h"
#include "gtest/gtest.h"

#include <random>
#include <regex>

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

struct Sizes {
  std::string m, n, k; ///< as in a type; "?" where only run time knows
  int64_t rows, columns, sum;
};

std::string tensor(const std::string &shape, const std::string &type) {
  return "tensor<" + shape + "x" + type + ">";
}

/// relu(A B + bias) + residual, stored as bf16 and, before the residual, as f32; `gelu` has tanh in
/// place of relu. B is [n, k].
std::string moduleText(const Sizes &s, bool tanh, const std::string &schedule) {
  std::string a = tensor(s.m + "x" + s.k, "bf16"), b = tensor(s.n + "x" + s.k, "bf16"),
              bias = tensor(s.n, "f32"), f = tensor(s.m + "x" + s.n, "f32"),
              h = tensor(s.m + "x" + s.n, "bf16");
  std::string types = a + ", " + b + ", " + bias + ", " + h;
  std::string both = "indexing_maps = [#id, #row, #id], iterator_types = [\"parallel\", "
                     "\"parallel\"]";
  return "#a = affine_map<(m, n, k) -> (m, k)>\n#b = affine_map<(m, n, k) -> (n, k)>\n"
         "#c = affine_map<(m, n, k) -> (m, n)>\n#id = affine_map<(m, n) -> (m, n)>\n"
         "#row = affine_map<(m, n) -> (n)>\n"
         "func.func @f(%a: " +
         a + ", %b: " + b + ", %bias: " + bias + ", %res: " + h + ", %o: " + h + ", %p: " + f +
         ") -> (" + h + ", " + f +
         ") {\n"
         "%r:2 = mpk.dispatch ins(%a, %b, %bias, %res : " +
         types + ") outs(%o, %p : " + h + ", " + f + ") schedule = <matmul" + schedule + "> -> " +
         h + ", " + f +
         " {\n"
         "^bb0(%x: " +
         a + ", %y: " + b + ", %v: " + bias + ", %w: " + h + ", %oo: " + h + ", %pp: " + f +
         "):\n"
         "%z = arith.constant 0.0 : f32\n"
         "%i = linalg.fill ins(%z : f32) outs(%pp : " +
         f + ") -> " + f +
         "\n"
         "%s = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = [\"parallel\", "
         "\"parallel\", \"reduction\"], mpk.mma = \"bf16\"} ins(%x, %y : " +
         a + ", " + b + ") outs(%i : " + f +
         ") {\n^bb0(%p0: bf16, %q0: bf16, %t0: f32):\n"
         "%e0 = arith.extf %p0 : bf16 to f32\n%f0 = arith.extf %q0 : bf16 to f32\n"
         "%g0 = arith.mulf %e0, %f0 : f32\n%h0 = arith.addf %t0, %g0 : f32\n"
         "linalg.yield %h0 : f32\n} -> " +
         f +
         "\n"
         "%u = linalg.generic {" +
         both + "} ins(%s, %v : " + f + ", " + bias + ") outs(%pp : " + f +
         ") {\n^bb0(%p1: f32, %q1: f32, %t1: f32):\n%e1 = arith.addf %p1, %q1 : f32\n" +
         (tanh ? "%f1 = math.tanh %e1 : f32\n" : "%f1 = arith.maximumf %e1, %z : f32\n") +
         "linalg.yield %f1 : f32\n} -> " + f +
         "\n"
         "%n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = [\"parallel\", "
         "\"parallel\"]} ins(%u, %w : " +
         f + ", " + h + ") outs(%oo : " + h +
         ") {\n^bb0(%p2: f32, %q2: bf16, %t2: bf16):\n%e2 = arith.extf %q2 : bf16 to f32\n"
         "%f2 = arith.addf %p2, %e2 : f32\n%g2 = arith.truncf %f2 : f32 to bf16\n"
         "linalg.yield %g2 : bf16\n} -> " +
         h +
         "\n"
         "mpk.yield %n, %u : " +
         h + ", " + f +
         "\n}\n"
         "return %r#0, %r#1 : " +
         h + ", " + f + "\n}\n";
}

void check(const Sizes &s, bool tanh, const std::string &chip, const std::string &schedule = "") {
  SCOPED_TRACE(chip + " " + s.m + "x" + s.n + "x" + s.k + (tanh ? " tanh" : " relu"));
  // Tensor Cores of sm_75 have no bf16.
  const numerics::Format format = chip == "sm_75" ? numerics::Format::F16 : numerics::Format::BF16;
  const std::string text = std::regex_replace(moduleText(s, tanh, schedule), std::regex("bf16"),
                                              chip == "sm_75" ? "f16" : "bf16");
  Lowered fused(text, chip), apart(inlineDispatches(text), chip, "dispatches=false");
  ASSERT_EQ(fused.error, "");
  ASSERT_EQ(apart.error, "");
  std::mt19937 random(11);
  using numerics::Format;
  std::vector<Array> arguments = {
      drawn(format, {s.rows, s.sum}, random),     drawn(format, {s.columns, s.sum}, random),
      drawn(Format::F32, {s.columns}, random),    drawn(format, {s.rows, s.columns}, random),
      drawn(format, {s.rows, s.columns}, random), drawn(Format::F32, {s.rows, s.columns}, random)};
  std::vector<Array> found = fused.run(arguments), expected = apart.run(arguments);
  ASSERT_EQ(fused.error, "");
  ASSERT_EQ(apart.error, "");
  ASSERT_EQ(found.size(), 2u);
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(found[i].data == expected[i].data) << "result " << i;
  EXPECT_EQ(fused.launches, 1u);
  EXPECT_GT(apart.launches, 1u);
}

TEST(EmulatedEpilogue, EqualsItsPartsOnFullAndRaggedTiles) {
  check({"64", "64", "128", 64, 64, 128}, false, "sm_80");
  check({"64", "64", "128", 64, 64, 128}, true, "sm_89");
  check({"37", "29", "45", 37, 29, 45}, false, "sm_80");
  check({"5", "72", "40", 5, 72, 40}, true, "sm_75");
  check({"40", "64", "64", 40, 64, 64}, false, "sm_120");
}

// Functions of math take so many instructions that the kernel has them in a loop over rows, whose
// sums come from shared memory.
TEST(EmulatedEpilogue, EqualsItsPartsThroughSharedMemory) {
  check({"128", "128", "64", 128, 128, 64}, true, "sm_80");
  check({"37", "29", "45", 37, 29, 45}, true, "sm_80");
  check({"70", "66", "24", 70, 66, 24}, true, "sm_120");
  check({"65", "100", "130", 65, 100, 130}, true, "sm_90a");
}

/// tanh(x w_i + b_i) for three w_i, of which the last has `lastColumns` columns.
std::string siblingsText(int64_t columns, int64_t lastColumns) {
  std::string arguments = "%x: tensor<48x32xbf16>", results, body;
  for (int i = 0; i < 3; ++i) {
    const std::string n = std::to_string(i == 2 ? lastColumns : columns), id = std::to_string(i);
    const std::string w = tensor("32x" + n, "bf16"), b = tensor(n, "f32"),
                      r = tensor("48x" + n, "f32");
    arguments += ", %w" + id + ": " + w + ", %b" + id + ": " + b;
    results += (i ? ", " : "") + r;
    body += "%e" + id + " = tensor.empty() : " + r + "\n%f" + id +
            " = linalg.fill ins(%z : f32) outs(%e" + id + " : " + r + ") -> " + r + "\n%m" + id +
            " = linalg.matmul ins(%x, %w" + id + " : tensor<48x32xbf16>, " + w + ") outs(%f" + id +
            " : " + r + ") -> " + r + "\n%s" + id +
            " = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = "
            "[\"parallel\", \"parallel\"]} ins(%m" +
            id + ", %b" + id + " : " + r + ", " + b + ") outs(%e" + id + " : " + r +
            ") {\n^bb0(%p: f32, %q: f32, %t: f32):\n%u = arith.addf %p, %q : f32\n"
            "%v = math.tanh %u : f32\nlinalg.yield %v : f32\n} -> " +
            r + "\n";
  }
  return "#id = affine_map<(m, n) -> (m, n)>\n#row = affine_map<(m, n) -> (n)>\nfunc.func @f(" +
         arguments + ") -> (" + results + ") {\n%z = arith.constant 0.0 : f32\n" + body +
         "return %s0, %s1, %s2 : " + results + "\n}\n";
}

TEST(EmulatedEpilogue, EqualProductsOfOneOperandAreOneKernel) {
  for (auto [columns, lastColumns, launches] :
       {std::tuple{40, 40, 1u}, {64, 64, 1u}, {64, 40, 2u}}) {
    Lowered together(siblingsText(columns, lastColumns), "sm_80", "dispatches=true"),
        apart(siblingsText(columns, lastColumns), "sm_80", "dispatches=false");
    ASSERT_EQ(together.error, "");
    ASSERT_EQ(apart.error, "");
    std::mt19937 random(5);
    using numerics::Format;
    std::vector<Array> arguments = {drawn(Format::BF16, {48, 32}, random)};
    for (int64_t n : {columns, columns, lastColumns}) {
      arguments.push_back(drawn(Format::BF16, {32, n}, random));
      arguments.push_back(drawn(Format::F32, {n}, random));
    }
    std::vector<Array> found = together.run(arguments), expected = apart.run(arguments);
    ASSERT_EQ(together.error, "");
    ASSERT_EQ(apart.error, "");
    for (auto [x, y] : llvm::zip_equal(found, expected))
      EXPECT_TRUE(x.data == y.data);
    EXPECT_EQ(together.launches, launches);
    EXPECT_EQ(apart.launches, 6u);
  }
}

TEST(EmulatedEpilogue, EqualsItsPartsOnDynamicSizes) {
  check({"?", "?", "?", 33, 18, 20}, false, "sm_80");
  check({"?", "64", "32", 50, 64, 32}, true, "sm_80");
}

} // namespace
