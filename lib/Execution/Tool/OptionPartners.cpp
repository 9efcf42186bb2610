// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Refuses options of mp-run that would change nothing: those of another kind of file, and those
// whose partner is not given.

#include "OptionHandlers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

namespace {
struct Partners {
  StringRef option;
  std::initializer_list<StringRef> of; ///< one of them has to be given
};
} // namespace

static const Partners kPartners[] = {
    {"calibrator", {"calibrate"}},
    {"range-margin", {"ranges"}},
    {"weight-codes", {"round-weights"}},
    {"smooth-share", {"smooth"}},
    {"max-runs", {"bisect", "budget"}},
    {"held-back", {"budget"}},
    {"draws", {"budget", "sensitivity", "ab"}},
    {"formats", {"sensitivity"}},
    {"open-above", {"layers"}},
    {"margin", {"ab"}},
    {"log-every", {"steps"}},
};

static const StringRef kOfPtx[] = {"kernel", "grid", "block", "smem"};

static const StringRef kOfFunctions[] = {
    "entry",      "params",      "compare",   "per-op",       "check-ranges", "check-errors",
    "steps",      "html",        "calibrate", "trace",        "input-dir",    "output-dir",
    "numerics",   "math",        "dim",       "break-on",     "bisect",       "budget",
    "emit-llvm",  "sensitivity", "ab",        "monitor",      "save-state",   "load-state",
    "fit-memory", "log-every",   "weights",   "weight-codes", "calibrator"};

llvm::Error mlir::mp::checkKindOfFile(const llvm::StringSet<> &given, const RunOptions &options) {
  const bool isPtx = StringRef(options.file).ends_with(".ptx");
  for (StringRef option : isPtx ? ArrayRef(kOfFunctions) : ArrayRef(kOfPtx)) {
    if (!given.contains(option))
      continue;
    return createStringError("--" + option +
                             (isPtx ? " is of functions; '" + options.file +
                                          "' is PTX, which runs in the emulator (see --help)"
                                    : " is of kernels in PTX files"));
  }
  if (isPtx && given.contains("device") && options.device != "emulator")
    return createStringError("--device=" + options.device + " is of functions; '" + options.file +
                             "' is PTX, which runs in the emulator (see --help)");
  if (!isPtx && given.contains("max-instructions") && options.device != "emulator")
    return createStringError("--max-instructions is of the emulator: --device=emulator, or a PTX "
                             "file");
  return llvm::Error::success();
}

/// One run alone would read the first rows of a file, and nothing of the others.
static llvm::Error checkBatches(const llvm::StringSet<> &given, const RunOptions &options) {
  static constexpr StringRef kTakers[] = {"steps", "calibrate", "sensitivity", "budget", "ab"};
  if (llvm::any_of(kTakers, [&](StringRef taker) { return given.contains(taker); }))
    return llvm::Error::success();
  for (StringRef input : options.inputs.inputs)
    if (input.starts_with("batches:"))
      return createStringError("--input=" + input +
                               " gives each step the next rows, and one run reads only the first: "
                               "expected --steps=N, 1 for these alone");
  return llvm::Error::success();
}

llvm::Error mlir::mp::checkPartners(const llvm::StringSet<> &given, const RunOptions &options) {
  for (const auto &[option, of] : kPartners)
    if (given.contains(option) && llvm::none_of(of, [&](StringRef o) { return given.contains(o); }))
      return createStringError("--" + option + " is of --" + llvm::join(of, ", --"));
  return checkBatches(given, options);
}
