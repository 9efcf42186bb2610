// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A problem is what a kernel computes, as far as its time depends on it: sizes, formats, bytes and
// operations per element. Estimates and rankings of schedules see nothing else.

#ifndef MP_PERFORMANCE_PROBLEM_H
#define MP_PERFORMANCE_PROBLEM_H

#include "llvm/Support/Error.h"

#include <compare>
#include <cstdint>
#include <string>
#include <variant>

namespace mpcore::performance {

/// A size that only the run knows counts as this many, in problems and in bounds of errors.
inline constexpr int64_t kAssumedSize = 1024;

/// C[m, n] = A[m, k] B[k, n], `batch` times, and an elementwise epilogue.
struct MatmulProblem {
  int64_t batch = 1, m = 1, n = 1, k = 1;
  std::string format = "bf16"; ///< in which operands are multiplied
  std::string result = "bf16"; ///< in which C is stored
  /// Stored bits of A and B where they are not those of `format` (weights dequantised on the way);
  /// 0 otherwise.
  unsigned aBits = 0, bBits = 0;
  /// Two of each four elements of A are stored and multiplied (mma.sp), and a bit for each element.
  bool sparseA = false;
  /// B (then also A) is the same in each batch.
  bool sharedB = false;
  /// The epilogue's additional bytes read, and its instructions, per element of C.
  double epilogueBytes = 0, epilogueInstructions = 0;

  /// Bits that an element of A, or of B, takes in memory, on average.
  double storedBitsOfA() const;
  double storedBitsOfB() const;

  auto operator<=>(const MatmulProblem &) const = default;
};

/// y[i] = f(x0[i], x1[i], ...): casts and chains of elementwise operations.
struct MapProblem {
  int64_t elements = 1;
  double readBytes = 4, writtenBytes = 4; ///< per element
  double instructions = 4;                ///< per element, loads and stores left out
  double heldWords = 1;                   ///< registers that keep results of an element
  double passingWords = 8;                ///< registers that compute an element
};

/// Elementwise work and reductions along rows: softmax, norms, losses, row sums.
struct RowProblem {
  int64_t rows = 1, columns = 1;
  double readBytes = 4, writtenBytes = 4; ///< per element; what is written once a row counts 0
  double columnBytes = 0;                 ///< read once for each column: weights, bias
  unsigned reductions = 1;                ///< which follow each other
  double instructions = 6;                ///< per element
  double heldWords = 1;    ///< registers that keep an element from one pass to the next
  double passingWords = 8; ///< registers that compute an element
};

/// Sums (maxima, ...) over the outer dimension: columns of a matrix, bias gradients.
struct ColumnReductionProblem {
  int64_t rows = 1, columns = 1;
  double readBytes = 4; ///< per element
  double instructions = 1.5;
};

/// y[b, j, i] = x[b, i, j].
struct TransposeProblem {
  int64_t batch = 1, rows = 1, columns = 1;
  unsigned bits = 16; ///< of an element
};

/// softmax(Q K^T) V.
struct AttentionProblem {
  int64_t batch = 1, heads = 1, keyHeads = 1, queries = 1, keys = 1, headDim = 64;
  std::string format = "bf16";
  bool causal = false;
  bool keysVary = false; ///< their number is known at run time only; `keys` is an example
  bool rowsVary = false; ///< `batch` or `queries` is known at run time only, and an example

  auto operator<=>(const AttentionProblem &) const = default;
};

using Problem = std::variant<MatmulProblem, MapProblem, RowProblem, ColumnReductionProblem,
                             TransposeProblem, AttentionProblem>;

/// Reads "matmul m=4096 n=4096 k=1024 format=bf16", with the names of the fields above in dashes
/// and small letters (head-dim=128), in any order. Errors name the word and what is known.
llvm::Expected<Problem> parseProblem(llvm::StringRef text);
/// Writes what parseProblem reads, fields with default values left out.
std::string toString(const Problem &problem);

/// Multiply-adds of matrix products; 0 for the others.
double multiplyAdds(const Problem &problem);
/// Bytes that must cross the memory interface: each operand read once, each result written once.
double minimumBytes(const Problem &problem);

} // namespace mpcore::performance

#endif // MP_PERFORMANCE_PROBLEM_H
