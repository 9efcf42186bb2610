// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// More spellings of the same graph, by upstream passes.

#include "ClaimWriter.h"
#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "mp/Execution/Host/Program.h"
#include "mp/InitAll.h"

using namespace mlir;
using namespace mlir::mp::test;

void mlir::mp::test::loadHostileDialects(MLIRContext &context) {
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::mp::registerAllDialects(registry);
  mlir::mp::registerExecution(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

static void lowerTosa(OpPassManager &functions) {
  functions.addPass(tosa::createTosaToLinalgNamed());
  functions.addPass(tosa::createTosaToLinalg());
  functions.addPass(createTosaToArithPass());
  functions.addPass(createTosaToTensorPass());
}

static void fuse(OpPassManager &functions) {
  functions.addPass(createConvertElementwiseToLinalgPass());
  functions.addPass(createLinalgElementwiseOpFusionPass());
  functions.addPass(createCSEPass());
}

/// Turns generic ops into named ones where upstream knows one; not where it takes a product with a
/// transpose for one without (LLVM 22), which does not verify unless the matrix is square.
static LogicalResult specialize(ModuleOp module) {
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager manager(module.getContext());
  manager.enableVerifier(false);
  manager.nest<func::FuncOp>().addPass(createLinalgSpecializeGenericOpsPass());
  if (succeeded(manager.run(*copy)) && succeeded(verify(*copy)))
    module.getBodyRegion().takeBody(copy->getBodyRegion());
  return success();
}

LogicalResult mlir::mp::test::respell(ModuleOp module, const HostileRecipe &recipe) {
  PassManager manager(module.getContext());
  manager.enableVerifier(false);
  OpPassManager &functions = manager.nest<func::FuncOp>();
  switch (recipe.respelling) {
  case Respelling::None: return success();
  case Respelling::Fuse: fuse(functions); break;
  case Respelling::Named: return recipe.dynamic ? success() : specialize(module);
  case Respelling::UnitDims: functions.addPass(createLinalgFoldUnitExtentDimsPass()); break;
  case Respelling::Canonicalize:
    functions.addPass(createCanonicalizerPass());
    functions.addPass(createCSEPass());
    break;
  case Respelling::TosaToLinalg: lowerTosa(functions); break;
  case Respelling::TosaFused:
    lowerTosa(functions);
    fuse(functions);
    break;
  }
  return manager.run(module);
}

/// Somewhere between its op and those that read it, a value gets a dimension of size 1 and loses
/// it, is turned over twice, or forgets its sizes.
void mlir::mp::test::addDetour(func::FuncOp function, std::mt19937_64 &random) {
  SmallVector<Value> values;
  auto consider = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (type && type.getRank() >= 1 && type.hasStaticShape() && type.getElementType().isF32() &&
        !value.use_empty())
      values.push_back(value);
  };
  for (BlockArgument argument : function.getArguments())
    consider(argument);
  for (Operation &op : function.getBody().front())
    if (!op.hasTrait<OpTrait::ConstantLike>() && !isa<tensor::EmptyOp>(op))
      for (Value result : op.getResults())
        consider(result);
  if (values.empty())
    return;
  Value value = values[random() % values.size()];
  OpBuilder builder(function.getContext());
  builder.setInsertionPointAfterValue(value);
  Location loc = builder.getUnknownLoc();
  auto type = cast<RankedTensorType>(value.getType());
  Operation *first = nullptr;
  Value result;
  if (random() % 2 == 0) {
    SmallVector<int64_t> shape(type.getShape());
    shape.insert(shape.begin() + 1, 1);
    SmallVector<ReassociationIndices> groups = {{0, 1}};
    for (int64_t dim = 1; dim < type.getRank(); ++dim)
      groups.push_back({dim + 1});
    Value longer = tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), value, groups);
    first = longer.getDefiningOp();
    result = tensor::CollapseShapeOp::create(builder, loc, type, longer, groups);
  } else {
    auto unknown = type.clone(SmallVector<int64_t>(type.getRank(), ShapedType::kDynamic));
    Value forgot = tensor::CastOp::create(builder, loc, unknown, value);
    first = forgot.getDefiningOp();
    result = tensor::CastOp::create(builder, loc, type, forgot);
  }
  value.replaceAllUsesExcept(result, first);
}
