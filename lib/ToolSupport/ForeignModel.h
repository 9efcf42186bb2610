// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Model files of frameworks, which mp's Python package turns into MLIR where it is installed.

#ifndef MP_LIB_TOOLSUPPORT_FOREIGNMODEL_H
#define MP_LIB_TOOLSUPPORT_FOREIGNMODEL_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mlir::mp {

/// The MLIR of a .pt2, .onnx or .tflite file, by `python3 -m mp FILE`, which follows the route of
/// the guides. Null for other files, and where no python3 on PATH has the package: what reads the
/// file next says what it is. An error where the route fails, which has said why by then.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readForeignModel(llvm::StringRef path);

} // namespace mlir::mp

#endif // MP_LIB_TOOLSUPPORT_FOREIGNMODEL_H
