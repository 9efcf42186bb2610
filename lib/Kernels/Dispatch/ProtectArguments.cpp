// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mp/Kernels/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_PROTECTARGUMENTS
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;

namespace {

struct ProtectArguments : mlir::mp::impl::ProtectArgumentsBase<ProtectArguments> {
  using Base::Base;

  void runOnOperation() override {
    StringRef name = bufferization::BufferizationDialect::kWritableAttrName;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function.isPublic() || function.isExternal())
        continue;
      for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i)
        if (isa<TensorType>(function.getArgument(i).getType()) && !function.getArgAttr(i, name))
          function.setArgAttr(i, name, BoolAttr::get(&getContext(), false));
    }
  }
};

} // namespace
