// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A context with every dialect that analyses read, and the values that a function returns.

#ifndef MP_TEST_ANALYSIS_ANALYSISTEST_H
#define MP_TEST_ANALYSIS_ANALYSISTEST_H

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"
#include "mp/InitAll.h"
#include "gtest/gtest.h"

namespace mlir::mp::test {

struct AnalysisContext {
  AnalysisContext() {
    DialectRegistry registry;
    registerAllDialects(registry);
    registry.insert<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect,
                    math::MathDialect, scf::SCFDialect, tensor::TensorDialect, tosa::TosaDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  OwningOpRef<ModuleOp> parse(llvm::StringRef text) {
    auto module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text.str();
    return module;
  }

  MLIRContext context;
};

inline FunctionOpInterface getMain(ModuleOp module) {
  return module.lookupSymbol<FunctionOpInterface>("main");
}

/// Returns what @main returns.
inline OperandRange getReturned(ModuleOp module) {
  return getMain(module).getFunctionBody().front().getTerminator()->getOperands();
}

/// The last op of this name in @main, bodies included.
inline Operation *findOp(ModuleOp module, llvm::StringRef name) {
  Operation *found = nullptr;
  getMain(module)->walk([&](Operation *op) {
    if (op->getName().getStringRef() == name)
      found = op;
  });
  EXPECT_TRUE(found) << name.str();
  return found;
}

} // namespace mlir::mp::test

#endif // MP_TEST_ANALYSIS_ANALYSISTEST_H
