// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small graphs made to break proofs: what f16 decisions, ranges and certified errors rest on are
// lemmas about values that belong together (x - max x <= 0, x / sum x <= 1, |x| rsqrt(mean x^2 + e)
// <= sqrt n), and each lemma has hypotheses. A family makes values of which one lemma holds, or of
// which exactly one hypothesis of it does not. All ends in a contraction, so that the value must be
// decided. Equal recipes give equal graphs.

#ifndef MP_TEST_TRANSFORMS_HOSTILE_HOSTILEGRAPH_H
#define MP_TEST_TRANSFORMS_HOSTILE_HOSTILEGRAPH_H

#include "TensorWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <random>

namespace mlir::mp::test {

class ClaimWriter;

/// A claim about a value, and its hypotheses.
struct HostileFamily {
  StringLiteral name;
  /// Writes the value, of which the claim holds unless the builder breaks a hypothesis.
  Value (*write)(ClaimWriter &);
  /// Lists of hypotheses, some of which families share.
  SmallVector<ArrayRef<StringLiteral>, 4> lists;
  /// The value is not bounded by a lemma: it is a contraction's result, which rounding may push
  /// onto the pole of what reads it.
  bool isPole = false;
  /// Families that were added after graphs of many seeds were recorded are drawn from this seed on.
  uint64_t since = 0;

  SmallVector<StringRef> hypotheses() const;
};

ArrayRef<HostileFamily> hostileFamilies();

/// Seeds from here on draw from families that came later, too, those from each further number on
/// from yet more; so the graphs of recorded seeds stay what they were.
inline constexpr uint64_t kLaterSeeds = 1'000'000, kLatestSeeds = 10'000'000,
                          kNewestSeeds = 100'000'000, kFreshSeeds = 1'000'000'000,
                          kChoiceSeeds = 10'000'000'000, kJumpSeeds = 100'000'000'000;

/// Upstream passes rewrite the graph in one of these ways before it is converted.
enum class Respelling { None, Fuse, Named, UnitDims, Canonicalize, TosaToLinalg, TosaFused };
/// A part of the graph is repeated, chosen or called.
enum class Control { None, For, While, If, Call, CallTwice, Blocks, Diamond };
/// A contraction of one of these kinds reads the value.
enum class Reader { Matmul, Right, Itself, Matvec, Batch, Convolution, Argument, Twice };

struct HostileRecipe {
  uint64_t seed = 0; ///< of sizes, constants, variants and arguments
  unsigned family = 0;
  std::string broken; ///< hypothesis; empty where all hold
  Spelling spelling = Spelling::Tensor;
  Respelling respelling = Respelling::None;
  Control control = Control::None;
  /// The part under control is also run on another value than the one it was made for.
  bool substitutes = false;
  Reader reader = Reader::Matmul;
  bool permuted = false;  ///< loops of generic ops
  bool dynamic = false;   ///< the first dimension, where the family allows it
  bool detour = false;    ///< a value is moved to and fro
  bool mayNotRun = false; ///< loops run as often as an argument says, perhaps never

  /// Draws the recipe of a seed.
  static HostileRecipe of(uint64_t seed);
  StringRef familyName() const { return hostileFamilies()[family].name; }
  /// "epsilon negative", "another value under for", or "" for a graph of which all hypotheses hold.
  std::string violation() const;
  /// "spelled tosa fused", "under while", "read by matmul", ...
  SmallVector<std::string> kinds() const;
  std::string str() const;
};

struct HostileGraph {
  OwningOpRef<ModuleOp> module;
  int64_t dynamicSize = 1; ///< of `?`
};

/// Builds one public function @main and what it calls.
HostileGraph buildHostileGraph(MLIRContext *context, const HostileRecipe &recipe);

/// Loads the dialects that graphs use, and what running them needs.
void loadHostileDialects(MLIRContext &context);

} // namespace mlir::mp::test

#endif // MP_TEST_TRANSFORMS_HOSTILE_HOSTILEGRAPH_H
