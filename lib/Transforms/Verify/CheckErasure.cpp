// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-check-erasure: check that a converted module is the original plus casts (exact).

#include "mlir/Parser/Parser.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Support/Files.h"
#include "mp/Transforms/Options.h"
#include "mp/Transforms/Verify/Erasure.h"
#include "mp/Transforms/Verify/Passes.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir::mp {
#define GEN_PASS_DEF_CHECKERASURE
#include "mp/Transforms/Verify/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {
struct CheckErasure : mlir::mp::impl::CheckErasureBase<CheckErasure> {
  using CheckErasureBase::CheckErasureBase;

  /// Parses here, not when run: the file may need dialects that are not loaded yet.
  LogicalResult initialize(MLIRContext *context) override {
    if (original.empty())
      return emitError(UnknownLoc::get(context)) << "mp-check-erasure: option 'original' is empty, "
                                                    "expected the file that was converted";
    auto buffer = support::readFile(original, "original=" + original);
    if (!buffer)
      return emitError(UnknownLoc::get(context)) << llvm::toString(buffer.takeError());
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
    auto module = parseSourceFile<ModuleOp>(sources, context);
    if (!module)
      return emitError(UnknownLoc::get(context))
             << "mp-check-erasure: cannot read the original from '" << original << "'";
    originalModule = std::make_shared<OwningOpRef<ModuleOp>>(std::move(module));
    return success();
  }

  void runOnOperation() override {
    if (failed(checkErasure(originalModule->get(), getOperation(), promote == Switch::On)))
      signalPassFailure();
    markAllAnalysesPreserved();
  }

  std::shared_ptr<OwningOpRef<ModuleOp>> originalModule; ///< shared by copies of the pass
};
} // namespace
