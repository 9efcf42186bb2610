// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options of passes and pipelines as JSON.

#ifndef MP_LIB_CAPI_OPTIONS_H
#define MP_LIB_CAPI_OPTIONS_H

#include "mp/Pipelines/Pipelines.h"
#include "llvm/Support/JSON.h"

namespace mlir::mp::capi {

/// The object in `text`, which may be null for none.
llvm::Expected<llvm::json::Object> parseObject(const char *text, llvm::StringRef what);

/// "format=bf16 verify=false": what pass options are parsed from. Values are numbers, strings,
/// booleans, and arrays of those.
llvm::Expected<std::string> optionText(const llvm::json::Object &options);

/// Errors where `pipeline` is one of mp's pipelines and has no option of such a name, or no such
/// value.
llvm::Error checkOptions(llvm::StringRef pipeline, const llvm::json::Object &options);

/// Errors where one of mp's pipelines in the list `text` has options in braces that it does not
/// know. Upstream would say so on standard error.
llvm::Error checkOptionsIn(llvm::StringRef text);

/// Names and texts of the options of one of mp's pipelines as JSON; an error lists those.
llvm::Expected<std::string> describeOptions(llvm::StringRef pipeline);

} // namespace mlir::mp::capi

#endif // MP_LIB_CAPI_OPTIONS_H
