// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The start of every main.

#include "mp/ToolSupport/Driver.h"
#include "CrashGuard.h"
#include "Reproducer.h"
#include "Streams.h"
#include "Watch.h"
#include "mp/Support/ErrorCode.h"
#include "mp/Support/Memory.h"
#include "mp/Support/Progress.h"
#include "mp/ToolSupport/BigStack.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <pthread.h>

using namespace mlir;
using namespace mpcore::support;

namespace {

/// Thread pools started from here on get stacks of `bytes` (address space, not memory).
void setDefaultStackSize(size_t bytes) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, bytes);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

} // namespace

/// The start of a thread that runs a body.
static void *runBody(void *argument) {
  (*static_cast<llvm::function_ref<void()> *>(argument))();
  return nullptr;
}

bool mlir::mp::runOnStack(size_t megabytes, llvm::function_ref<void()> body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, megabytes << 20);
  pthread_t thread;
  bool started = pthread_create(&thread, &attributes, runBody, &body) == 0;
  pthread_attr_destroy(&attributes);
  if (started)
    pthread_join(thread, nullptr);
  return started;
}

int mlir::mp::runTool(llvm::StringRef tool, int argc, char **argv,
                      llvm::function_ref<int(ToolArguments &)> body) {
  prepareStreams(tool);
  llvm::errs().tie(&llvm::outs()); // what an error speaks of comes before it, through a pipe, too
  if (const char *noColor = getenv("NO_COLOR"); noColor && *noColor) {
    llvm::outs().enable_colors(false);
    llvm::errs().enable_colors(false);
  }
  installCrashGuard(tool);
  prepareReproducer(tool, llvm::ArrayRef<const char *>(argv, argc).drop_front(argc > 0));
  ToolArguments given;
  given.arguments.assign(argv + (argc > 0), argv + argc);
  auto common = takeCommonOptions(given.arguments);
  if (!common) {
    llvm::errs() << tool << ": error: " << llvm::toString(common.takeError()) << "\n";
    return int(ExitStatus::BadInput);
  }
  given.common = *common;
  setMemoryLimit(common->maxMemory);
  setVerbosity(common->quiet     ? Verbosity::Quiet
               : common->verbose ? Verbosity::Verbose
                                 : Verbosity::Normal);
  Watch watch(tool, *common);
  setDefaultStackSize(size_t(256) << 20);
  int status = int(ExitStatus::Internal);
  auto run = [&] {
    guardThisThread();
    status = body(given);
  };
  for (size_t megabytes : kStackMegabytes)
    if (runOnStack(megabytes, run))
      return status;
  run(); // no thread to be had: the stack the system gave must do
  return status;
}

void mlir::mp::hideForeignOptions() {
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    if (name != "help" && name != "help-list" && name != "version" && name != "color")
      option->setHiddenFlag(llvm::cl::Hidden);
}
