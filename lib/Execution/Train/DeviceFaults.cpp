// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Goes on where the device fails. A step's arguments lie on the host and are never written to, so
// that nothing is lost: the step is made again, first here, then in a new process.

#include "Training.h"
#include "mp/Execution/DeviceProgram.h"
#include "llvm/Support/Process.h"

#include <cstdlib>

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;
using llvm::json::Object;

/// The variable tells a new process at which step the device failed, and how often: STEP:N.
static constexpr char kRestarts[] = "MP_TRAIN_RESTARTS";

void Training::tellFault(StringRef reason, StringRef deed, llvm::raw_ostream &os) {
  os << "the device failed at step " << state.step << ": " << reason << "; " << deed << "\n";
  log(Object{{"kind", "device-fault"}, {"reason", reason}, {"then", deed}});
}

/// The first result in which two runs differ in a bit.
static std::optional<size_t> differsIn(ArrayRef<Array> one, ArrayRef<Array> other) {
  for (size_t i = 0; i < one.size(); ++i)
    if (one[i].shape != other[i].shape || one[i].data != other[i].data)
      return i;
  return std::nullopt;
}

/// Computes the step until two runs agree, but no more than three times.
llvm::Expected<std::vector<Array>> Training::verify(Version &version, ArrayRef<Array> arguments,
                                                    std::vector<Array> first,
                                                    llvm::raw_ostream &os) {
  auto second = version.program->run(arguments);
  if (!second)
    return second;
  auto where = differsIn(first, *second);
  if (!where)
    return first;
  const std::string reason = "two runs differ in result " + std::to_string(*where);
  tellFault(reason, "a third decides", os);
  auto third = version.program->run(arguments);
  if (!third)
    return third;
  if (differsIn(*third, first) && differsIn(*third, *second))
    return llvm::make_error<DeviceFault>(reason + ", and a third from both");
  return third;
}

llvm::Expected<std::vector<Array>> Training::compute(Version &version, ArrayRef<Array> arguments,
                                                     llvm::raw_ostream &os) {
  auto once = [&]() -> llvm::Expected<std::vector<Array>> {
    auto results = version.program->run(arguments);
    const bool verifies = config.verifyEvery && state.step % config.verifyEvery == 0;
    return results && verifies ? verify(version, arguments, std::move(*results), os)
                               : std::move(results);
  };
  auto results = once();
  if (results || !results.errorIsA<DeviceFault>())
    return results;
  const std::string reason = llvm::toString(results.takeError());
  tellFault(reason, "the step is made again", os);
  auto again = once();
  if (again || !again.errorIsA<DeviceFault>())
    return again;
  llvm::consumeError(again.takeError()); // what a lost context says is not why it was lost
  return llvm::make_error<DeviceFault>(reason);
}

/// An alarm on a device may be the device's: steps are made again from the newest state, once. True
/// where they are.
llvm::Expected<bool> Training::replay(const watch::Alert &alert, llvm::raw_ostream &os) {
  if (config.place.device == "cpu" || !folder || alert.step == state.replayed)
    return false;
  if (llvm::Error error = goBack([](const SavedState &) { return true; }))
    return std::move(error);
  state.replayed = alert.step;
  os << "alarm " << alert.rule << " at step " << alert.step << ": steps are made again from step "
     << state.step << " on\n";
  log(Object{{"kind", "replay"}, {"cause", alert.rule}, {"of", alert.step}});
  if (llvm::Error error = save(os))
    return std::move(error);
  return true;
}

/// Saves the state before the step that failed, for a new process to go on from; where the same
/// step has failed in too many of them, gives up.
llvm::Expected<Training::Outcome> Training::leaveProcess(StringRef reason, llvm::raw_ostream &os) {
  int64_t step = -1, restarts = 0;
  if (auto known = llvm::sys::Process::GetEnv(kRestarts)) {
    auto [at, count] = StringRef(*known).split(':');
    if (at.getAsInteger(10, step) || count.getAsInteger(10, restarts))
      step = -1;
  }
  restarts = step == state.step ? restarts + 1 : 1;
  // Nothing is there to save before the first state is.
  if (current && !state.arguments.empty())
    if (llvm::Error error = save(os))
      return std::move(error);
  if (!folder || restarts > config.maxRestarts) {
    os << "given up: the device failed at step " << state.step << ": " << reason << "; "
       << (folder ? std::to_string(config.maxRestarts) +
                        " new processes failed there, too; the state before it is kept"
                  : "no states are kept to go on from")
       << "\n";
    log(Object{{"kind", "given-up"}, {"cause", reason}});
    return Outcome::GivenUp;
  }
  tellFault(reason, "a new process goes on from step " + std::to_string(state.step), os);
  ::setenv(kRestarts, (std::to_string(state.step) + ":" + std::to_string(restarts)).c_str(), 1);
  return Outcome::Restart;
}

llvm::Expected<Training::Outcome> Training::run(llvm::raw_ostream &os) {
  auto trained = train(os);
  if (trained)
    return *trained ? Outcome::Done : Outcome::GivenUp;
  if (!trained.errorIsA<DeviceFault>())
    return trained.takeError();
  return leaveProcess(llvm::toString(trained.takeError()), os);
}
