// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Embedding mp: parse, convert by the pipeline, check, print.

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mp/InitAll.h"
#include "mp/Transforms/Verify/Erasure.h"
#include "llvm/Support/raw_ostream.h"

// Embedders write this line; the names of mp must stay unambiguous after it.
using namespace mlir;

static const char *const kModel = R"mlir(
func.func @dense(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %init: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>)
                     outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
)mlir";

int main() {
  mlir::DialectRegistry registry;
  registry
      .insert<mlir::func::FuncDialect, mlir::linalg::LinalgDialect, mlir::tensor::TensorDialect>();
  mp::registerAllDialects(registry);
  mlir::MLIRContext context(registry);

  mlir::OwningOpRef<mlir::ModuleOp> original =
      mlir::parseSourceString<mlir::ModuleOp>(kModel, &context);
  if (!original)
    return 1;
  mlir::OwningOpRef<mlir::ModuleOp> converted = original->clone();

  mlir::PassManager manager(&context);
  mp::MixedPrecisionOptions options;
  options.format = mp::ContractionFormat::F16;
  mp::buildMixedPrecisionPipeline(manager, options);
  if (failed(manager.run(*converted)) || failed(mp::checkErasure(*original, *converted)))
    return 1;
  converted->print(llvm::outs());
  return 0;
}
