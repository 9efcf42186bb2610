// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hashes and compares kernels.

#include "SameKernels.h"

#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace mlir::mp;

static llvm::hash_code hashKernel(gpu::GPUFuncOp kernel) {
  llvm::hash_code hash = llvm::hash_value(kernel.getFunctionType().getAsOpaquePointer());
  kernel.getBody().walk([&](Operation *op) {
    hash = llvm::hash_combine(
        hash, OperationEquivalence::computeHash(op, OperationEquivalence::ignoreHashValue,
                                                OperationEquivalence::ignoreHashValue,
                                                OperationEquivalence::IgnoreLocations));
  });
  return hash;
}

static bool equalKernels(gpu::GPUFuncOp a, gpu::GPUFuncOp b) {
  return a.getFunctionType() == b.getFunctionType() &&
         a.getKnownBlockSizeAttr() == b.getKnownBlockSizeAttr() &&
         OperationEquivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(),
                                                    OperationEquivalence::IgnoreLocations);
}

gpu::GPUFuncOp SameKernels::firstEqual(gpu::GPUFuncOp kernel) {
  SmallVectorImpl<gpu::GPUFuncOp> &same = kernels[hashKernel(kernel)];
  auto known =
      llvm::find_if(same, [&](gpu::GPUFuncOp other) { return equalKernels(kernel, other); });
  if (known != same.end())
    return *known;
  same.push_back(kernel);
  return kernel;
}
