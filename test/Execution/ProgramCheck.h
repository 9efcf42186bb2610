// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole random programs through everything: decided, converted, erased, lowered further by passes
// in random order, run, and compared.
//
// A program is a random graph with control flow, calls and dynamic sizes that calls idioms whose
// axes are mixed (the hostile graphs), or a small model of mp-gen, often a train step. Of each it
// is checked that
// - a conversion keeps its promises (convertAndCheck: the result verifies, erases, is the same each
//   time, is left alone by a second conversion, and survives text and bytecode),
// - passes that call themselves exact, in any order, keep every bit of the result,
// - on each draw of arguments every value inside lies in its range, and where it was rounded within
//   its certified error of what f64 gives.

#ifndef MP_TEST_EXECUTION_PROGRAMCHECK_H
#define MP_TEST_EXECUTION_PROGRAMCHECK_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace mlir::mp::test {

/// Says how a seed's program is made and what is done with it. Equal seeds give equal recipes.
struct ProgramRecipe {
  uint64_t seed = 0;
  std::string model;               ///< words of mp-gen; empty for a random graph
  unsigned size = 0;               ///< ops of a random graph, or so
  std::vector<uint64_t> idioms;    ///< seeds of the hostile graphs it calls
  std::string format;              ///< bf16, f16, tf32, e4m3, or one of split products
  std::vector<std::string> passes; ///< exact ones, in their order, after conversion
  static ProgramRecipe of(uint64_t seed);
  std::string str() const;
};

OwningOpRef<ModuleOp> buildProgram(MLIRContext &context, const ProgramRecipe &recipe);

struct ProgramFinding {
  ProgramRecipe recipe;
  std::string what;
};

/// Counts of what was checked.
struct ProgramTally {
  unsigned programs = 0;
  unsigned models = 0;  ///< of those, models of mp-gen
  unsigned ran = 0;     ///< of those, compiled, run and compared
  unsigned unrun = 0;   ///< that the host cannot run as they are, nor converted
  unsigned casts = 0;   ///< programs that conversion gives casts
  unsigned lowered = 0; ///< of which passes in random order kept every bit
  unsigned refused = 0; ///< of which a pass refused its turn, in words
  unsigned values = 0;  ///< held to ranges and certified errors
  unsigned bounded = 0; ///< of which something finite is said
  std::vector<ProgramFinding> findings;
};

/// Checks one program; what is not so is added to the findings. A crash is a finding, too.
void checkProgram(MLIRContext &context, const ProgramRecipe &recipe, ProgramTally &tally);

/// Loads what programs and running them need.
void loadProgramDialects(MLIRContext &context);

} // namespace mlir::mp::test

#endif // MP_TEST_EXECUTION_PROGRAMCHECK_H
