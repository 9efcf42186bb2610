// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Problems and answers as JSON, so that any other solver can be set against ours.
//
//   { "schema": "mp-assignment-problem", "version": 1,
//     "types": ["f32", "bf16"],                          from widest to narrowest
//     "values": [{"name": "x", "constant": false,        constant values cast for free, uncounted
//                 "casts": [{"from": "f32", "to": "bf16", "cost": 3}]}],
//     "nodes": [{"name": "mm", "operands": [0], "results": [1],   indices of values
//                "frequency": 1, "pinned": 0,                     pinned: optional variant index
//                "variants": [{"name": "bf16", "in": ["bf16"], "out": ["f32"],   "any" in "in": no
//                cast
//                              "cost": 10, "error": 2}]}],
//     "ties": [[3, 4]],                                 nodes with equal variant index
//     "error_budget": 100, "cost_budget": 100,           at most one of the two, both optional
//     "answer": {"labels": [0], "cost": 10, "casts": 1, "error": 2, "lower_bound": 10,
//                "proven_optimal": true, "method": "min-cut",
//                "copies": [{"value": 0, "from": "f32", "to": "bf16"}],
//                "certificate": {"objective": {"cost": "1", "casts": "0", "error": "0"},
//                                "bound": "10",              integers of up to 128 bits as text
//                                "multipliers": [[3, "result", 0, "bf16", "-7"]]}} }  both optional
//
// A multiplier [node, "result" or "operand", index, type, amount] is added to every variant of the
// node whose port has the type, and given to the value at that port; see Bound.h for what that
// proves.
//
// An assignment picks one variant per node. It costs the sum of variant cost times node frequency,
// plus, for each value and each type that some operand reads and that is not the stored one, the
// cast cost times the frequency of the defining node, once. Minimise cost (error under a cost
// budget).

#ifndef MP_ASSIGNMENT_PROBLEMJSON_H
#define MP_ASSIGNMENT_PROBLEMJSON_H

#include "mp/Assignment/Solve.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mpcore::assignment {

/// Writes the problem, and the answer when given, one node or value per line.
void writeProblem(const Problem &problem, const Solution *answer, llvm::raw_ostream &os);

struct ProblemFile {
  Problem problem;
  std::optional<Solution> answer; ///< as claimed: checkAnswer() verifies it
};

/// Reads and validates. Errors name the JSON path or the node at fault.
llvm::Expected<ProblemFile> readProblem(llvm::StringRef text);

} // namespace mpcore::assignment

#endif // MP_ASSIGNMENT_PROBLEMJSON_H
