// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Starts every main of mp: standard streams, limits, a big stack, readable crashes, quiet colours.

#ifndef MP_TOOLSUPPORT_DRIVER_H
#define MP_TOOLSUPPORT_DRIVER_H

#include "mp/ToolSupport/CommonOptions.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <functional>
#include <memory>
#include <string>

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::mp {

/// Holds what a tool is called with: arguments without the program's name and the common options.
struct ToolArguments {
  llvm::SmallVector<char *> arguments;
  CommonOptions common;
};

/// Runs `body` as the whole program `tool` and returns its exit status (support::ExitStatus).
///
/// - Standard streams that are closed are opened, so that no file takes their place; writing to
///   them is an error. What cannot be written to standard output is one, too; a reader that goes
///   away ends the tool as SIGPIPE does, unless it has files to write.
/// - The common options are taken out of the arguments; limits of time and memory end the process
///   in words.
/// - `body` runs on a thread with a stack of 1 GiB (less where the system refuses), because
///   MLIR's parser, verifier and printer recurse over nesting; threads started later get 256 MiB.
/// - A fatal signal in any thread prints one readable message, removes outputs that are not in
///   place, leaves a folder that replays the crash, and exits with 70. With MP_BACKTRACE set in the
///   environment the stack is printed.
/// - Colours are off when NO_COLOR is set and not empty.
int runTool(llvm::StringRef tool, int argc, char **argv,
            llvm::function_ref<int(ToolArguments &)> body);

/// Hooks by which mp-opt treats text that MLIR cannot parse.
struct InputHooks {
  /// With --import: rewrites the input into what can be parsed. Errors hold file, line and column.
  std::function<llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>(llvm::MemoryBufferRef)> import;
  /// Notes on input that failed; empty when there is nothing to say.
  std::function<std::string(llvm::MemoryBufferRef)> explain;
};

/// The program mp-opt: upstream's driver with every flag it has, and on top of it
/// - input checked before parsing (see InputCheck.h),
/// - output that replaces an existing file only when everything succeeded,
/// - plugins that fail to load are errors,
/// - errors without a dump of the whole op (--mlir-print-op-on-diagnostic brings it back),
/// - information flags that need no input, such as --mp-show-targets.
/// `registry` holds the dialects; passes are registered before the call. Returns an ExitStatus: 2
/// for what is wrong before the first pass runs, 1 for a pass that fails, else what the number of
/// the first error says. `hooks` come into play before parsing and after a failure.
int runOpt(int argc, char **argv, DialectRegistry &registry, const InputHooks &hooks = {});

/// The program mp-reduce: mlir-reduce with the input checked, and output that replaces an existing
/// file only when everything succeeded.
int runReduce(int argc, char **argv, DialectRegistry &registry);

/// Calls the main of another library with the arguments. Where that exits by itself because its
/// command line is wrong, the status is 2.
int callForeignMain(llvm::StringRef tool, const ToolArguments &given,
                    llvm::function_ref<int(int, char **)> foreignMain);

/// Hides the options of LLVM's code generators from --help; they still work. To be called before
/// options of our own are registered.
void hideForeignOptions();

} // namespace mlir::mp

#endif // MP_TOOLSUPPORT_DRIVER_H
