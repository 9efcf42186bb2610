// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Worst-case errors of results, as rows.

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mp/Analysis/Error/ErrorBounds.h"
#include "mp/Analysis/Locations.h"
#include "mp/Report/Report.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;

void Report::collectCertificates(ModuleOp module, double assumed) {
  assumedRange = assumed;
  ErrorBounds bounds(module, target, assumed);
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isExternal() || !function.getBody().hasOneBlock())
      continue;
    for (auto [index, value] :
         llvm::enumerate(function.getBody().front().getTerminator()->getOperands())) {
      if (!getFloatFormat(value.getType()))
        continue;
      domains::ErrorFacts error = bounds.lookup(value);
      CertificateRow row;
      row.function = function.getName();
      row.result = index;
      row.bound = error.abs;
      row.magnitude = bounds.lookupExact(value).mag();
      if (Operation *op = bounds.getLostAt(value))
        row.lostAt = (op->getName().getStringRef() + " at " + describeLocation(op->getLoc())).str();
      row.isAssumed = error.provenance != domains::Provenance::Proved;
      certificates.push_back(row);
    }
  }
}

void Report::printCertificates(raw_ostream &os) const {
  for (const CertificateRow &row : certificates) {
    os << "  error of result " << row.result << " of @" << row.function << ", certified: ";
    if (!std::isfinite(row.bound)) {
      os << "no bound";
      if (!row.lostAt.empty())
        os << ", lost at " << row.lostAt;
      os << "\n";
      continue;
    }
    os << "at most " << llvm::format("%.3g", row.bound);
    if (std::isfinite(row.magnitude))
      os << " of values within " << llvm::format("%.3g", row.magnitude);
    if (row.isAssumed)
      os << ", for arguments as stated or within " << llvm::format("%g", assumedRange);
    if (row.bound >= row.magnitude)
      os << ": no less than the values, so the worst case says nothing here";
    os << "\n";
  }
}

llvm::json::Array Report::certificatesToJSON() const {
  auto finite = [](double value) {
    return std::isfinite(value) ? llvm::json::Value(value) : llvm::json::Value(nullptr);
  };
  llvm::json::Array rows;
  for (const CertificateRow &row : certificates)
    rows.push_back(llvm::json::Object{{"function", llvm::json::fixUTF8(row.function)},
                                      {"result", row.result},
                                      {"bound", finite(row.bound)},
                                      {"magnitude", finite(row.magnitude)},
                                      {"lost_at", llvm::json::fixUTF8(row.lostAt)},
                                      {"assumed", row.isAssumed},
                                      {"assumed_range", assumedRange}});
  return rows;
}
