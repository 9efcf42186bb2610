// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same decision for every op when independent ops change places: random graphs, and files that
// MP_ORDER_FILES lists line by line, with their blocks in another order that definitions allow.

#include "RandomGraph.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Transforms/Assign/Passes.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <iostream>

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

constexpr llvm::StringLiteral kTag = "test.tag"; // nested modules take prefixed names alone

void tagOps(ModuleOp module) {
  int64_t next = 0;
  module.walk([&](Operation *op) {
    if (op != module)
      op->setAttr(kTag, IntegerAttr::get(IndexType::get(op->getContext()), next++));
  });
}

/// Returns the ops of the block that `op` needs, itself or in its regions.
llvm::SmallPtrSet<Operation *, 8> neededBy(Operation *op, Block *block) {
  llvm::SmallPtrSet<Operation *, 8> needed;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (Operation *def = operand.getDefiningOp())
        if (Operation *here = block->findAncestorOpInBlock(*def); here && here != op)
          needed.insert(here);
  });
  return needed;
}

/// Another order that definitions allow, at random. Returns how many ops moved.
unsigned shuffle(Block *block, std::mt19937_64 &random) {
  std::vector<Operation *> waiting;
  for (Operation &op : block->without_terminator())
    waiting.push_back(&op);
  std::vector<Operation *> before = waiting;
  llvm::SmallPtrSet<Operation *, 32> placed;
  std::vector<Operation *> order;
  while (!waiting.empty()) {
    std::vector<size_t> ready;
    for (auto [index, op] : llvm::enumerate(waiting))
      if (llvm::all_of(neededBy(op, block), [&](Operation *def) { return placed.contains(def); }))
        ready.push_back(index);
    size_t chosen = ready[random() % ready.size()];
    order.push_back(waiting[chosen]);
    placed.insert(waiting[chosen]);
    waiting.erase(waiting.begin() + chosen);
  }
  unsigned moved = 0;
  for (auto [was, is] : llvm::zip_equal(before, order))
    moved += was != is;
  for (Operation *op : order)
    op->moveBefore(block, std::prev(block->end()));
  return moved;
}

/// Decisions by tag, as text.
std::map<int64_t, std::string> decide(ModuleOp module, uint64_t seed) {
  static constexpr ContractionFormat kFormats[] = {ContractionFormat::BF16, ContractionFormat::F16};
  AssignPrecisionOptions options;
  options.format = kFormats[seed % 2];
  options.objective = seed % 4 < 2 ? Objective::Time : Objective::Memory;
  options.neverSlower = seed % 3 == 0;
  PassManager manager(module.getContext());
  manager.addPass(createAssignPrecision(options));
  EXPECT_TRUE(succeeded(manager.run(module)));
  std::map<int64_t, std::string> decisions;
  module.walk([&](Operation *op) {
    if (auto precision = op->getAttrOfType<PrecisionAttr>(kPrecisionAttrName))
      llvm::raw_string_ostream(decisions[op->getAttrOfType<IntegerAttr>(kTag).getInt()])
          << op->getName() << " " << precision;
  });
  return decisions;
}

TEST(Order, OfIndependentOpsChangesNoDecision) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  unsigned moved = 0, narrow = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    auto module = RandomGraph(&context, seed).build(4 + seed % 37);
    tagOps(*module);
    OwningOpRef<ModuleOp> shuffled = module->clone();
    std::mt19937_64 random(seed);
    for (auto function : shuffled->getOps<func::FuncOp>())
      for (Block &block : function.getBody())
        moved += shuffle(&block, random);
    ASSERT_TRUE(succeeded(verify(*shuffled))) << "seed " << seed;
    std::map<int64_t, std::string> expected = decide(*module, seed),
                                   found = decide(*shuffled, seed);
    for (auto &[tag, decision] : expected) {
      EXPECT_EQ(decision, found[tag]) << "seed " << seed;
      narrow += StringRef(decision).contains("compute = ") &&
                !StringRef(decision).contains("compute = f32");
    }
    EXPECT_EQ(expected.size(), found.size()) << "seed " << seed;
    if (HasFailure())
      break;
  }
  EXPECT_GE(moved, 2000u);
  EXPECT_GE(narrow, 100u); // else nothing was at stake
}

/// tools/dev/sweep/same-decisions.py says which files.
TEST(Order, OfIndependentOpsChangesNoDecisionInFiles) {
  const char *list = std::getenv("MP_ORDER_FILES");
  if (!list)
    GTEST_SKIP() << "MP_ORDER_FILES names no files";
  auto names = llvm::MemoryBuffer::getFile(list);
  ASSERT_TRUE(names) << list;
  unsigned moved = 0, graphs = 0, unread = 0;
  for (llvm::line_iterator name(**names); !name.is_at_end(); ++name) {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    loadDialects(context);
    context.allowUnregisteredDialects();
    auto module = parseSourceFile<ModuleOp>(*name, ParserConfig(&context));
    if (!module) { // of dialects that are not loaded here
      ++unread;
      continue;
    }
    tagOps(*module);
    OwningOpRef<ModuleOp> shuffled = module->clone();
    std::mt19937_64 random(graphs);
    unsigned before = moved;
    for (auto function : shuffled->getOps<func::FuncOp>())
      for (Block &block : function.getBody())
        moved += shuffle(&block, random);
    ASSERT_TRUE(succeeded(verify(*shuffled))) << name->str();
    for (uint64_t way : {0, 1, 2})
      EXPECT_EQ(decide(*OwningOpRef<ModuleOp>(module->clone()), way),
                decide(*OwningOpRef<ModuleOp>(shuffled->clone()), way))
          << name->str();
    graphs += moved > before;
  }
  std::cout << graphs << " graphs, " << moved << " ops moved, " << unread << " files not read\n";
}

} // namespace
