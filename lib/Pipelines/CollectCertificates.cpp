// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-collect-certificates: note certified bounds on the errors of results.

#include "ReportPasses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mp/Dialect/MP/AttributeNames.h"

namespace mlir::mp {
#define GEN_PASS_DEF_COLLECTCERTIFICATES
#include "mp/Pipelines/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {
struct CollectCertificates : mlir::mp::impl::CollectCertificatesBase<CollectCertificates> {
  CollectCertificates(std::shared_ptr<Report> report, double assumedRange)
      : report(std::move(report)), assumedRange(assumedRange) {}
  void runOnOperation() override {
    report->collectCertificates(getOperation(), assumedRange);
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isPublic() && !function.isExternal())
        function->setAttr(kCertifiedAttrName, UnitAttr::get(&getContext()));
  }
  std::shared_ptr<Report> report;
  double assumedRange;
};
} // namespace

std::unique_ptr<Pass> mlir::mp::createCollectCertificatesPass(std::shared_ptr<Report> report,
                                                              double assumedRange) {
  return std::make_unique<CollectCertificates>(std::move(report), assumedRange);
}
