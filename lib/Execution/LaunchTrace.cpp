// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lays the launches of a run out in time, for Perfetto and chrome://tracing.

#include "mp/Execution/KernelEstimates.h"

using namespace mlir;
using namespace mlir::mp;
namespace json = llvm::json;

/// An event of the "Trace Event Format" that names the one process or its one track.
static json::Object naming(StringRef what, const Twine &name) {
  return json::Object{{"ph", "M"},
                      {"pid", 0},
                      {"tid", 0},
                      {"name", what},
                      {"args", json::Object{{"name", name.str()}}}};
}

json::Value mlir::mp::traceLaunches(ArrayRef<emulator::LaunchRecord> launches,
                                    const performance::Part *part) {
  json::Array events{
      naming("process_name", part ? part->name + ", modelled, never measured"
                                  : Twine("emulator, seconds of the machine it ran on")),
      naming("thread_name", "kernels, one after the other")};
  double start = 0; // microseconds, as the format has it
  for (const emulator::LaunchRecord &launch : launches) {
    const emulator::LaunchStats &stats = launch.stats;
    json::Object facts{{"blocks", stats.blocks},
                       {"threads", stats.threads},
                       {"warp instructions", stats.warpInstructions},
                       {"global bytes", stats.globalBytes},
                       {"bank conflicts", stats.bankConflicts}};
    double seconds = stats.seconds;
    if (part) {
      performance::Estimate estimate = performance::estimate(countsOf(stats, *part), *part);
      seconds = estimate.seconds;
      facts["bound"] = toString(estimate.bound);
    }
    events.push_back(json::Object{{"ph", "X"},
                                  {"pid", 0},
                                  {"tid", 0},
                                  {"name", json::fixUTF8(launch.kernel)},
                                  {"ts", start},
                                  {"dur", seconds * 1e6},
                                  {"args", std::move(facts)}});
    start += seconds * 1e6;
  }
  return json::Object{{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}};
}
