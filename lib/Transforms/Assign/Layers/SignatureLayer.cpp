// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides which arguments change their format. A pinned one does as pinned. With `parameters`
// narrow in the policy, a parameter does if every use of it rounds it to one narrow format anyway:
// then no number changes, only where and how often it is rounded. Results keep their format.

#include "../Storage/StoragePermission.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mp/Analysis/Parameters.h"

using namespace mlir;
using namespace mlir::mp;

/// Says why the argument cannot be stored in `format`, or returns an empty string.
static std::string whyNot(FunctionOpInterface function, BlockArgument argument, FloatType format) {
  if (!isNarrowable(argument.getType()))
    return "only tensors of f32 with a known rank are narrowed";
  if (!getAssignableFormat(getFormatName(format), function.getContext()) || format.isTF32())
    return "only bf16 and f16 are stored without a scale";
  if (!isa<func::FuncOp>(function))
    return "only signatures of func.func can change";
  if (!SymbolTable::symbolKnownUseEmpty(function, function->getParentOp()))
    return "the function has callers in the module";
  return "";
}

LogicalResult mlir::mp::decideSignature(FunctionDecisions &decisions,
                                        const AssignSettings &settings) {
  FunctionOpInterface function = decisions.getFunction();
  std::optional<StoragePermissions> permissions; // of every op: not for nothing
  bool narrowsParameters = settings.policy.parameters == policy::SignatureKind::Narrow;
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    FloatType own = getFloatFormat(argument.getType());
    if (auto pin = function.getArgAttrOfType<TypeAttr>(index, kPinAttrName)) {
      auto format = cast<FloatType>(pin.getValue());
      std::string why = format == own ? "" : whyNot(function, argument, format);
      if (!why.empty())
        function.emitWarning() << "argument " << index << " is pinned to " << format
                               << ", but stays as it is: " << why;
      else if (format != own)
        decisions.setStorage(argument, format);
      continue;
    }
    if (!narrowsParameters || whyParameter(function, index).empty())
      continue;
    if (!permissions)
      permissions.emplace(decisions);
    FloatType format = permissions->getCommonRounding(argument);
    if (format && whyNot(function, argument, format).empty())
      decisions.setStorage(argument, format);
  }
  return success();
}
