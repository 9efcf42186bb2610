// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-finish-report: note the casts that remain, and write the report.

#include "ReportPasses.h"
#include "mp/Report/Exports.h"
#include "mp/Support/Files.h"
#include "mp/Support/Progress.h"

namespace mlir::mp {
#define GEN_PASS_DEF_FINISHREPORT
#include "mp/Pipelines/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

static void printJSON(const llvm::json::Value &json, raw_ostream &os) {
  os << llvm::formatv("{0:2}", json) << "\n";
}

static llvm::Error writeViewerFiles(StringRef folder, const Report &report) {
  for (const ViewerFile &file : makeViewerFiles(report)) {
    std::string path = (folder + "/" + file.name).str();
    if (llvm::Error error = support::writeFile(
            path, "viewer: " + path, [&](raw_ostream &os) { printJSON(file.content, os); }))
      return error;
  }
  return llvm::Error::success();
}

static llvm::Error readErrors(StringRef path, Report &report) {
  auto buffer = support::readFile(path, ("errors=" + path).str());
  if (!buffer)
    return buffer.takeError();
  if (llvm::Error error = report.addErrors((*buffer)->getBuffer()))
    return llvm::createStringError("errors=" + path + ": " + llvm::toString(std::move(error)));
  return llvm::Error::success();
}

/// Compares the report with that in file `path`.
static llvm::Error compareWith(StringRef path, Report &report) {
  auto buffer = support::readFile(path, ("against=" + path).str());
  if (!buffer)
    return buffer.takeError();
  std::string now;
  llvm::raw_string_ostream(now) << report.toJSON();
  auto changes = compareReports((*buffer)->getBuffer(), now);
  if (!changes)
    return llvm::createStringError("against=" + path + ": " + llvm::toString(changes.takeError()));
  report.against = path;
  report.changes = std::move(*changes);
  return llvm::Error::success();
}

namespace {
struct FinishReport : mlir::mp::impl::FinishReportBase<FinishReport> {
  FinishReport(std::shared_ptr<Report> report, ReportOutputs outputs)
      : report(std::move(report)), outputs(std::move(outputs)) {}
  /// Opens what is written, before any pass runs.
  LogicalResult initialize(MLIRContext *context) override {
    llvm::Error error = json.open(outputs.json, "report=" + outputs.json);
    if (!error)
      error = html.open(outputs.html, "html=" + outputs.html);
    if (!error)
      error = dot.open(outputs.dot, "dot=" + outputs.dot);
    if (!error && !outputs.viewer.empty())
      error = support::makeFolder(outputs.viewer, "viewer=" + outputs.viewer);
    if (error)
      return emitError(UnknownLoc::get(context)) << llvm::toString(std::move(error));
    return success();
  }

  void runOnOperation() override {
    report->collectCasts(getOperation());
    report->collectScaling(getOperation());
    if (!outputs.errors.empty())
      check(readErrors(outputs.errors, *report));
    if (outputs.table && support::verbosity() != support::Verbosity::Quiet)
      report->printTable(llvm::errs());
    if (!outputs.against.empty())
      check(compareWith(outputs.against, *report));
    if (report->changes && !outputs.kept && support::verbosity() != support::Verbosity::Quiet)
      printChanges(*report->changes, report->against, llvm::errs());
    if (outputs.page)
      report->textAfter = printForPage(getOperation());
    check(json.write([&](raw_ostream &os) { printJSON(report->toJSON(), os); }));
    check(html.write([&](raw_ostream &os) { writeHTML(*report, os); }));
    check(dot.write([&](raw_ostream &os) { writeGraphviz(*report, os); }));
    if (!outputs.viewer.empty())
      check(writeViewerFiles(outputs.viewer, *report));
    markAllAnalysesPreserved();
  }

private:
  void check(llvm::Error error) {
    if (!error)
      return;
    emitError(getOperation().getLoc()) << llvm::toString(std::move(error));
    signalPassFailure();
  }

  std::shared_ptr<Report> report;
  ReportOutputs outputs;
  support::LateOutput json, html, dot;
};
} // namespace

std::unique_ptr<Pass> mlir::mp::createFinishReportPass(std::shared_ptr<Report> report,
                                                       ReportOutputs outputs) {
  return std::make_unique<FinishReport>(std::move(report), std::move(outputs));
}
