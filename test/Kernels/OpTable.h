// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops as text, for functions that apply many of them to the same operands.

#ifndef MP_TEST_KERNELS_OPTABLE_H
#define MP_TEST_KERNELS_OPTABLE_H

#include "mp/Execution/Array.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::mp::test {

/// The element types that an op is tried on.
enum TypeSet : unsigned {
  kWide = 1,   ///< f32
  kHalf = 2,   ///< f16, bf16
  kTiny = 4,   ///< f8E4M3FN, f8E5M2
  kDouble = 8, ///< f64
  kInt = 16,   ///< i8, i16, i32, i64
  kBool = 32,  ///< i1
  kMath = kWide | kHalf,
  kFloat = kMath | kTiny | kDouble,
  kAll = kFloat | kInt,
};

/// In texts: $T is the element type; $S, $R, $C, $X are the sizes "7x37x", "7x", "37x", "37x7x" of
/// a shape of rows and columns, "?" where dynamic; $dS, $dR, $dC, $dX the operands of tensor.empty
/// for them; $N a number for names. Operands: %x and %y hold special values, too (integers in %y
/// are neither 0 nor -1), %p ordinary ones above zero; %zero is a scalar $T; %n0 and %n1 are the
/// sizes.
struct OpCase {
  std::string name;
  unsigned types;
  std::string body;   ///< defines %r$N
  std::string result; ///< its type
  double ulp = 0;     ///< how far the kernel may be from the host's result; 0: same bits, NaN aside
  bool onEmpty = true; ///< whether it can be written for a shape without elements
};

const std::vector<OpCase> &opCases();

unsigned typeSetOf(const ElementType &type);

/// Rows and columns; -1 is dynamic.
struct MatrixShape {
  int64_t rows, columns;
};

/// A function @f(%x, %y, %p) with one result a case that `type` can have. `used` gets these cases.
std::string opFunction(const std::string &type, MatrixShape shape,
                       std::vector<const OpCase *> &used);

/// Operands of that function: %x, %y, %p.
std::vector<Array> opOperands(const std::string &type, int64_t rows, int64_t columns);

/// The first element of `found` that is farther from `expected` than the case allows, in words.
std::optional<std::string> firstDifference(const OpCase &test, const Array &found,
                                           const Array &expected);

} // namespace mlir::mp::test

#endif // MP_TEST_KERNELS_OPTABLE_H
