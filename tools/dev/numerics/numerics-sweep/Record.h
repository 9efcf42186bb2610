// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sweeps that ran to their end, as rows of a table in a Markdown file.

#ifndef MP_TOOLS_DEV_NUMERICSSWEEP_RECORD_H
#define MP_TOOLS_DEV_NUMERICSSWEEP_RECORD_H

#include "Sweep.h"

#include <string>

namespace mpcore::numerics::sweep {

class Record {
public:
  /// Without a path nothing is kept.
  explicit Record(llvm::StringRef path) : path(path) {}

  /// True if the file has a row of this sweep.
  bool has(const Reference &reference, const Task &task, Ask ask) const;
  /// Appends a row to the file; false, with a message on stderr, if it cannot be written.
  bool add(const Reference &reference, const Task &task, Ask ask, const Counts &counts) const;

private:
  std::string path;
};

} // namespace mpcore::numerics::sweep

#endif // MP_TOOLS_DEV_NUMERICSSWEEP_RECORD_H
