// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads JSON in which no object has a key twice.

#ifndef MP_SUPPORT_JSON_H
#define MP_SUPPORT_JSON_H

#include "llvm/Support/JSON.h"

namespace mpcore::support {

/// As llvm::json::parse, which keeps the last of equal keys of an object; here they are an error,
/// that names the key and, in the same form, where it stands the second time.
llvm::Expected<llvm::json::Value> parseJSON(llvm::StringRef text);

} // namespace mpcore::support

#endif // MP_SUPPORT_JSON_H
