// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Families write graphs with ClaimWriter: it knows the broken hypothesis, makes arguments, and
// writes the parts that many claims share.

#ifndef MP_TEST_TRANSFORMS_HOSTILE_CLAIMWRITER_H
#define MP_TEST_TRANSFORMS_HOSTILE_CLAIMWRITER_H

#include "HostileGraph.h"

namespace mlir::mp::test {

using Bounds = std::pair<double, double>;

/// A statistic is taken of one tensor and applied to one: the same, along the same dimensions,
/// unless that is the hypothesis that is broken.
struct Pair {
  Value of, to;
  TensorWriter::Dims over;  ///< dimensions of `of` that are reduced
  TensorWriter::Dims along; ///< dimensions of `to` that the statistic is spread along
  bool isOne() const { return of == to && over == along; }
};

class ClaimWriter : public TensorWriter {
public:
  ClaimWriter(OpBuilder &builder, const HostileRecipe &recipe, Block &entry)
      : TensorWriter(builder, recipe.spelling), recipe(recipe), entry(entry), random(recipe.seed) {
    if (recipe.permuted)
      permuteLoops();
  }

  const HostileRecipe &getRecipe() const { return recipe; }
  /// Returns true if `hypothesis` is the one that this graph breaks.
  bool breaks(StringRef hypothesis);
  bool breaksAny(ArrayRef<StringLiteral> hypotheses);
  /// Returns true once the broken hypothesis was asked for.
  bool isBroken() const { return found || recipe.broken.empty(); }

  // Random choices.
  unsigned below(unsigned limit) { return random() % limit; }
  bool oneIn(unsigned n) { return below(n) == 0; }
  template <typename T> T pick(std::initializer_list<T> from) {
    return *(from.begin() + below(from.size()));
  }
  int64_t size() { return pick<int64_t>({1, 2, 2, 3, 3, 4, 4, 5, 6, 7}); }
  Dims matrix() { return {size(), size()}; }

  // Arguments.
  Value argument(ArrayRef<int64_t> shape, std::optional<Bounds> range = {});
  Value argumentOf(Type type, std::optional<Bounds> range = {});
  /// Adds an argument of the type of `like`, or finds an earlier one.
  Value another(Value like);
  /// Makes a tensor of rank 2 to 4 and chooses the dimensions that make a group.
  Pair pair();
  /// Makes a matrix of which nothing is known, perhaps of dynamic size.
  Value anything();
  bool isDynamic() const { return recipe.dynamic && getSpelling() != Spelling::Tosa; }
  ArrayRef<std::optional<Bounds>> getRanges() const { return ranges; }
  int64_t dynamicSize() { return sizeOfDynamic; }

  // Claims share these parts, whose hypotheses are listed below.
  Value spreadTo(const Pair &pair, Value statistic);
  Value mean(Value x, ArrayRef<int64_t> over);
  Value sum(Value x, ArrayRef<int64_t> over);
  Value withEpsilon(Value x);
  /// Divides x by the root of `square`, a statistic, in one of several ways.
  Value overRoot(const Pair &pair, Value x, Value square);
  /// Multiplies x by a gain and adds a shift, or returns x.
  Value affine(Value x);
  /// Makes a constant of small numbers that bf16 holds, zeros among them.
  Value weights(ArrayRef<int64_t> shape);

private:
  const HostileRecipe &recipe;
  Block &entry;
  std::mt19937_64 random;
  SmallVector<std::optional<Bounds>> ranges;
  int64_t sizeOfDynamic = 1;
  bool found = false;
};

// Hypotheses of the parts, for tables of families.
extern const ArrayRef<StringLiteral> kPairHypotheses, kEpsilonHypotheses, kCountHypotheses,
    kSumHypotheses, kAffineHypotheses;

// Each file adds its families.
void addNorms(std::vector<HostileFamily> &families);
void addSoftmaxes(std::vector<HostileFamily> &families);
void addQuotients(std::vector<HostileFamily> &families);
void addClamps(std::vector<HostileFamily> &families);
void addMasks(std::vector<HostileFamily> &families);
void addFunctions(std::vector<HostileFamily> &families);
void addChains(std::vector<HostileFamily> &families);
void addPoles(std::vector<HostileFamily> &families);
void addIntegers(std::vector<HostileFamily> &families);
void addUpdates(std::vector<HostileFamily> &families);
void addGroups(std::vector<HostileFamily> &families);
void addIdioms(std::vector<HostileFamily> &families);
void addConstants(std::vector<HostileFamily> &families);
void addThresholds(std::vector<HostileFamily> &families);
void addShapes(std::vector<HostileFamily> &families);
void addChoices(std::vector<HostileFamily> &families);
void addJumps(std::vector<HostileFamily> &families);

/// Writes one or two contractions of `value`, as the recipe says, and returns the results of @main.
SmallVector<Value> writeReaders(ClaimWriter &builder, Value value);

/// Rewrites @main by upstream passes.
LogicalResult respell(ModuleOp module, const HostileRecipe &recipe);
/// Moves a value to and fro.
void addDetour(func::FuncOp function, std::mt19937_64 &random);
/// Puts a part of @main under control.
void addControl(func::FuncOp function, const HostileRecipe &recipe, std::mt19937_64 &random);

} // namespace mlir::mp::test

#endif // MP_TEST_TRANSFORMS_HOSTILE_CLAIMWRITER_H
