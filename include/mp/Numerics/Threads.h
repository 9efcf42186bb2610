// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Limits how many threads computations take.

#ifndef MP_NUMERICS_THREADS_H
#define MP_NUMERICS_THREADS_H

namespace mpcore::numerics {

/// Sets on how many threads functions run that are not told how many. 0: one per processor.
void setThreads(unsigned count);

/// Returns that number, at least 1.
unsigned threadCount();

} // namespace mpcore::numerics

#endif // MP_NUMERICS_THREADS_H
