// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ties of every kind of control flow and of signatures, and how often ops run.

#include "mp/Analysis/TiedStorage.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"
#include "mp/Analysis/Cost/ExecutionFrequency.h"
#include "mp/InitAll.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::mp;

namespace {

struct TiedStorageTest : testing::Test {
  TiedStorageTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    registry.insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
                    linalg::LinalgDialect, math::MathDialect, scf::SCFDialect,
                    tensor::TensorDialect, tosa::TosaDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }
  void parse(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    ties.emplace(*module);
  }
  /// The only op of this name.
  Operation *find(StringRef name) {
    Operation *found = nullptr;
    module->walk([&](Operation *op) {
      if (op->getName().getStringRef() == name)
        found = op;
    });
    EXPECT_TRUE(found) << name.str();
    return found;
  }
  FunctionOpInterface function(StringRef name) {
    return module->lookupSymbol<FunctionOpInterface>(name);
  }
  /// "values/feeds" of the tie of a value.
  std::string size(Value value) {
    const TiedValues *tied = ties->find(value);
    return tied ? std::to_string(tied->values.size()) + "/" + std::to_string(tied->feeds.size())
                : "alone";
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  std::optional<TiedStorage> ties;
};

TEST_F(TiedStorageTest, LoopCarriesArgumentAndResult) {
  parse(R"(
    func.func @f(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %k = %n) -> (tensor<4xf32>, index) {
        %y = arith.addf %a, %a : tensor<4xf32>
        scf.yield %y, %k : tensor<4xf32>, index
      }
      return %r#0 : tensor<4xf32>
    })");
  Operation *loop = find("scf.for"), *add = find("arith.addf");
  EXPECT_EQ(size(loop->getResult(0)), "2/2");
  EXPECT_EQ(ties->find(loop->getResult(0)), ties->find(add->getOperand(0)));
  EXPECT_EQ(ties->find(loop->getResult(0)), ties->findFed(loop->getOpOperand(3)));
  EXPECT_EQ(size(loop->getResult(1)), "alone"); // no float
  EXPECT_EQ(size(add->getResult(0)), "alone");
  EXPECT_EQ(ties->findFed(add->getOpOperand(0)), nullptr);
  EXPECT_EQ(ties->find(function("f").getArgument(0))->frozen, "a public signature");
  EXPECT_EQ(ExecutionFrequency(*module).get(add), 10);
}

TEST_F(TiedStorageTest, WhileCarriesTwoTies) {
  parse(R"(
    func.func @f(%x: tensor<4xf32>, %b: i1) -> tensor<4xf32> {
      %r = scf.while (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
        scf.condition(%b) %a : tensor<4xf32>
      } do {
      ^bb0(%c: tensor<4xf32>):
        %y = arith.negf %c : tensor<4xf32>
        scf.yield %y : tensor<4xf32>
      }
      return %r : tensor<4xf32>
    })");
  Operation *loop = find("scf.while");
  Value before = loop->getRegion(0).getArgument(0), after = loop->getRegion(1).getArgument(0);
  EXPECT_EQ(size(before), "1/2"); // init and yielded value
  EXPECT_EQ(size(after), "2/1");  // the condition's operand
  EXPECT_EQ(ties->find(after), ties->find(loop->getResult(0)));
  EXPECT_NE(ties->find(after), ties->find(before));
}

TEST_F(TiedStorageTest, BranchReturnsOneFormat) {
  parse(R"(
    func.func @f(%x: tensor<4xf32>, %b: i1) -> tensor<4xf32> {
      %r = scf.if %b -> tensor<4xf32> {
        scf.yield %x : tensor<4xf32>
      } else {
        %y = arith.negf %x : tensor<4xf32>
        scf.yield %y : tensor<4xf32>
      }
      return %r : tensor<4xf32>
    })");
  EXPECT_EQ(size(find("scf.if")->getResult(0)), "1/2");
}

TEST_F(TiedStorageTest, ForallIsFedByEverySliceWritten) {
  parse(R"(
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %r = scf.forall (%i) in (4) shared_outs(%o = %x) -> tensor<4xf32> {
        %s = tensor.extract_slice %x[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
        scf.forall.in_parallel {
          tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
        }
      }
      return %r : tensor<4xf32>
    })");
  Operation *loop = find("scf.forall"), *slice = find("tensor.extract_slice");
  EXPECT_EQ(size(loop->getResult(0)), "2/3"); // destination, slice, block argument
  EXPECT_EQ(ties->find(loop->getResult(0)),
            ties->findFed(find("tensor.parallel_insert_slice")->getOpOperand(0)));
  EXPECT_EQ(ExecutionFrequency(*module).get(slice), 4);
}

TEST_F(TiedStorageTest, TosaPassesByPosition) {
  parse(R"(
    func.func @f(%x: tensor<4xf32>, %b: tensor<i1>) -> tensor<4xf32> {
      %r = tosa.cond_if %b (%p = %x) : tensor<i1> (tensor<4xf32>) -> tensor<4xf32> {
      ^bb0(%p: tensor<4xf32>):
        tosa.yield %p : tensor<4xf32>
      } else {
      ^bb0(%q: tensor<4xf32>):
        tosa.yield %q : tensor<4xf32>
      }
      %w = tosa.while_loop (%c = %r) : (tensor<4xf32>) -> tensor<4xf32> {
        %one = "tosa.const"() {values = dense<true> : tensor<i1>} : () -> tensor<i1>
        tosa.yield %one : tensor<i1>
      } do {
      ^bb0(%d: tensor<4xf32>):
        tosa.yield %d : tensor<4xf32>
      }
      return %w : tensor<4xf32>
    })");
  Operation *branch = find("tosa.cond_if"), *loop = find("tosa.while_loop");
  EXPECT_EQ(size(branch->getRegion(0).getArgument(0)), "2/1");
  EXPECT_EQ(size(branch->getResult(0)), "1/2");
  EXPECT_EQ(size(loop->getResult(0)), "3/2");
}

TEST_F(TiedStorageTest, SignaturesMayChangeWhereAllCallersAreSeen) {
  parse(R"(
    func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %l = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
        %y = func.call @helper(%a) : (tensor<4xf32>) -> tensor<4xf32>
        scf.yield %y : tensor<4xf32>
      }
      %p = call @helper(%l) : (tensor<4xf32>) -> tensor<4xf32>
      %g = func.constant @taken : (tensor<4xf32>) -> tensor<4xf32>
      %q = call_indirect %g(%p) : (tensor<4xf32>) -> tensor<4xf32>
      %r = call @elsewhere(%q) : (tensor<4xf32>) -> tensor<4xf32>
      %s = call @again(%r) : (tensor<4xf32>) -> tensor<4xf32>
      return %p, %r, %s : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    }
    func.func private @helper(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = math.tanh %x : tensor<4xf32>
      return %y : tensor<4xf32>
    }
    func.func private @taken(%x: tensor<4xf32>) -> tensor<4xf32> {
      return %x : tensor<4xf32>
    }
    func.func private @again(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
    func.func private @elsewhere(tensor<4xf32>) -> tensor<4xf32>)");
  auto frozen = [&](StringRef name) { return ties->find(function(name).getArgument(0))->frozen; };
  EXPECT_EQ(frozen("helper"), "");
  EXPECT_EQ(size(function("helper").getArgument(0)), "1/2");
  Operation *tanh = find("math.tanh");
  EXPECT_EQ(ties->findFed(tanh->getBlock()->getTerminator()->getOpOperand(0))->values.size(), 2u);
  EXPECT_EQ(frozen("main"), "a public signature");
  EXPECT_EQ(frozen("taken"), "a function whose address 'func.constant' takes");
  EXPECT_EQ(frozen("again"), "a recursive function");
  module->walk([&](func::CallOp call) {
    if (call.getCallee() == "elsewhere")
      EXPECT_EQ(ties->find(call.getResult(0))->frozen, "a function defined elsewhere");
  });
  EXPECT_EQ(ExecutionFrequency(*module).get(tanh), 4); // 3 in the loop, 1 behind it
}

} // namespace
