// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares two reports: which decisions and totals differ between two runs of one model, or of a
// model and a later version of it.

#ifndef MP_REPORT_CHANGES_H
#define MP_REPORT_CHANGES_H

#include "mp/Dialect/MP/Namespaces.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::mp {

/// Something asked for, or a total, by its key in the report's JSON.
struct ChangedTotal {
  std::string key, before, after;
};

/// An op that is decided otherwise, or is in one report only: the other text is empty then.
struct ChangedDecision {
  std::string function;
  int64_t ordinal; ///< in the later report; in the earlier one if only that has the op
  std::string op, name;
  std::string before, after; ///< "computes in bf16, reads bf16 bf16, stores f32; cost: ..."
  bool isContraction = false;
};

struct ReportChanges {
  std::vector<ChangedTotal> totals;
  std::vector<ChangedDecision> decisions; ///< contractions first
  int64_t compared = 0;                   ///< ops that both reports have
  int64_t rereasoned = 0; ///< of these, decided alike by another layer or for another reason
};

/// Compares the JSON of two reports. Ops are paired by function, name and kind, the first of a kind
/// with the first: ordinals alone would shift with every op that a new version inserts.
/// An error says what is no report of this version.
llvm::Expected<ReportChanges> compareReports(StringRef before, StringRef after);

/// A few lines for a person; `earlier` names the first report.
void printChanges(const ReportChanges &changes, StringRef earlier, raw_ostream &os);

llvm::json::Value toJSON(const ReportChanges &changes);

} // namespace mlir::mp

#endif // MP_REPORT_CHANGES_H
