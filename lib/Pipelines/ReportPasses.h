// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the passes of mp/Pipelines/Passes.td, which collect a report while a pipeline runs. They
// belong to one pipeline instance and are not registered.

#ifndef MP_LIB_PIPELINES_REPORTPASSES_H
#define MP_LIB_PIPELINES_REPORTPASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mp/Report/Report.h"
#include <string>

namespace mlir::mp {

/// Keeps the text of the module as it comes in, for the page.
std::unique_ptr<Pass> createCollectSourcePass(std::shared_ptr<Report> report);

/// Reads the decisions, between assignment and cast insertion.
std::unique_ptr<Pass> createCollectDecisionsPass(std::shared_ptr<Report> report);

/// Bounds the errors of results, between cast insertion and what rounds constants.
std::unique_ptr<Pass> createCollectCertificatesPass(std::shared_ptr<Report> report,
                                                    double assumedRange);

/// The destination of a report; an empty name is nowhere. Files are written beside and then
/// renamed.
struct ReportOutputs {
  std::string json;    ///< file for programs
  std::string html;    ///< file for people
  std::string dot;     ///< file for Graphviz
  std::string viewer;  ///< folder for Model Explorer, made if missing
  std::string errors;  ///< input: what mp-run measured
  std::string against; ///< input: an earlier report
  bool table = true;   ///< to standard error
  bool page = false;   ///< a page is written, or may be asked for later
  bool kept = false;   ///< a caller has the report, and says what is decided otherwise
};

/// Reads the casts and the errors, and writes what is asked for.
std::unique_ptr<Pass> createFinishReportPass(std::shared_ptr<Report> report, ReportOutputs outputs);

} // namespace mlir::mp

#endif // MP_LIB_PIPELINES_REPORTPASSES_H
