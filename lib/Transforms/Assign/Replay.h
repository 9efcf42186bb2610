// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of an earlier run taken as the policy of this one: every decision as it was, or as the
// user has edited it.

#ifndef MP_LIB_TRANSFORMS_ASSIGN_REPLAY_H
#define MP_LIB_TRANSFORMS_ASSIGN_REPLAY_H

#include "Decisions.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::mp {

class Replay {
public:
  /// Reads the rows of a report; `file` is its name in messages.
  static llvm::Expected<Replay> read(StringRef text, StringRef file);

  /// Copies the private functions of `module` that the report has copies of, and lets the same
  /// calls call them.
  LogicalResult makeCopies(ModuleOp module) const;

  /// Decides every op and argument of the function as the report says. An error if the report does
  /// not know the function, speaks of another version of it, or asks for what an op cannot do.
  LogicalResult apply(FunctionDecisions &decisions) const;
  /// Adds the results that the report stores in other formats to what the module carries.
  LogicalResult chooseResults(FunctionDecisions &decisions, CarriedStorage &carried) const;

private:
  struct Row {
    std::string op, compute, acc, by, reason, evidence;
    std::vector<std::string> out;
    std::vector<double> magnitudes; ///< of what is scaled
  };
  struct Function {
    std::string hash;
    std::vector<std::string> arguments; ///< the format each is stored in
    std::vector<std::string> results;   ///< the same; empty where none changes
    std::vector<Row> rows;              ///< by ordinal
    std::string copyOf;                 ///< the function this one is a copy of; else empty
    /// The callers of the copy: a function, and which of its calls of the original and all copies.
    std::vector<std::pair<std::string, int64_t>> calls;
  };

  LogicalResult applyArguments(ArrayRef<std::string> storages, FunctionDecisions &decisions) const;
  LogicalResult applyRow(const Row &row, FunctionDecisions &decisions, Operation *op,
                         Decision &decision) const;

  std::string file;
  llvm::StringMap<Function> functions;
  std::vector<std::string> names; ///< of functions, in order
};

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_ASSIGN_REPLAY_H
