// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes measured numbers in JSON, which has no infinities and no NaN, and in messages.

#ifndef MP_WATCH_NUMBERS_H
#define MP_WATCH_NUMBERS_H

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <cmath>
#include <optional>

namespace mpcore::watch {

/// The number, or null where it is not finite or was not measured.
inline llvm::json::Value numberOrNull(std::optional<double> value) {
  return value && std::isfinite(*value) ? llvm::json::Value(*value) : llvm::json::Value(nullptr);
}

/// Prints four significant digits, as tables and messages about training have them.
inline std::string shortNumber(double value) {
  return llvm::formatv("{0}", llvm::format("%.4g", value));
}

} // namespace mpcore::watch

#endif // MP_WATCH_NUMBERS_H
