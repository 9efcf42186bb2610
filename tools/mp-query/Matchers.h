// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matches what mp-query knows of ops besides what upstream's mlir-query does.

#ifndef MP_TOOLS_MP_QUERY_MATCHERS_H
#define MP_TOOLS_MP_QUERY_MATCHERS_H

#include "mlir/Query/Matcher/Registry.h"

namespace mlir::mp {

/// Registers upstream's matchers and mp's, which runQueries() lists in its help.
void registerMatchers(query::matcher::Registry &registry);

/// An argument of a matcher made since the last call that names nothing there can be, such as a
/// class; empty if there is none. Upstream's matchers cannot say so themselves.
std::string takeWrongArgument();

} // namespace mlir::mp

#endif // MP_TOOLS_MP_QUERY_MATCHERS_H
