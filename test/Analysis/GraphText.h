// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small linalg graphs as text, for tests of analyses: each call appends one op and returns the name
// of its result. Tensors are 4x4 unless a shape is given, so that exchanged axes go unnoticed by
// types.

#ifndef MP_TEST_ANALYSIS_GRAPHTEXT_H
#define MP_TEST_ANALYSIS_GRAPHTEXT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"

#include <string>
#include <vector>

namespace mlir::mp::test {

class GraphText {
public:
  /// A function of arguments `%x`, ... of these types.
  explicit GraphText(std::vector<std::string> arguments = {"%x: tensor<4x4xf32>"}) {
    header = "func.func @main(";
    for (size_t i = 0; i < arguments.size(); ++i)
      header += (i ? ", " : "") + arguments[i];
  }

  std::string constant(llvm::StringRef value, llvm::StringRef type = "f32") {
    return append(llvm::formatv("arith.constant {0} : {1}", value, type));
  }
  /// `name` of one operand, element by element.
  std::string unary(llvm::StringRef name, llvm::StringRef a, llvm::StringRef shape = "4x4") {
    return append(llvm::formatv("math.{0} {1} : tensor<{2}xf32>", name, a, shape));
  }
  /// `name` of two operands of equal shape.
  std::string binary(llvm::StringRef name, llvm::StringRef a, llvm::StringRef b,
                     llvm::StringRef shape = "4x4") {
    return append(llvm::formatv("arith.{0} {1}, {2} : tensor<{3}xf32>", name, a, b, shape));
  }
  /// `name` of a 4x4 tensor and a vector of 4 that is read through `map`: "d0" or "d1".
  std::string withVector(llvm::StringRef name, llvm::StringRef a, llvm::StringRef vector,
                         llvm::StringRef map, llvm::StringRef mapOfA = "d0, d1") {
    std::string empty = append("tensor.empty() : tensor<4x4xf32>");
    return append(llvm::formatv(
        R"(linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> ({3})>, affine_map<(d0, d1) -> ({2})>,
    affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins({0}, {1} : tensor<4x4xf32>, tensor<4xf32>) outs({4} : tensor<4x4xf32>) {{
  ^bb0(%p: f32, %q: f32, %out: f32):
    %r = arith.{5} %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<4x4xf32>)",
        a, vector, map, mapOfA, empty, name));
  }
  /// The elements along one axis combined: "addf", "maximumf" from `init`; `axis` 1 sums rows up.
  std::string reduce(llvm::StringRef combiner, llvm::StringRef a, unsigned axis,
                     llvm::StringRef init = "0.0", llvm::StringRef mapOfA = "d0, d1") {
    std::string start = constant(init);
    std::string empty = append("tensor.empty() : tensor<4xf32>");
    std::string filled = append(llvm::formatv(
        "linalg.fill ins({0} : f32) outs({1} : tensor<4xf32>) -> tensor<4xf32>", start, empty));
    const char *kinds = axis == 1 ? R"("parallel", "reduction")" : R"("reduction", "parallel")";
    return append(llvm::formatv(
        R"(linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> ({4})>, affine_map<(d0, d1) -> ({0})>],
    iterator_types = [{1}]} ins({2} : tensor<4x4xf32>) outs({3} : tensor<4xf32>) {{
  ^bb0(%p: f32, %out: f32):
    %r = arith.{5} %out, %p : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>)",
        axis == 1 ? "d0" : "d1", kinds, a, filled, mapOfA, combiner));
  }
  std::string vector(llvm::StringRef name, llvm::StringRef a) { return unary(name, a, "4"); }
  std::string vectorWith(llvm::StringRef name, llvm::StringRef a, llvm::StringRef value) {
    std::string splat = constant(llvm::formatv("dense<{0}>", value).str(), "tensor<4xf32>");
    return binary(name, a, splat, "4");
  }
  std::string splat(llvm::StringRef value) {
    return constant(llvm::formatv("dense<{0}>", value).str(), "tensor<4x4xf32>");
  }
  /// Any op that has one result.
  std::string append(llvm::StringRef op) {
    std::string name = "%v" + std::to_string(count++);
    body += "  " + name + " = " + op.str() + "\n";
    return name;
  }
  std::string append(const llvm::formatv_object_base &op) { return append(op.str()); }

  std::string finish(llvm::StringRef result, llvm::StringRef type = "tensor<4x4xf32>") const {
    return header + ") -> " + type.str() + " {\n" + body + "  return " + result.str() + " : " +
           type.str() + "\n}\n";
  }

private:
  std::string header, body;
  unsigned count = 0;
};

} // namespace mlir::mp::test

#endif // MP_TEST_ANALYSIS_GRAPHTEXT_H
