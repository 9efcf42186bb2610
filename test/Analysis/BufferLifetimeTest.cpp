// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First and last use of a buffer under its own name, through views, loops and branches; what leaves
// the block has no last use.

#include "mp/Analysis/BufferLifetime.h"
#include "AnalysisTest.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

struct BufferLifetimeTest : testing::Test, AnalysisContext {
  BufferLifetimeTest() { context.loadDialect<memref::MemRefDialect, cf::ControlFlowDialect>(); }

  /// The lifetime of the buffer %a in @main(%x, %p, %n, %c), of which `body` makes use.
  BufferLifetime of(StringRef body, StringRef returned = "return") {
    module = parse((R"(
func.func private @take(memref<4xf32>)
func.func @main(%x: memref<4xf32>, %p: memref<memref<4xf32>>, %n: index, %c: i1) RESULT {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = memref.alloc() {tag} : memref<4xf32>
  )" + body + "\n  " +
                    returned + "\n}")
                       .str());
    return BufferLifetime(cast<memref::AllocOp>(findTagged("tag")));
  }
  OwningOpRef<ModuleOp> parse(const std::string &text) {
    std::string whole = text;
    bool returns = StringRef(text).contains("return %");
    whole.replace(whole.find("RESULT"), 6, returns ? "-> memref<4xf32>" : "");
    return AnalysisContext::parse(whole);
  }
  Operation *findTagged(StringRef tag) {
    Operation *found = nullptr;
    getMain(*module)->walk([&](Operation *op) {
      if (op->hasAttr(tag))
        found = op;
    });
    return found;
  }

  OwningOpRef<ModuleOp> module;
};

const char *const kWrite = "linalg.exp {first} ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)\n";
const char *const kRead = "linalg.exp {last} ins(%a : memref<4xf32>) outs(%x : memref<4xf32>)\n";

TEST_F(BufferLifetimeTest, RunsFromTheFirstUseToTheLast) {
  BufferLifetime found = of(std::string(kWrite) + kRead + R"(
  %b = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%b : memref<4xf32>))");
  EXPECT_FALSE(found.escapes || found.isReturned);
  EXPECT_EQ(found.first, findTagged("first"));
  EXPECT_EQ(found.last, findTagged("last"));
}

TEST_F(BufferLifetimeTest, OfABufferThatNobodyUsesIsItsAllocation) {
  BufferLifetime found = of("");
  EXPECT_FALSE(found.escapes);
  EXPECT_EQ(found.first, findTagged("tag"));
  EXPECT_EQ(found.last, findTagged("tag"));
}

/// A view is another name; making one touches nothing.
TEST_F(BufferLifetimeTest, GoesThroughViews) {
  BufferLifetime found = of(R"(
  %v = memref.expand_shape %a [[0, 1]] output_shape [2, 2] : memref<4xf32> into memref<2x2xf32>
  %w = memref.subview %v[0, 0] [1, 2] [1, 1] : memref<2x2xf32> to memref<1x2xf32, strided<[2, 1]>>
  linalg.exp {first} ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  %r = memref.load %w[%zero, %one] {last} : memref<1x2xf32, strided<[2, 1]>>)");
  EXPECT_FALSE(found.escapes);
  EXPECT_EQ(found.first, findTagged("first"));
  EXPECT_EQ(found.last, findTagged("last"));
}

/// In a loop, the last trip is as good as any: the loop as a whole is the use.
TEST_F(BufferLifetimeTest, EndsBehindTheLoopThatReadsIt) {
  BufferLifetime found = of(std::string(kWrite) + R"(
  scf.for %i = %zero to %n step %one {
    linalg.exp ins(%a : memref<4xf32>) outs(%x : memref<4xf32>)
  } {last})");
  EXPECT_FALSE(found.escapes);
  EXPECT_EQ(found.last, findTagged("last"));
}

/// A value that a loop or a branch hands on may be this buffer.
TEST_F(BufferLifetimeTest, FollowsWhatLoopsAndBranchesHandOn) {
  BufferLifetime carried = of(std::string(kWrite) + R"(
  %r = scf.for %i = %zero to %n step %one iter_args(%s = %a) -> memref<4xf32> {
    scf.yield %s : memref<4xf32>
  }
  linalg.exp {last} ins(%r : memref<4xf32>) outs(%x : memref<4xf32>))");
  EXPECT_FALSE(carried.escapes);
  EXPECT_EQ(carried.last, findTagged("last"));
  BufferLifetime chosen = of(std::string(kWrite) + R"(
  %r = scf.if %c -> memref<4xf32> {
    scf.yield %a : memref<4xf32>
  } else {
    scf.yield %x : memref<4xf32>
  }
  linalg.exp {last} ins(%r : memref<4xf32>) outs(%x : memref<4xf32>))");
  EXPECT_FALSE(chosen.escapes);
  EXPECT_EQ(chosen.last, findTagged("last"));
}

TEST_F(BufferLifetimeTest, ReturnedItselfOrAsAView) {
  BufferLifetime itself = of(kWrite, "return %a : memref<4xf32>");
  EXPECT_TRUE(itself.isReturned);
  EXPECT_FALSE(itself.escapes);
  EXPECT_TRUE(of(std::string(kWrite) + R"(
  %v = memref.expand_shape %a [[0, 1]] output_shape [2, 2] : memref<4xf32> into memref<2x2xf32>
  %w = memref.collapse_shape %v [[0, 1]] : memref<2x2xf32> into memref<4xf32>)",
                 "return %w : memref<4xf32>")
                  .isReturned);
  EXPECT_FALSE(of(kWrite, "return %x : memref<4xf32>").isReturned);
}

TEST_F(BufferLifetimeTest, EscapesToOtherBlocksAndAsANumber) {
  EXPECT_TRUE(of(std::string(kWrite) + "memref.dealloc %a : memref<4xf32>").escapes);
  EXPECT_TRUE(of(std::string(kWrite) + R"(
  %i = memref.extract_aligned_pointer_as_index %a : memref<4xf32> -> index)")
                  .escapes);
  EXPECT_TRUE(of(std::string(kWrite) + "cf.br ^next(%a : memref<4xf32>)\n^next(%b: memref<4xf32>):")
                  .escapes);
  EXPECT_TRUE(of(std::string(kWrite) + R"(cf.br ^next
^next:
  linalg.exp ins(%a : memref<4xf32>) outs(%x : memref<4xf32>))")
                  .escapes);
  EXPECT_TRUE(of(std::string(kWrite) + "memref.store %a, %p[] : memref<memref<4xf32>>").escapes)
      << "whoever loads it may use it later";
}

/// A callee keeps nothing: buffers are arguments that live as long as the call.
TEST_F(BufferLifetimeTest, ACallIsAUse) {
  BufferLifetime found =
      of(std::string(kWrite) + "func.call @take(%a) {last} : (memref<4xf32>) -> ()");
  EXPECT_FALSE(found.escapes);
  EXPECT_EQ(found.last, findTagged("last"));
}

} // namespace
