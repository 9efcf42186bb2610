// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ReportPasses.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace mlir::mp;

/// Writes to a temporary file beside `path` and renames it: a failed write loses nothing.
static llvm::Error writeJSON(const llvm::json::Value &json, StringRef path) {
  auto write = [&](raw_ostream &os) {
    os << llvm::formatv("{0:2}", json) << "\n";
    return llvm::Error::success();
  };
  if (path == "-")
    return write(llvm::outs());
  return llvm::writeToOutput(path, write);
}

namespace {
struct CollectDecisions : PassWrapper<CollectDecisions, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CollectDecisions)
  explicit CollectDecisions(std::shared_ptr<Report> report) : report(std::move(report)) {}
  StringRef getName() const override { return "collect decisions"; }
  void runOnOperation() override {
    report->collectDecisions(getOperation());
    markAllAnalysesPreserved();
  }
  std::shared_ptr<Report> report;
};

struct FinishReport : PassWrapper<FinishReport, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FinishReport)
  FinishReport(std::shared_ptr<Report> report, std::string path, bool quiet)
      : report(std::move(report)), path(std::move(path)), quiet(quiet) {}
  StringRef getName() const override { return "finish report"; }
  void runOnOperation() override {
    report->collectCasts(getOperation());
    if (!quiet)
      report->printTable(llvm::errs());
    if (!path.empty())
      if (llvm::Error error = writeJSON(report->toJSON(), path)) {
        emitError(UnknownLoc::get(&getContext()))
            << "cannot write the report '" << path << "': " << llvm::toString(std::move(error));
        return signalPassFailure();
      }
    markAllAnalysesPreserved();
  }
  std::shared_ptr<Report> report;
  std::string path;
  bool quiet;
};
} // namespace

std::unique_ptr<Pass> mlir::mp::createCollectDecisionsPass(std::shared_ptr<Report> report) {
  return std::make_unique<CollectDecisions>(std::move(report));
}

std::unique_ptr<Pass> mlir::mp::createFinishReportPass(std::shared_ptr<Report> report,
                                                       std::string path, bool quiet) {
  return std::make_unique<FinishReport>(std::move(report), std::move(path), quiet);
}
