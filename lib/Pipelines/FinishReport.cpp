// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-finish-report: note the casts that remain, and write the report.

#include "ReportPasses.h"
#include "mp/Report/Exports.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mlir::mp {
#define GEN_PASS_DEF_FINISHREPORT
#include "mp/Pipelines/Passes.h.inc"
} // namespace mlir::mp

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
struct FinishReport : mlir::mp::impl::FinishReportBase<FinishReport> {
  FinishReport(std::shared_ptr<Report> report, ReportOutputs outputs)
      : report(std::move(report)), outputs(std::move(outputs)) {}
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

std::unique_ptr<Pass> mlir::mp::createFinishReportPass(std::shared_ptr<Report> report,
                                                       ReportOutputs outputs) {
  return std::make_unique<FinishReport>(std::move(report), std::move(outputs));
}
