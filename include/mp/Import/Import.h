// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites text that exporters leave behind into what MLIR can parse.

#ifndef MP_IMPORT_IMPORT_H
#define MP_IMPORT_IMPORT_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace mlir::mp {

/// Rewrites text that MLIR 22 cannot parse because it holds ops of the dialects of exporters, or
/// spellings of older releases, into the dialects mp reads (docs/guides/FromPyTorch.md lists all):
/// - util.func, util.return, util.call, util.optimization_barrier;
/// - {iree_linalg_ext,tm_tensor}.{scatter,scan,sort,topk} into scf.for; where floats are summed or
///   multiplied up the accumulation is in f32 or wider, and pinned there;
/// - util.global: weights kept elsewhere become trailing function arguments, values constants;
/// - attributes of foreign dialects are dropped;
/// - func, std ops, linalg.init_tensor, linalg.fill(...), arith.maxf and the like get their new
///   spelling.
///
/// Every line stays on its line, so locations remain those of the file the user has. Errors, one
/// per line as "FILE:LINE:COLUMN: error: ...", name the tool, the flag or the new spelling for what
/// cannot be translated. Text without leftovers comes back as it is.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> importText(llvm::MemoryBufferRef input);

/// For input that did not parse: what importText would translate or refuse in it, as notes, one
/// per line; empty where nothing in it is foreign. Bytecode of other releases is explained too.
std::string explainLeftovers(llvm::MemoryBufferRef input);

} // namespace mlir::mp

#endif // MP_IMPORT_IMPORT_H
