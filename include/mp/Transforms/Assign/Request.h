// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads what decisions rest on, once for all passes of a pipeline.

#ifndef MP_TRANSFORMS_ASSIGN_REQUEST_H
#define MP_TRANSFORMS_ASSIGN_REQUEST_H

#include "mlir/IR/BuiltinTypes.h"
#include "mp/Numerics/SplitPrecision.h"
#include "mp/Performance/CostModel.h"
#include "mp/Policy/PolicyJSON.h"
#include "mp/Transforms/Options.h"
#include <memory>
#include <mutex>

namespace mlir::mp {

/// The policy that holds, its target and that one's costs, and the narrow format of contractions.
struct PrecisionRequest {
  policy::Effective effective;
  const target::TargetModel &target;
  FloatType narrow;                           ///< a way to compute, with f32 storage, if it is tf32
  std::optional<numerics::SplitScheme> split; ///< of contractions into products of `narrow`
  mpcore::performance::CostModel costs;
};

/// Reads what options ask for at the first question. An error comes up again at every other one.
class RequestReader {
public:
  RequestReader(OptionalFormat format, const TargetName &target, StringRef policy)
      : format(format), target(target), policy(policy) {}

  /// Returns the policy that holds, without a look at whether its format can be assigned.
  llvm::Expected<const policy::Effective &> getPolicy();
  llvm::Expected<const PrecisionRequest &> get(MLIRContext *context);

private:
  OptionalFormat format;
  std::string target, policy;
  std::mutex mutex; ///< modules may be decided at once
  std::optional<policy::Effective> effective;
  std::optional<PrecisionRequest> request;
};

using SharedRequest = std::shared_ptr<RequestReader>;

} // namespace mlir::mp

#endif // MP_TRANSFORMS_ASSIGN_REQUEST_H
