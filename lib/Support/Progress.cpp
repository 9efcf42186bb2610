// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stage of the process, under a lock.

#include "mp/Support/Progress.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <chrono>
#include <mutex>

using namespace mpcore::support;

namespace {
struct State {
  std::atomic<Verbosity> verbosity{Verbosity::Normal};
  std::mutex lock;
  std::string stage = "starting";
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};
} // namespace

static State &state() {
  static State *known = new State(); // watches read it to the end
  return *known;
}

void mpcore::support::setVerbosity(Verbosity verbosity) { state().verbosity = verbosity; }
Verbosity mpcore::support::verbosity() { return state().verbosity; }

double mpcore::support::secondsSinceStart() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - state().start).count();
}

void mpcore::support::setStage(const llvm::Twine &stage) {
  State &known = state();
  std::lock_guard guard(known.lock);
  known.stage = stage.str();
  if (known.verbosity == Verbosity::Verbose)
    llvm::errs() << llvm::format("%8.3f s  ", secondsSinceStart()) << known.stage << "\n";
}

std::string mpcore::support::currentStage() {
  State &known = state();
  std::lock_guard guard(known.lock);
  return known.stage;
}
