// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tries a strategy that the schedule begins beside the one in use, on copies of the state.
//
//   1. copy     the state, once for each of the two
//   2. step     both, on the batches that come next
//   3. judge    alarms of the candidate, and its mean loss beside the other's
//   4. forget   both copies: the training goes on from where it was

#include "Training.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using llvm::json::Object;

/// Returns why the candidate is given up; empty where it is not.
llvm::Expected<std::string> Training::compareInShadow(Version &candidate, llvm::raw_ostream &os) {
  std::vector<Array> usual = state.arguments;
  auto tried = handOver(candidate);
  if (!tried)
    return tried.takeError();
  watch::Watcher judge(candidate.rules);
  if (llvm::Error error = judge.fromJSON(watcher.toJSON()))
    return std::move(error);
  double meanLoss = 0, usualLoss = 0;
  int64_t position = state.position;
  for (int64_t i = 0; i < config.shadowSteps; ++i, ++position) {
    position = skipLeftOut(position);
    auto made = stepOn(candidate, *tried, position, state.step + i, os);
    if (!made)
      return made.takeError();
    auto beside = stepOn(*current, usual, position, state.step + i, os);
    if (!beside)
      return beside.takeError();
    for (const watch::Alert &alert : judge.judge(made->reading))
      if (alert.grade == watch::Grade::Alarm)
        return alert.rule + " at its step " + std::to_string(i) + ": " + alert.reason;
    meanLoss += made->reading.loss.value_or(0) / double(config.shadowSteps);
    usualLoss += beside->reading.loss.value_or(0) / double(config.shadowSteps);
  }
  std::string losses = llvm::formatv("mean loss {0} beside {1}", llvm::format("%.6g", meanLoss),
                                     llvm::format("%.6g", usualLoss));
  if (!(meanLoss - usualLoss <= config.shadowWithin * std::fabs(usualLoss)))
    return losses + llvm::formatv(", more than a share of {0} above it",
                                  llvm::format("%g", config.shadowWithin))
                        .str();
  os << "shadow " << candidate.name << ": " << config.shadowSteps << " steps, " << losses << "\n";
  return std::string();
}

llvm::Error Training::tryInShadow(StringRef name, llvm::raw_ostream &os) {
  auto candidate = versionOf(name);
  if (!candidate)
    return candidate.takeError();
  const double skipped = current->reader->skippedSoFar();
  auto refused = compareInShadow(**candidate, os);
  current->reader->setSkippedSoFar(skipped);
  (*candidate)->reader->setSkippedSoFar(0);
  if (!refused)
    return refused.takeError();
  state.shadowed.push_back(name.str());
  log(Object{{"kind", "shadow"}, {"strategy", name}, {"refused", *refused}});
  if (refused->empty())
    return llvm::Error::success();
  state.quarantined.push_back(name.str());
  os << "shadow " << name << " is given up: " << *refused << "; the training has not moved\n";
  return llvm::Error::success();
}
