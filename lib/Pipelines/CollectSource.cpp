// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-collect-source: keep the text of a module for the page of its report.

#include "ReportPasses.h"
#include "mp/Report/Exports.h"

namespace mlir::mp {
#define GEN_PASS_DEF_COLLECTSOURCE
#include "mp/Pipelines/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {
struct CollectSource : mlir::mp::impl::CollectSourceBase<CollectSource> {
  explicit CollectSource(std::shared_ptr<Report> report) : report(std::move(report)) {}
  void runOnOperation() override {
    report->textBefore = printForPage(getOperation());
    markAllAnalysesPreserved();
  }
  std::shared_ptr<Report> report;
};
} // namespace

std::unique_ptr<Pass> mlir::mp::createCollectSourcePass(std::shared_ptr<Report> report) {
  return std::make_unique<CollectSource>(std::move(report));
}
