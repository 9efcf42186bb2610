// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads policy, format and target, which the rest is about.

#include "mp/Transforms/Assign/Request.h"
#include "Decisions.h"
#include "mp/Support/Words.h"
#include "mp/Target/Targets.h"

using namespace mlir;
using namespace mlir::mp;

llvm::Expected<const policy::Effective &> RequestReader::getPolicy() {
  std::lock_guard<std::mutex> lock(mutex);
  if (!effective) {
    auto split = findSplitScheme(format.spell());
    StringRef of = split ? numerics::info(numerics::partFormat(*split)).name : format.spell();
    auto found = policy::findPolicy({of.str(), target, policy});
    if (!found)
      return found.takeError();
    effective = std::move(*found);
  }
  return *effective;
}

llvm::Expected<const PrecisionRequest &> RequestReader::get(MLIRContext *context) {
  auto found = getPolicy();
  if (!found)
    return found.takeError();
  std::lock_guard<std::mutex> lock(mutex);
  if (request)
    return *request;
  const policy::Policy &policy = found->policy;
  FloatType narrow = getAssignableFormat(policy.format, context);
  if (!narrow)
    return llvm::createStringError("option 'format' is '" + policy.format + "'" +
                                   support::expectedWords(policy.format, {"bf16", "f16", "tf32"}));
  auto model = target::lookupTarget(policy.target);
  if (!model)
    return llvm::createStringError("option 'target' is '" + policy.target +
                                   "': " + llvm::toString(model.takeError()));
  auto costs = mpcore::performance::CostModel::create(*model);
  if (!costs)
    return costs.takeError();
  return request.emplace(*found, *model, narrow, findSplitScheme(format.spell()),
                         std::move(*costs));
}
