// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes attention op by op: scores, logits, maximum, exponentials, sum, probabilities, output.

#include "AttentionText.h"

#include <cctype>
#include <initializer_list>
#include <vector>

using namespace mlir::mp::test;

namespace {

/// Stand in shapes for sizes that are known at run time.
enum Unknown : int64_t { kBatch = -1, kQueries = -2, kKeys = -3 };

std::string shape(std::initializer_list<int64_t> sizes, const std::string &type) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += (size < 0 ? "?" : std::to_string(size)) + "x";
  return text + type + ">";
}

std::string emptyTensor(const std::string &name, std::initializer_list<int64_t> sizes,
                        const std::string &type) {
  std::string unknown;
  for (int64_t size : sizes)
    if (size < 0)
      unknown += std::string(unknown.empty() ? "" : ", ") + (size == kBatch     ? "%nb"
                                                             : size == kQueries ? "%nq"
                                                                                : "%nk");
  return name + " = tensor.empty(" + unknown + ") : " + shape(sizes, type) + "\n";
}

/// linalg.generic over the loops named in `loops`, of which capitals are reduced; `maps` have one
/// name of loops for each operand. `body` sees %i0, %i1, .. and %o, and defines %r; an empty one
/// yields %i0.
std::string generic(const std::string &result, const std::string &loops,
                    std::vector<std::string> maps,
                    std::vector<std::pair<std::string, std::string>> inputs,
                    std::pair<std::string, std::string> out, const std::string &body) {
  auto list = [](const std::string &names) {
    std::string text = "(";
    for (char c : names)
      text += std::string(text.size() > 1 ? ", " : "") + char(std::tolower(c));
    return text + ")";
  };
  auto elementOf = [](const std::string &type) {
    return type.substr(type.rfind('x') + 1, type.size() - type.rfind('x') - 2);
  };
  std::string text = result + " = linalg.generic {indexing_maps = [", names, types, arguments;
  for (size_t i = 0; i < maps.size(); ++i)
    text += (i ? ", affine_map<" : "affine_map<") + list(loops) + " -> " + list(maps[i]) + ">";
  text += "], iterator_types = [";
  for (size_t i = 0; i < loops.size(); ++i)
    text +=
        std::string(i ? ", " : "") + (std::isupper(loops[i]) ? "\"reduction\"" : "\"parallel\"");
  for (size_t i = 0; i < inputs.size(); ++i) {
    names += (i ? ", " : "") + inputs[i].first;
    types += (i ? ", " : "") + inputs[i].second;
    arguments += "%i" + std::to_string(i) + ": " + elementOf(inputs[i].second) + ", ";
  }
  return text + "]}" + (inputs.empty() ? "" : " ins(" + names + " : " + types + ")") + " outs(" +
         out.first + " : " + out.second + ") {\n^bb0(" + arguments +
         "%o: " + elementOf(out.second) + "):\n" + body + "linalg.yield " +
         (body.empty() ? "%i0 : " : "%r : ") + elementOf(out.second) + "\n} -> " + out.second +
         "\n";
}

/// Defines %c: key %ik <= query %iq + offset.
std::string causal(const Attention &a) {
  const std::string by = std::to_string(std::abs(a.offset));
  return "%by = arith.constant " + by + " : index\n%moved = arith.addi " +
         (a.offset < 0 ? "%ik" : "%iq") + ", %by : index\n%c = arith.cmpi ule, " +
         (a.offset < 0 ? "%moved, %iq" : "%ik, %moved") + " : index\n";
}

/// Writes what makes a logit of a score %i0 and, where there is one, a mask %i1.
std::string logitBody(const Attention &a) {
  const std::string scaled = "%u = arith.mulf %i0, %scale : f32\n";
  const std::string indices = "%iq = linalg.index 2 : index\n%ik = linalg.index 3 : index\n";
  switch (a.mask) {
  case Mask::None: return "%r = arith.mulf %i0, %scale : f32\n";
  case Mask::Additive:
  case Mask::Lowest: return scaled + "%r = arith.addf %u, %i1 : f32\n";
  case Mask::Boolean: return scaled + "%r = arith.select %i1, %u, %low : f32\n";
  case Mask::Causal: return scaled + indices + causal(a) + "%r = arith.select %c, %u, %low : f32\n";
  case Mask::CausalLowest:
    return scaled + indices + causal(a) +
           "%least = arith.constant 0xFF7FFFFF : f32\n%r = arith.select %c, %u, %least : f32\n";
  case Mask::CausalAdded:
    return scaled + indices + causal(a) +
           "%g = arith.constant 0.0 : f32\n%bias = arith.select %c, %g, %low : f32\n"
           "%r = arith.addf %u, %bias : f32\n";
  case Mask::Window:
    return scaled + indices +
           "%w = arith.constant 9 : index\n%far = arith.addi %ik, %w : index\n"
           "%c0 = arith.cmpi ule, %ik, %iq : index\n%c1 = arith.cmpi ugt, %far, %iq : index\n"
           "%c = arith.andi %c0, %c1 : i1\n%r = arith.select %c, %u, %low : f32\n";
  case Mask::Softcap:
    return scaled + "%cap = arith.constant 2.0 : f32\n%t0 = arith.divf %u, %cap : f32\n"
                    "%t1 = math.tanh %t0 : f32\n%r = arith.mulf %t1, %cap : f32\n";
  }
  return "";
}

/// Key or value `name` of `type`, each head repeated for the group of queries that shares it.
std::string repeated(const std::string &name, const std::string &thin, const std::string &type,
                     std::initializer_list<int64_t> sizes, const std::string &whole,
                     const std::string &element) {
  return emptyTensor("%e" + name, sizes, element) +
         generic("%r" + name, "bhgxy", {"bhxy", "bhgxy"}, {{"%" + thin, type}},
                 {"%e" + name, shape(sizes, element)}, "") +
         "%" + name + " = tensor.collapse_shape %r" + name +
         " [[0], [1, 2], [3], [4]] : " + shape(sizes, element) + " into " + whole + "\n";
}

} // namespace

bool mlir::mp::test::hasOperand(Mask mask) {
  return mask == Mask::Additive || mask == Mask::Lowest || mask == Mask::Boolean;
}

std::string mlir::mp::test::moduleText(const Attention &a) {
  const std::string &e = a.element;
  const bool batchVaries = a.dynamic || a.batchVaries, sizesVary = batchVaries || a.keysVary;
  const int64_t batch = batchVaries ? kBatch : a.batch, queries = a.dynamic ? kQueries : a.queries;
  const int64_t keys = a.dynamic || a.keysVary ? kKeys : a.keys, few = a.heads / a.group;
  auto keyShape = [&](int64_t heads) {
    return a.keyTransposed ? shape({batch, heads, a.head, keys}, e)
                           : shape({batch, heads, keys, a.head}, e);
  };
  const std::string q = shape({batch, a.heads, queries, a.head}, e);
  const std::string k = keyShape(a.heads), fewKeys = keyShape(few);
  const std::string v = shape({batch, a.heads, keys, a.valueWidth()}, e);
  const std::string fewValues = shape({batch, few, keys, a.valueWidth()}, e);
  const std::string o = shape({batch, a.heads, queries, a.valueWidth()}, "f32");
  const std::string s = shape({batch, a.heads, queries, keys}, "f32");
  const std::string p = shape({batch, a.heads, queries, keys}, e);
  const std::string r = shape({batch, a.heads, queries}, "f32");
  const std::string m = shape({batch, queries, keys}, a.mask == Mask::Boolean ? "i1" : "f32");
  const std::string product = "%w0 = arith.extf %i0 : " + e +
                              " to f32\n%w1 = arith.extf %i1 : " + e +
                              " to f32\n%t = arith.mulf %w0, %w1 : f32\n"
                              "%r = arith.addf %o, %t : f32\n";
  std::string body = "%zero = arith.constant 0.0 : f32\n%low = arith.constant 0xFF800000 : f32\n"
                     "%scale = arith.constant 0.125 : f32\n";
  if (a.group > 1) {
    body += repeated("k", "k0", fewKeys, {batch, few, a.group, keys, a.head}, k, e);
    body += repeated("v", "v0", fewValues, {batch, few, a.group, keys, a.valueWidth()}, v, e);
  }
  body += emptyTensor("%es", {batch, a.heads, queries, keys}, "f32") +
          emptyTensor("%er", {batch, a.heads, queries}, "f32") +
          emptyTensor("%ep", {batch, a.heads, queries, keys}, e);
  auto fill = [&](const std::string &name, const std::string &value, const std::string &into,
                  const std::string &type) {
    body += name + " = linalg.fill ins(" + value + " : f32) outs(" + into + " : " + type + ") -> " +
            type + "\n";
  };
  fill("%zs", "%zero", "%es", s);
  body += generic("%s", "bhqkD", {"bhqd", a.keyTransposed ? "bhdk" : "bhkd", "bhqk"},
                  {{"%q", q}, {"%k", k}}, {"%zs", s}, product);
  const std::string seen = shape({queries, keys}, "i1");
  if (a.sharesMask)
    body += emptyTensor("%ec", {queries, keys}, "i1") +
            generic("%seen", "qk", {"qk"}, {}, {"%ec", seen},
                    "%iq = linalg.index 0 : index\n%ik = linalg.index 1 : index\n"
                    "%r = arith.cmpi ule, %ik, %iq : index\n") +
            generic("%l", "bhqk", {"bhqk", "qk", "bhqk"}, {{"%s", s}, {"%seen", seen}}, {"%es", s},
                    "%u = arith.mulf %i0, %scale : f32\n"
                    "%r = arith.select %i1, %u, %low : f32\n");
  else if (hasOperand(a.mask))
    body += generic("%l", "bhqk", {"bhqk", "bqk", "bhqk"}, {{"%s", s}, {"%m", m}}, {"%es", s},
                    logitBody(a));
  else
    body += generic("%l", "bhqk", {"bhqk", "bhqk"}, {{"%s", s}}, {"%es", s}, logitBody(a));
  fill("%lo", "%low", "%er", r);
  body += generic("%x", "bhqK", {"bhqk", "bhq"}, {{"%l", s}}, {"%lo", r},
                  "%r = arith.maximumf %i0, %o : f32\n");
  body += generic("%e", "bhqk", {"bhqk", "bhq", "bhqk"}, {{"%l", s}, {"%x", r}}, {"%es", s},
                  "%t = arith.subf %i0, %i1 : f32\n%r = math.exp %t : f32\n");
  fill("%zr", "%zero", "%er", r);
  body += generic("%n", "bhqK", {"bhqk", "bhq"}, {{"%e", s}}, {"%zr", r},
                  "%r = arith.addf %i0, %o : f32\n");
  body += generic("%p", "bhqk", {"bhqk", "bhq", "bhqk"}, {{"%e", s}, {"%n", r}}, {"%ep", p},
                  "%t = arith.divf %i0, %i1 : f32\n%r = arith.truncf %t : f32 to " + e + "\n");
  fill("%zo", "%zero", "%out", o);
  body +=
      generic("%y", "bhqwK", {"bhqk", "bhkw", "bhqw"}, {{"%p", p}, {"%v", v}}, {"%zo", o}, product);
  const std::string names = hasOperand(a.mask) ? "%aq, %ak, %av, %am" : "%aq, %ak, %av";
  const std::string types = q + ", " + k + ", " + v + (hasOperand(a.mask) ? ", " + m : "");
  const std::string few0 = a.group > 1 ? "0: " : ": ";
  auto arguments = [&](const std::string &prefix) {
    return prefix + "q: " + q + ", " + prefix + "k" + few0 + fewKeys + ", " + prefix + "v" + few0 +
           fewValues + (hasOperand(a.mask) ? ", " + prefix + "m: " + m : "");
  };
  if (!a.dispatched) {
    const std::string sizes = "%i_0 = arith.constant 0 : index\n%i_2 = arith.constant 2 : index\n"
                              "%nb = tensor.dim %q, %i_0 : " +
                              q + "\n%nq = tensor.dim %q, %i_2 : " + q + "\n%nk = tensor.dim %v" +
                              (a.group > 1 ? "0" : "") + ", %i_2 : " + fewValues + "\n";
    const std::string more = a.sharesMask ? ", " + seen : "";
    return "func.func @f(" + arguments("%") + ") -> (" + o + more + ") {\n" +
           (sizesVary ? sizes : "") +
           emptyTensor("%out", {batch, a.heads, queries, a.valueWidth()}, "f32") + body +
           "return %y" + (a.sharesMask ? ", %seen" : "") + " : " + o + more + "\n}\n";
  }
  const std::string schedule =
      a.schedule.empty() ? "" : " schedule = <attention, \"" + a.schedule + "\">";
  const std::string size0 = "%i_0 = arith.constant 0 : index\n%i_2 = arith.constant 2 : index\n"
                            "%ob = tensor.dim %aq, %i_0 : " +
                            q + "\n%oq = tensor.dim %aq, %i_2 : " + q +
                            "\n%ok = tensor.dim %av, %i_2 : " + fewValues + "\n";
  const std::string empty = a.dynamic     ? "tensor.empty(%ob, %oq)"
                            : batchVaries ? "tensor.empty(%ob)"
                                          : "tensor.empty()";
  return "func.func @f(" + arguments("%a") + ") -> " + o + " {\n" + (sizesVary ? size0 : "") +
         "%oo = " + empty + " : " + o + "\n%d = mpk.dispatch ins(" + names +
         (sizesVary ? ", %ob, %oq, %ok" : "") + " : " + types +
         (sizesVary ? ", index, index, index" : "") + ") outs(%oo : " + o + ")" + schedule +
         " -> " + o + " {\n^bb0(" + arguments("%") +
         (sizesVary ? ", %nb: index, %nq: index, %nk: index" : "") + ", %out: " + o + "):\n" +
         body + "mpk.yield %y : " + o + "\n}\nreturn %d : " + o + "\n}\n";
}
