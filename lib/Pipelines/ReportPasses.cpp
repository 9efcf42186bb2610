// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ReportPasses.h"
#include "mp/Report/Exports.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::mp;

/// Writes to a temporary file beside `path` and renames it: a failed write loses nothing.
static llvm::Error writeFile(StringRef path, llvm::function_ref<void(raw_ostream &)> write) {
  if (path == "-") {
    write(llvm::outs());
    return llvm::Error::success();
  }
  return llvm::writeToOutput(path, [&](raw_ostream &os) {
    write(os);
    return llvm::Error::success();
  });
}

static llvm::Error writeJSON(StringRef path, const llvm::json::Value &json) {
  return writeFile(path, [&](raw_ostream &os) { os << llvm::formatv("{0:2}", json) << "\n"; });
}

static llvm::Error writeViewerFiles(StringRef folder, const Report &report) {
  if (std::error_code code = llvm::sys::fs::create_directories(folder))
    return llvm::createStringError(code, code.message());
  for (const ViewerFile &file : makeViewerFiles(report))
    if (llvm::Error error = writeJSON((folder + "/" + file.name).str(), file.content))
      return error;
  return llvm::Error::success();
}

static llvm::Error readErrors(StringRef path, Report &report) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return llvm::createStringError(buffer.getError(), buffer.getError().message());
  return report.addErrors((*buffer)->getBuffer());
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

struct CollectCertificates : PassWrapper<CollectCertificates, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CollectCertificates)
  CollectCertificates(std::shared_ptr<Report> report, double assumedRange)
      : report(std::move(report)), assumedRange(assumedRange) {}
  StringRef getName() const override { return "collect certificates"; }
  void runOnOperation() override {
    report->collectCertificates(getOperation(), assumedRange);
    markAllAnalysesPreserved();
  }
  std::shared_ptr<Report> report;
  double assumedRange;
};

struct FinishReport : PassWrapper<FinishReport, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FinishReport)
  FinishReport(std::shared_ptr<Report> report, ReportOutputs outputs)
      : report(std::move(report)), outputs(std::move(outputs)) {}
  StringRef getName() const override { return "finish report"; }
  void runOnOperation() override {
    report->collectCasts(getOperation());
    report->collectScaling(getOperation());
    if (!outputs.errors.empty())
      check(readErrors(outputs.errors, *report), "read the errors", outputs.errors);
    if (outputs.table)
      report->printTable(llvm::errs());
    if (!outputs.json.empty())
      check(writeJSON(outputs.json, report->toJSON()), "write the report", outputs.json);
    if (!outputs.html.empty())
      check(writeFile(outputs.html, [&](raw_ostream &os) { writeHTML(*report, os); }),
            "write the report", outputs.html);
    if (!outputs.viewer.empty())
      check(writeViewerFiles(outputs.viewer, *report), "write files for the viewer to",
            outputs.viewer);
    markAllAnalysesPreserved();
  }

private:
  void check(llvm::Error error, StringRef what, StringRef path) {
    if (!error)
      return;
    emitError(UnknownLoc::get(&getContext()))
        << "cannot " << what << " '" << path << "': " << llvm::toString(std::move(error));
    signalPassFailure();
  }

  std::shared_ptr<Report> report;
  ReportOutputs outputs;
};
} // namespace

std::unique_ptr<Pass> mlir::mp::createCollectDecisionsPass(std::shared_ptr<Report> report) {
  return std::make_unique<CollectDecisions>(std::move(report));
}

std::unique_ptr<Pass> mlir::mp::createCollectCertificatesPass(std::shared_ptr<Report> report,
                                                              double assumedRange) {
  return std::make_unique<CollectCertificates>(std::move(report), assumedRange);
}

std::unique_ptr<Pass> mlir::mp::createFinishReportPass(std::shared_ptr<Report> report,
                                                       ReportOutputs outputs) {
  return std::make_unique<FinishReport>(std::move(report), std::move(outputs));
}
