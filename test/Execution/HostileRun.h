// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a hostile graph before and after conversion, and holds what is said of it to what it
// computes: no NaN and no infinity where f32 is finite, unless a decision is assumed; no value
// outside its range; no error beyond its bound.

#ifndef MP_TEST_EXECUTION_HOSTILERUN_H
#define MP_TEST_EXECUTION_HOSTILERUN_H

#include "../Transforms/Hostile/HostileGraph.h"
#include "mp/Execution/Array.h"

#include <functional>
#include <map>

namespace mlir::mp::test {

/// A verdict says which promise a graph shows to be broken.
enum class Verdict {
  Overflow, ///< new NaN or infinity: a value overflows the narrow format that is proved to fit
  Pole, ///< new NaN or infinity though nothing overflows: rounding reaches a pole or a limit of f32
  Range,     ///< a value outside its range
  Error,     ///< a value further off than its bound
  Constants, ///< the same, but within its bound once constants are taken for what they are rounded
             ///< to
  Broken,    ///< not converted, not run, or not what it was
  Assumed,   ///< overflow or pole where not all is proved: no violation
};
StringRef toString(Verdict verdict);

struct Finding {
  Verdict verdict;
  HostileRecipe recipe;
  std::string format;              ///< f16 or bf16; empty for the graph as it is
  std::string arithmetic;          ///< IEEE, sm_80 or sm_90
  std::string what;                ///< what was seen
  std::string graph;               ///< MLIR text
  std::vector<std::string> inputs; ///< as mp-run's --input takes them

  bool isPole() const { return hostileFamilies()[recipe.family].isPole; }
  /// Writes the graph, with comments that say how to run it.
  std::string reproducer() const;
};

/// Counts of what was checked, and the findings.
struct HostileTally {
  unsigned graphs = 0, runs = 0;
  /// Contractions that f16 is given under proofs, and graphs that have one.
  struct Claim {
    unsigned graphs = 0, narrowGraphs = 0, contractions = 0, narrow = 0;
  };
  std::map<std::pair<std::string, std::string>, Claim> claims; ///< by family and broken hypothesis
  unsigned values = 0, bounded = 0; ///< compared with ranges and error bounds
  unsigned assumed = 0;             ///< graphs that f16 breaks by assumption, as is said of it
  unsigned beyond = 0;              ///< graphs that break where f32 comes near its own limit
  /// Factors that lib/Proofs confirms to be in range, and graphs of which it does not confirm all,
  /// by family.
  unsigned confirmed = 0;
  std::map<std::string, unsigned> unconfirmed;
  std::vector<Finding> findings;

  void add(const HostileTally &other);
  /// Adds up the graphs whose hypotheses hold, or the others.
  Claim sum(bool holds) const;
};

/// Findings that have verdict, format, claim and broken hypothesis in common.
struct FindingClass {
  unsigned count = 0;
  Finding smallest;
};
std::vector<FindingClass> classesOf(const HostileTally &tally);

/// Prints the counts, the number of graphs of each verdict, and a line for each class.
void printTally(llvm::raw_ostream &os, const HostileTally &tally);
/// Prints how much is f16 under proofs, and how many graphs break, by claim and broken hypothesis.
void printClaims(llvm::raw_ostream &os, const HostileTally &tally);

struct HostileOptions {
  std::string proved;   ///< path of the policy that asks for proofs
  unsigned draws = 24;  ///< of arguments
  unsigned checked = 4; ///< draws whose values inside are set against ranges and bounds
  /// Plants a falsehood in the graph that is decided and has ranges, not in the one that arguments
  /// are drawn for, so that tests see it caught; null: none.
  std::function<void(func::FuncOp)> plant = nullptr;
  /// Gives the graph to check in place of a recipe's, of which the seed counts alone; null: none.
  std::function<HostileGraph()> written = nullptr;
};

/// Runs graphs and adds what they show; at most one finding of each verdict and format for a graph.
void checkHostileGraphs(MLIRContext &context, ArrayRef<HostileRecipe> recipes,
                        const HostileOptions &options, HostileTally &tally);

/// Finds a smaller graph that shows the same, as far as leaving out one thing after another and
/// trying other seeds gets.
Finding reduceHostile(MLIRContext &context, const Finding &finding, const HostileOptions &options);

} // namespace mlir::mp::test

#endif // MP_TEST_EXECUTION_HOSTILERUN_H
