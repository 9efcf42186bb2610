// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes products of few rows or columns, and what is made of them.

#include "ThinText.h"

using namespace mlir::mp::test;

namespace {

std::string typeOf(const Thin &o, bool transposed, const char *rows, const char *columns,
                   const std::string &type) {
  auto size = [&](char loop) {
    if ((loop == 'm' && o.dynamic) || (loop == 'k' && o.dynamicK))
      return std::string("?");
    return std::to_string(loop == 'm' ? o.m : loop == 'n' ? o.n : o.k);
  };
  return "tensor<" + size(transposed ? *columns : *rows) + "x" +
         size(transposed ? *rows : *columns) + "x" + type + ">";
}

std::string pin(const Thin &o, const std::string &copy) {
  return o.schedule.empty() ? ""
                            : ", mpk.schedule = #mpk.schedule<matmul, \"unit=mma.sync " +
                                  o.schedule + " slices=" + std::to_string(o.slices) +
                                  " split-k=" + std::to_string(o.splits) + " copy=" + copy + "\">";
}

/// The ops that make a result of type `h` of the sum `%r`.
std::string epilogueText(const Thin &o, const std::string &c, const std::string &h) {
  const std::string function = o.epilogue == "gelu" ? "%t = math.tanh %a : f32\n"
                                                    : "%g = arith.extf %y : bf16 to f32\n"
                                                      "%u = arith.addf %a, %g : f32\n"
                                                      "%zz = arith.constant 0.0 : f32\n"
                                                      "%t = arith.maximumf %u, %zz : f32\n";
  return "%h = linalg.generic {indexing_maps = [#c, affine_map<(m, n) -> (n)>, #c, #c], "
         "iterator_types = [\"parallel\", \"parallel\"]} ins(%r, %bias, %res : " +
         c + ", tensor<" + std::to_string(o.n) + "xf32>, " + h + ") outs(%res : " + h +
         ") {\n^bb0(%x: f32, %v: f32, %y: bf16, %z0: bf16):\n%a = arith.addf %x, %v : f32\n" +
         function + "%w = arith.truncf %t : f32 to bf16\nlinalg.yield %w : bf16\n} -> " + h + "\n";
}

/// The op that makes `result` of A and B, on what `start` holds.
std::string productText(const Thin &o, const std::string &copy, const std::string &result,
                        const std::string &nameA, const std::string &nameB,
                        const std::string &start) {
  const bool tf32 = o.format == "tf32";
  const std::string element = tf32 ? "f32" : o.format;
  const std::string a = typeOf(o, o.transposeA, "m", "k", element),
                    b = typeOf(o, o.transposeB, "k", "n", element),
                    c = typeOf(o, false, "m", "n", "f32");
  const std::string maps = std::string("affine_map<(m, n, k) -> ") +
                           (o.transposeA ? "(k, m)" : "(m, k)") + ">, affine_map<(m, n, k) -> " +
                           (o.transposeB ? "(n, k)" : "(k, n)") +
                           ">, affine_map<(m, n, k) -> (m, n)>";
  std::string text = result + " = linalg.generic {indexing_maps = [" + maps +
                     "], iterator_types = [\"parallel\", \"parallel\", \"reduction\"]" +
                     pin(o, copy) + "} ins(" + nameA + ", " + nameB + " : " + a + ", " + b +
                     ") outs(" + start + " : " + c + ") {\n^bb0(%x: " + element +
                     ", %y: " + element + ", %s: f32):\n";
  text += tf32 ? "%p = arith.mulf %x, %y : f32\n"
               : "%wx = arith.extf %x : " + element + " to f32\n%wy = arith.extf %y : " + element +
                     " to f32\n%p = arith.mulf %wx, %wy : f32\n";
  return text + "%q = arith.addf %s, %p : f32\nlinalg.yield %q : f32\n} -> " + c + "\n";
}

} // namespace

std::string mlir::mp::test::thinGroupText(const Thin &o, int count, const std::string &copy) {
  const std::string a = typeOf(o, o.transposeA, "m", "k", o.format),
                    b = typeOf(o, o.transposeB, "k", "n", o.format),
                    c = typeOf(o, false, "m", "n", "f32");
  std::string arguments = "%a: " + a, body = "%z = arith.constant 0.0 : f32\n", results, types;
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    arguments += ", %b" + n + ": " + b;
    body += "%e" + n + " = tensor.empty() : " + c + "\n%i" + n +
            " = linalg.fill ins(%z : f32) outs(%e" + n + " : " + c + ") -> " + c + "\n" +
            productText(o, copy, "%r" + n, "%a", "%b" + n, "%i" + n);
    results += (i ? ", %r" : "%r") + n;
    types += (i ? ", " : "") + c;
  }
  return "func.func @f(" + arguments + ") -> (" + types + ") {\n" + body + "return " + results +
         " : " + types + "\n}\n";
}

std::string mlir::mp::test::thinText(const Thin &o, const std::string &copy) {
  const bool tf32 = o.format == "tf32";
  const std::string element = tf32 ? "f32" : o.format;
  const std::string a = typeOf(o, o.transposeA, "m", "k", element),
                    b = typeOf(o, o.transposeB, "k", "n", element),
                    stored = o.narrowed ? typeOf(o, o.transposeB, "k", "n", "f32") : b,
                    c = typeOf(o, false, "m", "n", "f32"), h = typeOf(o, false, "m", "n", "bf16");
  const std::string result = o.epilogue.empty() ? c : h;
  std::string text = "#c = affine_map<(m, n) -> (m, n)>\nfunc.func @f(%a0: " + a +
                     ", %b0: " + stored + ", %c: " + c + ", %bias: tensor<" + std::to_string(o.n) +
                     "xf32>, %res: " + h + ") -> " + result + " {\n";
  std::string nameA = "%a0", nameB = "%b0";
  if (tf32) {
    text += "%a1 = mp.round tf32 %a0 : " + a + "\n%b1 = mp.round tf32 %b0 : " + b + "\n";
    nameA = "%a1", nameB = "%b1";
  }
  if (o.narrowed) {
    text += "%b1 = mp.cast ieee %b0 : " + stored + " to " + b + "\n";
    nameB = "%b1";
  }
  if (o.fresh)
    text += "%z = arith.constant 0.0 : f32\n%i = linalg.fill ins(%z : f32) outs(%c : " + c +
            ") -> " + c + "\n";
  text += productText(o, copy, "%r", nameA, nameB, o.fresh ? "%i" : "%c");
  if (!o.epilogue.empty())
    text += epilogueText(o, c, h);
  return text + "return " + (o.epilogue.empty() ? "%r" : "%h") + " : " + result + "\n}\n";
}
