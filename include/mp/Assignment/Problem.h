// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Precision assignment as an optimisation problem. Nodes choose one of their variants; a variant
// says in which type it reads each operand and stores each result, what it costs and how much error
// it adds. A value stored in one type and read in another needs a cast, made once per (value, type)
// right after the definition, however many readers share it.
//
// All quantities are integers (by convention picoseconds, and error units rounded up), so answers
// are exact and the same on every machine.

#ifndef MP_ASSIGNMENT_PROBLEM_H
#define MP_ASSIGNMENT_PROBLEM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mpcore::assignment {

using NodeId = uint32_t;
using ValueId = uint32_t;
/// Index into Problem::types.
using TypeId = uint8_t;

/// Operand type of a reader that takes whatever is stored and converts in registers: needs no cast.
inline constexpr TypeId anyType = 0xff;
/// At most this many types, so that sets of copies fit in a word.
inline constexpr unsigned maxTypes = 16;

/// One way to implement a node.
struct Variant {
  std::string name;
  llvm::SmallVector<TypeId, 2> in;  ///< one per operand
  llvm::SmallVector<TypeId, 1> out; ///< one per result
  int64_t cost = 0;                 ///< per execution
  int64_t error = 0;                ///< in total, amplification included, rounded up
};

/// An operation, function argument, function result or store. Boundaries whose type may not change
/// have a single variant. Variants are listed from the safest (widest) to the boldest: ties go to
/// the earlier one, or to the later one with Preference::Low.
struct Node {
  std::string name;
  llvm::SmallVector<Variant, 2> variants;
  llvm::SmallVector<ValueId, 2> operands;
  llvm::SmallVector<ValueId, 1> results;
  int64_t frequency =
      1; ///< executions; multiplies the cost of the node and of casts of its results
  std::optional<unsigned> pinned = std::nullopt; ///< the only variant allowed
};

struct CastCost {
  TypeId from, to;
  int64_t cost; ///< per execution of the definition
};

struct Value {
  std::string name;
  /// A cost for every pair (stored type, read type) that the variants make possible.
  llvm::SmallVector<CastCost, 2> casts;
  bool constant = false; ///< cast at compile time: casts cost nothing and are not counted
};

struct Problem {
  std::vector<std::string> types; ///< from widest to narrowest
  std::vector<Node> nodes;        ///< any order; operands form a directed acyclic graph
  std::vector<Value> values;
  /// Nodes that must choose the same variant index (q/k/v; what one loop-carried value goes
  /// through).
  std::vector<llvm::SmallVector<NodeId, 4>> ties;
  std::optional<int64_t> errorBudget; ///< minimise cost with error at most this
  std::optional<int64_t> costBudget;  ///< minimise error with cost at most this

  /// Builders; they return the new index.
  TypeId addType(llvm::StringRef name);
  ValueId addValue(llvm::StringRef name, llvm::ArrayRef<CastCost> casts = {},
                   bool constant = false);
  NodeId addNode(Node node);

  /// Checks indices, arities, single definitions, acyclicity, cast costs, ties and that sums fit;
  /// the error names node or value and says what was expected.
  llvm::Error validate() const;
};

/// Variant index per node.
using Labels = std::vector<uint32_t>;

/// A cast that an assignment needs.
struct Copy {
  ValueId value;
  TypeId from, to;
  friend bool operator==(const Copy &, const Copy &) = default;
};

/// The objective values of an assignment.
struct Score {
  int64_t cost = 0;
  int64_t casts = 0; ///< run-time casts; those of constants are not counted
  int64_t error = 0;
  friend bool operator==(const Score &, const Score &) = default;
};

/// Adds up an assignment straight from the definition. `copies`, if given, receives the casts in
/// order of value and type, those of constants included. Labels must be in range.
Score evaluate(const Problem &problem, const Labels &labels, std::vector<Copy> *copies = nullptr);

/// Error unless the labels are in range and respect pins, ties and the error budget.
llvm::Error checkFeasible(const Problem &problem, const Labels &labels);

} // namespace mpcore::assignment

#endif // MP_ASSIGNMENT_PROBLEM_H
