// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The erasure checker must catch every change that is not a cast. One module is converted, and each
// mutation of the result must be found.

#include "mp/Transforms/Verify/Erasure.h"
#include "../RandomGraph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mp/InitAll.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

constexpr StringLiteral kModule = R"mlir(
#i = affine_map<(d0, d1, d2) -> (d0, d2)>
#t = affine_map<(d0, d1, d2) -> (d1, d2)>
#o = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func private @inner(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %s = math.powf %x, %w : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%s : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @other(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = arith.mulf %x, %w : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func @main(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>, %n: index, %c: i1) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %third = arith.constant dense<0.333333343> : tensor<4x4xf32>
  %weights = arith.constant dense<[[0.1, 0.2, 0.3, 0.4], [1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 1.5, 2.5, 3.5]]> : tensor<4x4xf32>
  %empty = tensor.empty() : tensor<4x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm = linalg.matmul ins(%x, %weights : tensor<4x4xf32>, tensor<4x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %sub = arith.subf %mm, %third : tensor<4x4xf32>
  %scaled = arith.mulf %sub, %third : tensor<4x4xf32>
  %tr = linalg.transpose ins(%scaled : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) permutation = [1, 0]
  %gen = linalg.generic {indexing_maps = [#i, #t, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%tr, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%init : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  } -> tensor<4x4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %loop:2 = scf.for %k = %c0 to %n step %c1 iter_args(%p = %gen, %q = %mm) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
    %sum = arith.addf %p, %q : tensor<4x4xf32>
    %call = func.call @inner(%sum, %y) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %call, %sum : tensor<4x4xf32>, tensor<4x4xf32>
  }
  %less = arith.cmpf olt, %loop#0, %loop#1 : tensor<4x4xf32>
  %sel = arith.select %less, %loop#0, %loop#1 : tensor<4x4xi1>, tensor<4x4xf32>
  cf.cond_br %c, ^bb1(%sel : tensor<4x4xf32>), ^bb2(%gen : tensor<4x4xf32>)
^bb1(%u: tensor<4x4xf32>):
  cf.br ^bb2(%u : tensor<4x4xf32>)
^bb2(%v: tensor<4x4xf32>):
  %last = func.call @other(%v, %y) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %last, %v : tensor<4x4xf32>, tensor<4x4xf32>
}
)mlir";

struct ErasureTest : testing::Test {
  ErasureTest()
      : context(MLIRContext::Threading::DISABLED),
        handler(&context, [this](Diagnostic &diagnostic) {
          messages += diagnostic.str() + "\n";
          return success();
        }) {
    loadDialects(context);
    original = parseSourceString<ModuleOp>(kModule, &context);
    converted = original->clone();
    PassManager manager(&context);
    manager.addPass(createAssignPrecision());
    manager.addPass(createInsertCasts());
    converts = original && succeeded(manager.run(*converted));
    messages.clear();
  }

  template <typename Op> Op find(unsigned index = 0) {
    Op found;
    converted->walk([&](Op op) {
      if (index-- == 0)
        found = op;
      return found ? WalkResult::interrupt() : WalkResult::advance();
    });
    EXPECT_TRUE(found);
    return found;
  }
  /// Outside bodies of structured ops.
  template <typename Op> Op inMain(unsigned index = 0) {
    Op found;
    converted->lookupSymbol("main")->walk([&](Op op) {
      if (!isa<linalg::LinalgOp>(op->getParentOp()) && index-- == 0)
        found = op;
      return found ? WalkResult::interrupt() : WalkResult::advance();
    });
    EXPECT_TRUE(found);
    return found;
  }

  /// The mutation left a valid module, and the checker finds it, saying `word`.
  void expectFound(StringRef word) {
    ASSERT_TRUE(converts);
    ASSERT_TRUE(succeeded(verify(*converted))) << messages;
    EXPECT_TRUE(failed(checkErasure(*original, *converted)));
    EXPECT_NE(messages.find(word), std::string::npos) << messages;
  }
  static void swapOperands(Operation *op, unsigned i, unsigned j) {
    Value left = op->getOperand(i), right = op->getOperand(j);
    ASSERT_NE(left, right);
    op->setOperand(i, right);
    op->setOperand(j, left);
  }

  MLIRContext context;
  std::string messages;
  ScopedDiagnosticHandler handler;
  OwningOpRef<ModuleOp> original, converted;
  bool converts = false;
};

constexpr StringLiteral kOperand = "is not the original's";

TEST_F(ErasureTest, AcceptsTheConversionAndTheOriginalItself) {
  ASSERT_TRUE(converts) << messages;
  EXPECT_TRUE(succeeded(checkErasure(*original, *converted))) << messages;
  EXPECT_TRUE(succeeded(checkErasure(*original, *original))) << messages;
  EXPECT_TRUE(succeeded(checkErasure(*converted, *converted))) << messages;
  unsigned casts = 0;
  converted->walk([&](CastOp) { ++casts; });
  EXPECT_GT(casts, 3u) << "nothing to erase";
}

TEST_F(ErasureTest, FindsChangedConstants) {
  for (unsigned i = 0;; ++i) {
    arith::ConstantOp found;
    unsigned left = i;
    converted->walk([&](arith::ConstantOp op) {
      if (isa<DenseFPElementsAttr, FloatAttr>(op.getValue()) && left-- == 0)
        found = op;
    });
    if (!found) {
      EXPECT_GE(i, 3u);
      return;
    }
    Attribute before = found.getValue();
    if (auto dense = dyn_cast<DenseFPElementsAttr>(before))
      found.setValueAttr(
          cast<TypedAttr>(dense.mapValues(dense.getElementType(), [](const APFloat &value) {
            APFloat next = value; // one unit in the last place is enough
            next.next(/*nextDown=*/false);
            return next.bitcastToAPInt();
          })));
    else
      found.setValueAttr(FloatAttr::get(cast<FloatAttr>(before).getType(), 1.0));
    expectFound("");
    found.setValueAttr(cast<TypedAttr>(before));
  }
}

TEST_F(ErasureTest, FindsConstantsRoundedAnotherWay) {
  bool any = false;
  original->walk([&](arith::ConstantOp before) {
    auto dense = dyn_cast<DenseFPElementsAttr>(before.getValue());
    if (!dense || dense.isSplat())
      return;
    converted->walk([&](arith::ConstantOp op) {
      if (!isa<DenseFPElementsAttr>(op.getValue()) ||
          !cast<DenseFPElementsAttr>(op.getValue()).getElementType().isBF16())
        return;
      op.setValueAttr(cast<TypedAttr>(
          convertConstant(dense, BFloat16Type::get(&context), Rounding::RZ, Overflow::IEEE)));
      any = true;
    });
  });
  ASSERT_TRUE(any);
  expectFound(kOperand);
}

TEST_F(ErasureTest, FindsSwappedOperands) {
  swapOperands(find<arith::SubFOp>(), 0, 1);
  expectFound(kOperand);
}

TEST_F(ErasureTest, FindsSwappedFactors) {
  linalg::MatmulOp op = find<linalg::MatmulOp>();
  swapOperands(op, 0, 1);
  expectFound(kOperand);
}

TEST_F(ErasureTest, FindsDroppedOps) {
  arith::MulFOp op = inMain<arith::MulFOp>();
  op.replaceAllUsesWith(op.getLhs());
  op.erase();
  expectFound("stands where the original has 'arith.mulf'");
}

TEST_F(ErasureTest, FindsADroppedLastOp) {
  auto region = find<scf::ForOp>();
  auto sum = *region.getBody()->getOps<arith::AddFOp>().begin();
  sum.replaceAllUsesWith(sum.getLhs());
  sum.erase();
  expectFound("stands where");
}

TEST_F(ErasureTest, FindsAddedOps) {
  arith::SubFOp op = find<arith::SubFOp>();
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  auto negated = arith::NegFOp::create(builder, op.getLoc(), op);
  op.getResult().replaceAllUsesExcept(negated, negated);
  expectFound("only casts marked 'inserted' may be added");
}

TEST_F(ErasureTest, FindsCastsThatAreNotMarked) {
  find<CastOp>().removeInsertedAttr();
  expectFound("only casts marked 'inserted' may be added");
}

TEST_F(ErasureTest, FindsReplacedOps) {
  arith::SubFOp op = find<arith::SubFOp>();
  OpBuilder builder(op);
  op.replaceAllUsesWith(
      arith::AddFOp::create(builder, op.getLoc(), op.getLhs(), op.getRhs()).getResult());
  op.erase();
  expectFound("stands where the original has 'arith.subf'");
}

TEST_F(ErasureTest, FindsReorderedOps) {
  arith::MulFOp mul = inMain<arith::MulFOp>();
  arith::SubFOp sub = find<arith::SubFOp>();
  mul->setOperand(0, sub->getOperand(0));
  mul->moveBefore(sub);
  expectFound("stands where");
}

TEST_F(ErasureTest, FindsChangedAttributes) {
  find<linalg::TransposeOp>().setPermutation({0, 1});
  expectFound("has 'permutation'");
}

TEST_F(ErasureTest, FindsAddedAndMissingAttributes) {
  find<arith::SubFOp>().setFastmath(arith::FastMathFlags::reassoc);
  expectFound("has 'fastmath'");
  messages.clear();
  find<arith::SubFOp>().setFastmath(arith::FastMathFlags::none);
  find<arith::CmpFOp>()->setAttr("test.note", UnitAttr::get(&context));
  expectFound("has 'test.note', which the original has not");
}

TEST_F(ErasureTest, FindsChangedPredicates) {
  find<arith::CmpFOp>().setPredicate(arith::CmpFPredicate::OGT);
  expectFound("has 'predicate'");
}

TEST_F(ErasureTest, FindsChangedMaps) {
  linalg::GenericOp op = inMain<linalg::GenericOp>();
  ArrayAttr maps = op.getIndexingMapsAttr();
  op.setIndexingMapsAttr(ArrayAttr::get(
      &context,
      {maps[0], AffineMapAttr::get(AffineMap::getMultiDimMapWithTargets(3, {2, 1}, &context)),
       maps[2]}));
  expectFound("has 'indexing_maps'");
}

TEST_F(ErasureTest, FindsChangedBodies) {
  linalg::GenericOp op = inMain<linalg::GenericOp>();
  auto product = *op.getBody()->getOps<arith::MulFOp>().begin();
  product->setOperand(1, product->getOperand(0));
  expectFound(kOperand);
}

TEST_F(ErasureTest, FindsYieldedChanges) {
  linalg::GenericOp op = inMain<linalg::GenericOp>();
  auto product = *op.getBody()->getOps<arith::MulFOp>().begin();
  op.getBody()->getTerminator()->setOperand(0, product);
  expectFound(kOperand);
}

TEST_F(ErasureTest, FindsWrongIterArgs) {
  swapOperands(find<scf::ForOp>(), 3, 4);
  expectFound(kOperand);
}

TEST_F(ErasureTest, FindsWrongYields) {
  swapOperands(find<scf::ForOp>().getBody()->getTerminator(), 0, 1);
  expectFound(kOperand);
}

TEST_F(ErasureTest, FindsWrongLoopBounds) {
  scf::ForOp loop = find<scf::ForOp>();
  loop.setLowerBound(loop.getStep());
  expectFound(kOperand);
}

TEST_F(ErasureTest, FindsWrongUsesOfIterArgs) {
  scf::ForOp loop = find<scf::ForOp>();
  auto sum = *loop.getBody()->getOps<arith::AddFOp>().begin();
  Value argument = loop.getRegionIterArg(1);
  sum->setOperand(0, argument);
  expectFound(kOperand);
}

TEST_F(ErasureTest, FindsWrongBlockArgumentsAndSuccessors) {
  cf::CondBranchOp branch = find<cf::CondBranchOp>();
  branch->setOperand(1, branch->getOperand(2));
  expectFound(kOperand);
}

TEST_F(ErasureTest, FindsSwappedSuccessors) {
  cf::CondBranchOp branch = find<cf::CondBranchOp>();
  Block *left = branch.getTrueDest(), *right = branch.getFalseDest();
  branch->setSuccessor(right, 0);
  branch->setSuccessor(left, 1);
  expectFound("goes to another block");
}

TEST_F(ErasureTest, FindsSwappedReturns) {
  swapOperands(*find<func::FuncOp>(2).getOps<func::ReturnOp>().begin(), 0, 1);
  expectFound(kOperand);
}

TEST_F(ErasureTest, FindsAnotherCallee) {
  find<func::CallOp>(0).setCallee("other");
  expectFound("calls \"other\" where the original calls \"inner\"");
}

TEST_F(ErasureTest, AcceptsCopiesOfPrivateFunctionsOnly) {
  ASSERT_TRUE(converts);
  auto inner = converted->lookupSymbol<func::FuncOp>("inner");
  func::FuncOp copy = inner.clone();
  copy.setName("inner_bf16");
  converted->push_back(copy);
  EXPECT_TRUE(failed(checkErasure(*original, *converted))) << "a function nobody calls";
  find<func::CallOp>(0).setCallee("inner_bf16");
  EXPECT_TRUE(succeeded(checkErasure(*original, *converted))) << messages;
  // The copy must match as its original does.
  messages.clear();
  auto matmul = *copy.getOps<linalg::MatmulOp>().begin();
  swapOperands(matmul, 0, 1);
  expectFound(kOperand);
}

TEST_F(ErasureTest, FindsMissingFunctions) {
  find<func::CallOp>(1).setCallee("inner");
  converted->lookupSymbol("other")->erase();
  expectFound("lacks the function \"other\"");
}

TEST_F(ErasureTest, FindsChangedPublicSignatures) {
  auto function = converted->lookupSymbol<func::FuncOp>("main");
  OpBuilder builder(&context);
  Type narrow = RankedTensorType::get({4, 4}, builder.getBF16Type());
  builder.setInsertionPointToStart(&function.getBody().front());
  Value argument = function.getArgument(1);
  Type wide = argument.getType();
  argument.setType(narrow);
  auto widened = CastOp::create(builder, function.getLoc(), wide, argument, Value(), RoundingAttr(),
                                OverflowAttr(), builder.getUnitAttr());
  argument.replaceAllUsesExcept(widened, widened);
  SmallVector<Type> inputs(function.getArgumentTypes());
  inputs[1] = narrow;
  function.setFunctionType(builder.getFunctionType(inputs, function.getResultTypes()));
  expectFound("has 'function_type'");
}

TEST_F(ErasureTest, FindsChangedModules) {
  converted->getOperation()->setAttr("test.note", UnitAttr::get(&context));
  expectFound("has 'test.note', which the original has not");
}

} // namespace
