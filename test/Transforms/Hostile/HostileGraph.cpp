// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HostileGraph.h"
#include "ClaimWriter.h"
#include "mp/Dialect/MP/MPDialect.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

SmallVector<StringRef> HostileFamily::hypotheses() const {
  SmallVector<StringRef> all;
  for (ArrayRef<StringLiteral> list : lists)
    llvm::append_range(all, list);
  return all;
}

ArrayRef<HostileFamily> mlir::mp::test::hostileFamilies() {
  static const std::vector<HostileFamily> families = [] {
    std::vector<HostileFamily> all;
    addNorms(all);
    addSoftmaxes(all);
    addQuotients(all);
    addClamps(all);
    addMasks(all);
    addFunctions(all);
    addChains(all);
    addPoles(all);
    auto since = [&](uint64_t seed, auto... add) {
      size_t earlier = all.size();
      (add(all), ...);
      for (HostileFamily &family : MutableArrayRef(all).drop_front(earlier))
        family.since = seed;
    };
    since(kLaterSeeds, addIntegers, addUpdates);
    since(kLatestSeeds, addGroups, addIdioms);
    since(kNewestSeeds, addConstants, addThresholds);
    since(kFreshSeeds, addShapes);
    since(kChoiceSeeds, addChoices);
    since(kJumpSeeds, addJumps);
    return all;
  }();
  return families;
}

//===----------------------------------------------------------------------===//
// Recipes
//===----------------------------------------------------------------------===//

template <typename T> static T pick(std::mt19937_64 &random, std::initializer_list<T> from) {
  return *(from.begin() + random() % from.size());
}

/// Picks families of many hypotheses more often, and the last ones that the seed draws from.
static unsigned pickFamily(std::mt19937_64 &random, uint64_t seed) {
  SmallVector<unsigned> tickets;
  uint64_t last = seed >= kJumpSeeds     ? kJumpSeeds
                  : seed >= kChoiceSeeds ? kChoiceSeeds
                  : seed >= kFreshSeeds  ? kFreshSeeds
                  : seed >= kNewestSeeds ? kNewestSeeds
                  : seed >= kLatestSeeds ? kLatestSeeds
                                         : kLaterSeeds;
  for (auto [index, family] : llvm::enumerate(hostileFamilies()))
    if (family.since <= seed)
      tickets.append((2 + family.hypotheses().size() / 8) * (family.since == last ? 8 : 1), index);
  return tickets[random() % tickets.size()];
}

HostileRecipe HostileRecipe::of(uint64_t seed) {
  std::mt19937_64 random(seed);
  auto oneIn = [&](unsigned n) { return random() % n == 0; };
  HostileRecipe recipe;
  recipe.seed = seed;
  bool isLater = seed >= kLaterSeeds;
  recipe.family = pickFamily(random, seed);
  SmallVector<StringRef> hypotheses = hostileFamilies()[recipe.family].hypotheses();
  if (random() % 5 >= 2)
    recipe.broken = hypotheses[random() % hypotheses.size()].str();
  recipe.spelling = pick(random, {Spelling::Tensor, Spelling::Generic, Spelling::Tosa});
  using R = Respelling;
  recipe.respelling = recipe.spelling == Spelling::Tosa
                          ? pick(random, {R::None, R::None, R::TosaToLinalg, R::TosaFused})
                          : pick(random, {R::None, R::None, R::None, R::Fuse, R::Fuse, R::Named,
                                          R::UnitDims, R::Canonicalize});
  if (oneIn(3)) {
    using C = Control;
    recipe.control =
        pick(random, {C::For, C::While, C::If, C::Call, C::CallTwice, C::Blocks, C::Diamond});
    recipe.substitutes = recipe.control == C::CallTwice ||
                         (recipe.broken.empty() && recipe.control != C::Call && oneIn(2));
  }
  using E = Reader;
  recipe.reader = pick(random, {E::Matmul, E::Matmul, E::Right, E::Itself, E::Matvec, E::Batch,
                                E::Convolution, E::Argument, E::Twice});
  recipe.permuted = oneIn(4);
  recipe.dynamic = oneIn(6);
  recipe.detour = oneIn(8);
  recipe.mayNotRun = isLater && oneIn(2);
  return recipe;
}

static StringRef nameOf(Spelling spelling) {
  constexpr StringLiteral names[] = {"tensor", "generic", "tosa"};
  return names[int(spelling)];
}

static StringRef nameOf(Respelling respelling) {
  constexpr StringLiteral names[] = {"as written",           "fused",     "named",
                                     "no unit dims",         "canonical", "tosa-to-linalg",
                                     "tosa-to-linalg, fused"};
  return names[int(respelling)];
}

static StringRef nameOf(Control control) {
  constexpr StringLiteral names[] = {"none", "for",       "while",  "if",
                                     "call", "two calls", "blocks", "diamond"};
  return names[int(control)];
}

static StringRef nameOf(Reader reader) {
  constexpr StringLiteral names[] = {"matmul", "right factor", "itself",   "matvec",
                                     "batch",  "convolution",  "argument", "two products"};
  return names[int(reader)];
}

std::string HostileRecipe::violation() const {
  if (!broken.empty())
    return broken;
  return substitutes ? ("another value under " + nameOf(control)).str() : "";
}

SmallVector<std::string> HostileRecipe::kinds() const {
  SmallVector<std::string> kinds = {
      ("spelled " + nameOf(spelling) + " " + nameOf(respelling)).str()};
  if (control != Control::None)
    kinds.push_back(("under " + nameOf(control)).str());
  if (substitutes)
    kinds.push_back("with another value");
  kinds.push_back(("read by " + nameOf(reader)).str());
  if (permuted)
    kinds.push_back("permuted");
  if (dynamic)
    kinds.push_back("dynamic");
  if (detour)
    kinds.push_back("by a detour");
  if (mayNotRun &&
      (control == Control::For || control == Control::While || control == Control::Blocks))
    kinds.push_back("loops that may not run");
  return kinds;
}

std::string HostileRecipe::str() const {
  std::string text = ("seed " + Twine(seed) + ": " + familyName()).str();
  if (!broken.empty())
    text += ", " + broken;
  for (const std::string &kind : kinds())
    text += ", " + kind;
  return text;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

static void setType(func::FuncOp function) {
  Operation *end = nullptr;
  function.walk([&](func::ReturnOp op) { end = op; });
  function.setType(FunctionType::get(function.getContext(),
                                     function.getBody().front().getArgumentTypes(),
                                     end->getOperandTypes()));
}

HostileGraph mlir::mp::test::buildHostileGraph(MLIRContext *context, const HostileRecipe &recipe) {
  OpBuilder builder(context);
  Location loc = builder.getUnknownLoc();
  HostileGraph graph;
  graph.module = ModuleOp::create(builder, loc);
  builder.setInsertionPointToStart(graph.module->getBody());
  auto function = func::FuncOp::create(builder, loc, "main", builder.getFunctionType({}, {}));
  Block *entry = builder.createBlock(&function.getBody());
  ClaimWriter writer(builder, recipe, *entry);
  Value value = hostileFamilies()[recipe.family].write(writer);
  assert(writer.isBroken() && "the family asks for each of its hypotheses");
  func::ReturnOp::create(builder, loc, writeReaders(writer, value));
  setType(function);
  for (auto [index, range] : llvm::enumerate(writer.getRanges()))
    if (range)
      function.setArgAttr(index, kRangeAttrName,
                          builder.getArrayAttr({builder.getF64FloatAttr(range->first),
                                                builder.getF64FloatAttr(range->second)}));
  graph.dynamicSize = writer.dynamicSize();
  std::mt19937_64 random(recipe.seed + 1);
  if (failed(respell(*graph.module, recipe)))
    llvm::report_fatal_error(Twine("upstream passes failed: ") + recipe.str());
  function = cast<func::FuncOp>(graph.module->lookupSymbol("main"));
  if (recipe.detour)
    addDetour(function, random);
  addControl(function, recipe, random);
  setType(function);
  return graph;
}
