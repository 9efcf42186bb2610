// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that collect a report while a pipeline runs. They belong to one pipeline
// instance and are not registered.

#ifndef MP_LIB_PIPELINES_REPORTPASSES_H
#define MP_LIB_PIPELINES_REPORTPASSES_H

#include "mlir/Pass/Pass.h"
#include "mp/Report/Report.h"

namespace mlir::mp {

/// Reads the decisions, between assignment and cast insertion.
std::unique_ptr<Pass> createCollectDecisionsPass(std::shared_ptr<Report> report);

/// Reads the casts, prints the table to standard error unless `quiet`, and writes
/// the JSON to `path` unless that is empty (to a temporary file, then renamed).
std::unique_ptr<Pass> createFinishReportPass(std::shared_ptr<Report> report, std::string path,
                                             bool quiet);

} // namespace mlir::mp

#endif // MP_LIB_PIPELINES_REPORTPASSES_H
