// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Explains why a decision is what it is: the story of one op, and a remark for each.

#ifndef MP_LIB_TRANSFORMS_ASSIGN_EXPLANATION_H
#define MP_LIB_TRANSFORMS_ASSIGN_EXPLANATION_H

#include "Decisions.h"

namespace mlir::mp {

/// Suggests what the user could do about a contraction that stayed wide; empty if there is nothing
/// to do.
std::string suggestChange(const Decision &decision, FloatType narrow);

/// One remark per op whose operands or results changed format, and per contraction left wide, in
/// program order. Silent unless remarks are asked for (--remarks-filter).
void emitRemarks(FunctionDecisions &decisions, const AssignSettings &settings);

/// The whole story of the ops at one place: each layer asked and what it said, what is stored in
/// which format, and the casts that follow.
class Explanation {
public:
  /// `where`: FILE:LINE[:COLUMN] or its end (:LINE), a location's name or the modules it begins
  /// with, or @FUNCTION:ORDINAL.
  explicit Explanation(StringRef where) : where(where) {}

  /// Looks for the ops of a function; the layers are told of afterwards, those of several functions
  /// in any order.
  void begin(FunctionDecisions &decisions);
  /// Notes what `layer` has changed since the last call.
  void after(StringRef layer, FunctionDecisions &decisions);
  /// Adds the outcome of this function to the story.
  void end(FunctionDecisions &decisions, const AssignSettings &settings);

  /// The story of all functions, or an error naming the nearest place if no op was found.
  llvm::Expected<std::string> finish() const;

private:
  struct Chapter {
    Operation *op;
    int64_t ordinal;
    std::optional<Origin> origin;
    std::string heard; ///< lines, one per layer
  };
  bool isHere(Operation *op, StringRef function, int64_t ordinal);
  void noteNearest(Operation *op, StringRef key, StringRef place);

  std::string where, story, nearest;
  std::pair<bool, unsigned> nearestScore;                     ///< another file or name, and how far
  llvm::DenseMap<Operation *, SmallVector<Chapter>> chapters; ///< by function
};

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_ASSIGN_EXPLANATION_H
