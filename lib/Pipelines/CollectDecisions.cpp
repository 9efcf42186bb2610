// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-collect-decisions: note the decisions of a module in its report.

#include "ReportPasses.h"

namespace mlir::mp {
#define GEN_PASS_DEF_COLLECTDECISIONS
#include "mp/Pipelines/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {
struct CollectDecisions : mlir::mp::impl::CollectDecisionsBase<CollectDecisions> {
  explicit CollectDecisions(std::shared_ptr<Report> report) : report(std::move(report)) {}
  void runOnOperation() override {
    report->collectDecisions(getOperation());
    markAllAnalysesPreserved();
  }
  std::shared_ptr<Report> report;
};
} // namespace

std::unique_ptr<Pass> mlir::mp::createCollectDecisionsPass(std::shared_ptr<Report> report) {
  return std::make_unique<CollectDecisions>(std::move(report));
}
