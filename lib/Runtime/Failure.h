// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds the text of the last failure.

#ifndef MP_LIB_RUNTIME_FAILURE_H
#define MP_LIB_RUNTIME_FAILURE_H

#include <string>

namespace mpcore::runtime {

/// The text that mp_rt_failure_text() returns, of this thread.
std::string &failureText();

} // namespace mpcore::runtime

#endif // MP_LIB_RUNTIME_FAILURE_H
