// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Degrees of homogeneity: what becomes of every value of a function when one of them is
// multiplied by s > 0. A value of degree d becomes s^d times what it was.
//
// The function, with the bodies of its ops and of the functions it calls, is read once
// into a flat graph of a few algebraic rules; each question about a source is then a
// pass over that graph. Rounding is ignored: for powers of two it commutes with scaling,
// short of overflow and underflow.

#ifndef MP_ANALYSIS_TRAINING_HOMOGENEITY_H
#define MP_ANALYSIS_TRAINING_HOMOGENEITY_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::mp {

struct ScalingRule;

/// A lattice: `any` below (zeros and infinities, equal to their multiples), the finite
/// degrees beside each other, `top` above (not homogeneous).
class Degree {
public:
  static Degree any() { return Degree(Kind::Any, 0); }
  static Degree top() { return Degree(Kind::Top, 0); }
  static Degree of(double d) { return Degree(Kind::Finite, d); }
  Degree() : Degree(Kind::Finite, 0) {}

  bool isAny() const { return kind == Kind::Any; }
  bool isTop() const { return kind == Kind::Top; }
  /// Unaffected by the source.
  bool isConstant() const { return kind == Kind::Any || (kind == Kind::Finite && value == 0); }
  /// Scaled by a known, non-trivial power.
  bool isScaled() const { return kind == Kind::Finite && value != 0; }
  bool is(double d) const { return kind == Kind::Finite && value == d; }
  double get() const { return value; }
  bool operator==(const Degree &other) const { return kind == other.kind && value == other.value; }
  std::string str() const;

  friend Degree join(Degree a, Degree b);
  friend Degree product(Degree a, Degree b);
  friend Degree power(Degree a, double exponent);

private:
  enum class Kind : uint8_t { Any, Finite, Top };
  Degree(Kind kind, float value) : value(value), kind(kind) {}
  float value;
  Kind kind;
};

Degree join(Degree a, Degree b);
Degree product(Degree a, Degree b);
Degree quotient(Degree a, Degree b);
Degree power(Degree a, double exponent);

class HomogeneityGraph {
public:
  /// Reads a function of one block.
  explicit HomogeneityGraph(FunctionOpInterface function);

  /// The degrees of all values in one source.
  class Degrees {
  public:
    /// Returns the degree of a value in the function's own block, or of a body.
    Degree of(Value value) const;
    /// True if some value inside `op`, an op of the function's block, is not homogeneous.
    bool loses(Operation *op) const { return losing.contains(op); }
    /// Contractions of degree 1.
    unsigned scaledContractions() const { return contractions; }
    /// A contraction that is not homogeneous and may not lie beyond the seed, or null.
    Operation *lostContraction() const { return lost; }

  private:
    friend class HomogeneityGraph;
    const HomogeneityGraph *graph = nullptr;
    SmallVector<unsigned, 1> sources;
    std::vector<Degree> degrees;
    llvm::DenseSet<Operation *> losing;
    unsigned contractions = 0;
    Operation *lost = nullptr;
    std::optional<unsigned>
        results; ///< tensors returned that a source leads to, where contractions may lie beyond
    // More sources are still looked for here.
    bool isOpen = false;
    std::optional<unsigned>
        missing;                   ///< the first that is added to a scaled value, not scaled itself
    llvm::DenseSet<unsigned> ends; ///< values that are unaffected, whatever they are computed from
  };

  /// Lists the contractions that may lie beyond what a seed scales.
  enum class Beyond : uint8_t {
    None,
    Optimizer, ///< those that lead to fewer results than the seed: of an optimizer, parameter by
               ///< parameter
  };

  /// Multiplies each of `sources` by the same number and follows it up to `ends`, which an
  /// optimizer keeps from being affected. With `stopWhenLost`, stops at the first contraction that
  /// is not homogeneous, and may not lie beyond.
  Degrees propagate(ArrayRef<Value> sources, bool stopWhenLost = false,
                    Beyond beyond = Beyond::None, ArrayRef<Value> ends = {}) const;

  /// The f32 tensor, here or in a loop, whose degree-1 cone holds most contractions while no other
  /// contraction than `beyond` says lies beyond it; of several, one that moves most results and
  /// depends on a contraction itself, and of those the latest. Null if no value scales a
  /// contraction. To move a scalar that is returned is a merit only if it is among `trained`:
  /// others are losses and measures. `ends` as in propagate(); only what reaches one of them is a
  /// seed then. None of `excluded` is.
  Value findSeed(ArrayRef<Value> trained = {}, Beyond beyond = Beyond::None,
                 ArrayRef<Value> ends = {}, ArrayRef<Value> excluded = {}) const;
  /// Several that together do: those of a step with several losses. What one of them scales is
  /// added to what the others scale. None of `excluded` is one. Empty if there are none.
  SmallVector<Value> findSeeds(Beyond beyond = Beyond::None, ArrayRef<Value> ends = {},
                               ArrayRef<Value> excluded = {}) const;

  /// True if what is computed from a contraction, and not from the seeds alone, is added to what
  /// they scale: a gradient of another loss.
  bool leavesLoss(ArrayRef<Value> seeds) const;

  unsigned numContractions() const { return contractionCount; }
  /// True if a contraction is computed from the value.
  bool reachesContraction(Value value) const;

private:
  enum class Rule : uint8_t {
    Leaf,     ///< depends on no other value
    Any,      ///< zero, infinity or undefined
    Join,     ///< sum, maximum, choice, move
    Product,  ///< of the first two operands
    Contract, ///< sum of products of the first two, joined with the rest
    Quotient, ///< of the first two operands
    Power,    ///< of the first operand, by a constant
    Compare,  ///< of operands of one degree: unaffected
    Opaque,   ///< unaffected only if every operand is
  };
  struct Node {
    Rule rule;
    float exponent = 0;
    unsigned firstOperand = 0, numOperands = 0;
    unsigned numConditions = 0; ///< leading operands that must be unaffected
    Operation *op = nullptr;    ///< of the function's block
  };
  /// Nodes [begin, end) repeat until carried degrees settle.
  struct Loop {
    unsigned begin, end;
  };

  unsigned add(Rule rule, ArrayRef<unsigned> operands, ArrayRef<unsigned> conditions = {},
               float exponent = 0);
  /// A node that also takes a value computed later, given by `close`.
  unsigned addCarried(unsigned initial);
  void close(unsigned carried, unsigned later);
  void finishLoop(unsigned begin);
  unsigned nodeOf(Value value);
  void bind(Value value, unsigned node) { nodes[value] = node; }

  void visitBlock(Block &block);
  void visit(Operation *op);
  bool visitStructured(Operation *op);
  bool visitControlFlow(Operation *op);
  void visitWhile(Operation *op, Region &before, Region &after, ValueRange inits);
  bool visitCall(Operation *op);
  bool visitMP(Operation *op);
  bool visitByMeaning(Operation *op);
  /// The graph's rule for a rule of scaling; none where nothing is known.
  static std::optional<Rule> ruleOf(const ScalingRule &rule);
  void visitOpaque(Operation *op);
  SmallVector<unsigned> conditionsOf(Operation *op);
  SmallVector<unsigned> floatsOf(Operation *op);
  void bindResults(Operation *op, unsigned node);

  Degree evaluate(const Node &node, ArrayRef<Degree> degrees) const;
  /// Returns the degree of node `i` in `state`, which may be one of its sources.
  Degree advance(Degrees &state, unsigned i) const;
  std::optional<unsigned> findUnscaled(const Node &node, ArrayRef<Degree> degrees) const;
  void settle(Degrees &state, const Loop &loop) const;
  void follow(Degrees &state, ArrayRef<Value> sources, bool stopWhenLost) const;
  /// Values that may be a seed, the latest first; of those that lead to `ends`, where there are
  /// any.
  SmallVector<std::pair<unsigned, Value>> seedCandidates(ArrayRef<Value> ends = {}) const;
  /// Says of each node whether a contraction is computed from it, not by way of `ends`, and it from
  /// one.
  std::vector<bool> reachContractions(ArrayRef<Value> ends = {}) const;
  std::vector<bool> dependOnContractions() const;
  /// Marks, from the last node on, what `reaches` holds of and what its operands lead to.
  void markOperands(std::vector<bool> &reaches, llvm::function_ref<bool(unsigned)> isSource,
                    const std::vector<bool> &isEnd) const;
  /// Lists for each node the tensors returned that are computed from it.
  const std::vector<llvm::BitVector> &resultsReached() const;
  unsigned countResults(ArrayRef<unsigned> from) const;

  Block *block;
  Operation *current = nullptr; ///< op of the function's block that is being read
  std::vector<Node> graph;
  std::vector<unsigned> operandPool;
  std::vector<Loop> loops; ///< outermost only, in order
  unsigned loopDepth = 0;
  llvm::DenseMap<Value, unsigned> nodes;
  llvm::DenseMap<unsigned, unsigned> carriedFrom;
  std::vector<Degree> baseline;
  std::vector<bool> dependOnContraction;        ///< of each node
  mutable std::vector<llvm::BitVector> results; ///< of each node; empty until asked for
  SmallVector<Operation *> callStack;
  unsigned contractionCount = 0;
};

} // namespace mlir::mp

#endif // MP_ANALYSIS_TRAINING_HOMOGENEITY_H
