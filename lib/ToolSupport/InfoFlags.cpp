// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints targets, policies, schedules and versions, and exits.

#include "InfoFlags.h"
#include "mp/Performance/Estimate.h"
#include "mp/Policy/PolicyJSON.h"
#include "mp/Support/ErrorCode.h"
#include "mp/Target/Targets.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
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
  cl::opt<std::string> showSchedules{
      "mp-show-schedules",
      cl::desc("Print the schedules of a problem by modelled time, fastest first, and exit"),
      cl::value_desc("matmul m=4096 n=4096 k=1024 format=bf16 on A100")};
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

/// `text`: a problem, "on", a part, as in docs/concepts/Performance.md.
static Error printSchedules(StringRef text) {
  using namespace mpcore::performance;
  const size_t at = text.rfind(" on ");
  if (at == StringRef::npos)
    return createStringError("expected 'PROBLEM on PART', found '" + text + "'");
  Expected<Problem> problem = parseProblem(text.take_front(at).trim());
  if (!problem)
    return problem.takeError();
  Expected<const Part &> part = findPart(text.drop_front(at + 4).trim());
  if (!part)
    return part.takeError();
  Expected<std::vector<Ranked>> ranked = mpcore::performance::rank(*problem, *part);
  if (!ranked)
    return ranked.takeError();
  Expected<Ranked> chosen = choose(*problem, *part);
  if (!chosen)
    return chosen.takeError();
  outs() << toString(*problem) << " on " << part->name << ", modelled ("
         << chosen->estimate.evidence.text() << ")\n";
  for (const Ranked &r : *ranked)
    outs() << (toString(r.schedule) == toString(chosen->schedule) ? "* " : "  ")
           << formatv("{0,9:f2} us  {1,-13}", r.estimate.microseconds(), toString(r.estimate.bound))
           << toString(r.schedule) << "\n";
  outs() << formatv(
      "* takes at most {0:f1} % longer than the fastest while one constant is a fifth off\n",
      100 * chosen->atRisk);
  return Error::success();
}

std::optional<int> mlir::mp::printInfo() {
  if (flags->showTargets) {
    target::printTargets(outs());
    return 0;
  }
  Error error = Error::success();
  StringRef flag;
  if (flags->explainError.getNumOccurrences() > 0) {
    flag = "--mp-explain-error: ";
    error = joinErrors(std::move(error), printErrorPages(flags->explainError, outs()));
  } else if (flags->showPolicy.getNumOccurrences() > 0) {
    flag = "--mp-show-policy: ";
    error = joinErrors(std::move(error), printPolicy(flags->showPolicy));
  } else if (flags->showSchedules.getNumOccurrences() > 0) {
    flag = "--mp-show-schedules: ";
    error = joinErrors(std::move(error), printSchedules(flags->showSchedules));
  } else {
    return std::nullopt;
  }
  if (!error)
    return int(ExitStatus::Done);
  errs() << "mp-opt: " << flag << toString(std::move(error)) << "\n";
  return int(ExitStatus::BadInput);
}
