// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "InfoFlags.h"
#include "mp/Target/Targets.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ManagedStatic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace {
struct InfoFlags {
  cl::opt<bool> showTargets{
      "mp-show-targets",
      cl::desc("Print the GPUs mp knows, their formats and rates, and exit")};
};
} // namespace

static ManagedStatic<InfoFlags> flags;

void mlir::mp::registerInfoFlags() { *flags; }

bool mlir::mp::printInfo() {
  if (!flags->showTargets)
    return false;
  ::mp::target::printTargets(outs());
  return true;
}

void mlir::mp::printVersion(raw_ostream &os) {
#ifdef NDEBUG
  StringRef checks = "without checks";
#else
  StringRef checks = "with checks";
#endif
  os << "mp " MP_VERSION " (" << checks << "), LLVM " LLVM_VERSION_STRING "\n";
}
