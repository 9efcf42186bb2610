// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The module whose derivation is damaged, and running the checker.

#include "ProofsFixture.h"
#include "../Transforms/Hostile/HostileGraph.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mp/InitAll.h"
#include "mp/Transforms/Assign/Passes.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

const StringLiteral mlir::mp::test::kProvedModule = R"mlir(
#xy = affine_map<(d0, d1) -> (d0, d1)>
#x = affine_map<(d0, d1) -> (d0)>
func.func @softmax(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %o: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %ee = tensor.empty() : tensor<8x8xf32>
  %m0 = linalg.fill ins(%lowest : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %m = linalg.reduce ins(%x : tensor<8x8xf32>) outs(%m0 : tensor<8xf32>) dimensions = [1]
    (%a: f32, %b: f32) { %r = arith.maximumf %a, %b : f32 linalg.yield %r : f32 }
  %mb = linalg.broadcast ins(%m : tensor<8xf32>) outs(%ee : tensor<8x8xf32>) dimensions = [1]
  %d = arith.subf %x, %mb : tensor<8x8xf32>
  %p = math.exp %d : tensor<8x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.reduce ins(%p : tensor<8x8xf32>) outs(%s0 : tensor<8xf32>) dimensions = [1]
    (%a: f32, %b: f32) { %r = arith.addf %a, %b : f32 linalg.yield %r : f32 }
  %sb = linalg.broadcast ins(%s : tensor<8xf32>) outs(%ee : tensor<8x8xf32>) dimensions = [1]
  %q = arith.divf %p, %sb : tensor<8x8xf32>
  %w = arith.constant dense<0.5> : tensor<8x8xf32>
  %0 = linalg.matmul ins(%q, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%o : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
func.func @norm(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %o: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant dense<8.0> : tensor<8xf32>
  %epsilon = arith.constant dense<1.0e-5> : tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %ee = tensor.empty() : tensor<8x8xf32>
  %sq = arith.mulf %x, %x : tensor<8x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.reduce ins(%sq : tensor<8x8xf32>) outs(%s0 : tensor<8xf32>) dimensions = [1]
    (%a: f32, %b: f32) { %r = arith.addf %a, %b : f32 linalg.yield %r : f32 }
  %mean = arith.divf %s, %count : tensor<8xf32>
  %kept = arith.addf %mean, %epsilon : tensor<8xf32>
  %root = math.rsqrt %kept : tensor<8xf32>
  %rb = linalg.broadcast ins(%root : tensor<8xf32>) outs(%ee : tensor<8x8xf32>) dimensions = [1]
  %n = arith.mulf %x, %rb : tensor<8x8xf32>
  %w = arith.constant dense<0.5> : tensor<8x8xf32>
  %0 = linalg.matmul ins(%n, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%o : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
func.func @loop(%x: tensor<8x8xf32> {mp.range = [-2.0, 2.0]}, %n: index, %o: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %half = arith.constant dense<0.5> : tensor<8x8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (tensor<8x8xf32>) {
    %h = arith.mulf %v, %half : tensor<8x8xf32>
    %t = math.tanh %h : tensor<8x8xf32>
    scf.yield %t : tensor<8x8xf32>
  }
  %w = arith.constant dense<0.5> : tensor<8x8xf32>
  %0 = linalg.matmul ins(%r, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%o : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
func.func @stated(%x: tensor<8x8xf32> {mp.range = [-3.0, 5.0]}, %o: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %y = arith.addf %x, %x : tensor<8x8xf32>
  %w = arith.constant dense<0.5> : tensor<8x8xf32>
  %0 = linalg.matmul ins(%y, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%o : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
func.func @chosen(%x: tensor<8x8xf32>, %o: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %high = arith.constant dense<100.0> : tensor<8x8xf32>
  %low = arith.constant dense<-100.0> : tensor<8x8xf32>
  %above = arith.cmpf ogt, %x, %high : tensor<8x8xf32>
  %a = arith.select %above, %high, %x : tensor<8x8xi1>, tensor<8x8xf32>
  %below = arith.cmpf olt, %a, %low : tensor<8x8xf32>
  %b = arith.select %below, %low, %a : tensor<8x8xi1>, tensor<8x8xf32>
  %w = arith.constant dense<0.5> : tensor<8x8xf32>
  %0 = linalg.matmul ins(%b, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%o : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
)mlir";

ProofsFixture::ProofsFixture() : context(MLIRContext::Threading::DISABLED) {
  DialectRegistry registry;
  registerAllDialects(registry);
  context.appendDialectRegistry(registry);
  loadHostileDialects(context);
}

OwningOpRef<ModuleOp> ProofsFixture::decide(OwningOpRef<ModuleOp> module) {
  AssignPrecisionOptions options;
  options.format = ContractionFormat::F16;
  options.policyFile = MP_SOURCE_DIR "/test/Transforms/Assign/Inputs/proved.json";
  PassManager manager(&context);
  manager.addPass(createAssignPrecision(options));
  if (!module || failed(manager.run(*module)))
    return nullptr;
  return module;
}

OwningOpRef<ModuleOp> ProofsFixture::decide(StringRef text) {
  return decide(parseSourceString<ModuleOp>(text, &context));
}

proofs::CheckResult ProofsFixture::check(ModuleOp module, const proofs::Derivation &derivation) {
  errors.clear();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    errors += diagnostic.str() + "\n";
    return success();
  });
  return proofs::checkDerivation(module, derivation);
}
