// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks at the casts of arguments that contractions read.

#include "ConvertedFormat.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Support/ErrorCode.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mp;

LogicalResult mlir::mp::checkConverted(FunctionOpInterface function, FloatType asked) {
  llvm::SetVector<Type> found;
  auto note = [&](Operation *cast, FloatType read, bool inserted) {
    bool isContracted = llvm::any_of(cast->getUsers(), [](Operation *user) {
      return isContraction(user) && !user->hasAttr(kPinAttrName);
    });
    if (inserted && isContracted && isa<BlockArgument>(cast->getOperand(0)))
      found.insert(read);
  };
  bool anyAsked = false;
  function->walk([&](Operation *op) {
    if (auto round = dyn_cast<RoundOp>(op))
      note(op, cast<FloatType>(round.getFormat()), round.getInserted());
    auto narrowing = dyn_cast<CastOp>(op);
    if (narrowing && narrowing.isNarrowing())
      note(op, narrowing.getResultFormat(), narrowing.getInserted());
    anyAsked |= narrowing && narrowing.getResultFormat() == asked;
  });
  if (found.empty() || anyAsked || found.contains(asked))
    return success();
  return function->emitError() << "function '" << function.getName() << "' is converted to "
                               << found.front() << " already, and 'format' asks for " << asked
                               << "; convert the original module, or leave 'format' out"
                               << support::tag(support::ErrorCode::ConvertedAlready);
}
