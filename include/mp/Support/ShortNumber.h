// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef MP_SUPPORT_SHORTNUMBER_H
#define MP_SUPPORT_SHORTNUMBER_H

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <string>

namespace mpcore::support {
/// Prints four significant digits, as tables and messages about training have them.
inline std::string shortNumber(double value) {
  return llvm::formatv("{0}", llvm::format("%.4g", value));
}
} // namespace mpcore::support

#endif // MP_SUPPORT_SHORTNUMBER_H
