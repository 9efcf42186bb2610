// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-keep-types: note the types of public functions that run on the host (exact).

#include "mp/Kernels/Host/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_KEEPTYPES
#include "mp/Kernels/Host/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {

struct KeepTypes : mlir::mp::impl::KeepTypesBase<KeepTypes> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isPublic() && !function.isExternal())
        function->setAttr(kCPUTypeAttrName, TypeAttr::get(function.getFunctionType()));
  }
};

} // namespace
