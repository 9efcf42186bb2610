// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints targets, policies and versions, and exits.

#include "InfoFlags.h"
#include "mp/Policy/PolicyJSON.h"
#include "mp/Support/ErrorCode.h"
#include "mp/Target/Targets.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ManagedStatic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mpcore::support;
namespace policy = mpcore::policy;
namespace target = mpcore::target;

namespace {
struct InfoFlags {
  cl::opt<bool> showTargets{"mp-show-targets",
                            cl::desc("Print the GPUs mp knows, their formats and rates, and exit")};
  cl::opt<std::string> showPolicy{
      "mp-show-policy", cl::desc("Print the policy that holds for these options as JSON, and exit"),
      cl::value_desc("format=F target=T policy=P"), cl::ValueOptional};
  cl::opt<std::string> explainError{
      "mp-explain-error",
      cl::desc("Print the page of a numbered error, such as MP302, or of all, and exit"),
      cl::value_desc("MPnnn")};
};
} // namespace

static ManagedStatic<InfoFlags> flags;

void mlir::mp::registerInfoFlags() { *flags; }

static Error printPolicy(StringRef options) {
  Expected<policy::Request> request = policy::parseRequest(options);
  if (!request)
    return request.takeError();
  Expected<policy::Effective> effective = policy::findPolicy(*request);
  if (!effective)
    return effective.takeError();
  const policy::Policy &policy = effective->policy;
  if (effective->report)
    return createStringError("'" + request->policy +
                             "' is the report of a run: its rows are the policy");
  Expected<const target::TargetModel &> model = target::lookupTarget(policy.target);
  if (!model)
    return model.takeError();
  if (Error error = target::checkFormat(*model, policy.format))
    return error;
  policy::writePolicy(policy, outs());
  return Error::success();
}

std::optional<int> mlir::mp::printInfo() {
  if (flags->showTargets) {
    target::printTargets(outs());
    return 0;
  }
  Error error = Error::success();
  if (flags->explainError.getNumOccurrences() > 0)
    error = printErrorPages(flags->explainError, outs());
  else if (flags->showPolicy.getNumOccurrences() > 0)
    error = joinErrors(std::move(error), printPolicy(flags->showPolicy));
  else
    return std::nullopt;
  if (!error)
    return int(ExitStatus::Done);
  errs() << "mp-opt: "
         << (flags->explainError.empty() ? "--mp-show-policy: " : "--mp-explain-error: ")
         << toString(std::move(error)) << "\n";
  return int(ExitStatus::BadInput);
}
