// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layers of decision, in order, over the functions of a module.

#ifndef MP_LIB_TRANSFORMS_ASSIGN_MODULEDECIDER_H
#define MP_LIB_TRANSFORMS_ASSIGN_MODULEDECIDER_H

#include "Explanation.h"
#include "Replay.h"
#include "mp/Transforms/Assign/Passes.h"
#include <deque>

namespace mlir::mp {

/// Decides one module after the other by the same settings. `replay`, `explanation` and `listener`
/// may be null.
class ModuleDecider {
public:
  ModuleDecider(const AssignSettings &settings, const Replay *replay, Explanation *explanation,
                const PlacementListener &listener, bool namesFormat)
      : settings(settings), replay(replay), explanation(explanation), listener(listener),
        namesFormat(namesFormat) {}

  /// Decides the functions of `module`, those of modules in it aside: first what computes how, then
  /// what control flow and private functions carry, then every storage.
  LogicalResult decide(ModuleOp module);

  bool hasDecided() const { return decided; }
  bool hasCopied() const { return copied; } ///< functions

private:
  LogicalResult copyFunctions(ModuleOp module);
  LogicalResult collect(ModuleOp module, const CarriedStorage &carried, ModuleRanges &ranges,
                        std::deque<FunctionDecisions> &functions);
  LogicalResult decideFunction(FunctionDecisions &decisions);
  LogicalResult decideStorage(FunctionDecisions &decisions);
  void announce(FunctionDecisions &decisions, double calls);
  void tell(StringRef layer, FunctionDecisions &decisions) {
    if (explanation)
      explanation->after(layer, decisions);
  }

  const AssignSettings &settings;
  const Replay *replay;
  Explanation *explanation;
  const PlacementListener &listener;
  bool namesFormat; ///< the format was asked for, so functions converted to another are an error
  bool decided = false, copied = false;
};

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_ASSIGN_MODULEDECIDER_H
