// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides which arguments and results of a function change their format. A pinned one does as
// pinned, another as the policy's first rule that selects it. With `parameters` narrow in the
// policy, a parameter does if every use of it rounds it to one narrow format anyway: then no number
// changes, only where and how often it is rounded.

#include "../Storage/StoragePermission.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mp/Analysis/Locations.h"
#include "mp/Analysis/Parameters.h"

using namespace mlir;
using namespace mlir::mp;

namespace {
/// Somebody asks this of an argument or a result.
struct Wish {
  FloatType format; ///< its own, to keep it
  std::string by;   ///< "is pinned to 'bf16'"
};
} // namespace

/// Says why a value of the signature cannot be stored in `format`, or returns an empty string.
static std::string whyNoFormat(FunctionOpInterface function, Type type, FloatType format) {
  if (!isNarrowable(type))
    return "only tensors of f32 with a known rank are narrowed";
  if (!getAssignableFormat(getFormatName(format), function.getContext()) || format.isTF32())
    return "only bf16 and f16 are stored without a scale";
  if (!isa<func::FuncOp>(function))
    return "only signatures of func.func can change";
  if (!SymbolTable::symbolKnownUseEmpty(function, function->getParentOp()))
    return "the function has callers in the module";
  return "";
}

/// Returns what the first rule that selects it asks of an argument or result of type `type`.
static std::optional<Wish> findWish(policy::Place place, StringRef function, Type type,
                                    llvm::function_ref<SmallVector<std::string>()> names,
                                    const AssignSettings &settings) {
  FloatType own = getFloatFormat(type);
  const policy::Rule *rule =
      own ? settings.rules.find({"", function, 0, {}, names, {}, place}) : nullptr;
  if (!rule || rule->wish == policy::Wish::Inherit)
    return std::nullopt;
  FloatType format = rule->wish == policy::Wish::Wide ? own
                     : rule->format.empty() ? settings.narrow
                                            : getAssignableFormat(rule->format, type.getContext());
  return Wish{format, "is to be '" + getFormatName(format) + "' by '" + rule->name + "'"};
}

static std::optional<Wish> findWish(policy::Place place, TypeAttr pin, StringRef function,
                                    Type type, llvm::function_ref<SmallVector<std::string>()> names,
                                    const AssignSettings &settings) {
  if (!pin)
    return findWish(place, function, type, names, settings);
  auto format = cast<FloatType>(pin.getValue());
  return Wish{format, "is pinned to '" + getFormatName(format) + "'"};
}

/// The format that an argument or result changes to; null if it stays, with a warning where
/// somebody asks for more.
static FloatType followWish(const Wish &wish, FunctionOpInterface function, const Twine &what,
                            Type type, bool isState) {
  if (wish.format == getFloatFormat(type))
    return {};
  std::string why = isState ? "it carries state from call to call, which is of one type"
                            : whyNoFormat(function, type, wish.format);
  if (why.empty())
    return wish.format;
  function.emitWarning() << what << " " << wish.by << ", but stays as it is: " << why;
  return {};
}

/// The names by which a rule finds an argument or a result.
static SmallVector<std::string> namesOf(Location location, unsigned index) {
  SmallVector<std::string> names = namesIn(location);
  names.push_back("#" + std::to_string(index));
  return names;
}

LogicalResult mlir::mp::decideSignature(FunctionDecisions &decisions,
                                        const AssignSettings &settings) {
  FunctionOpInterface function = decisions.getFunction();
  std::optional<StoragePermissions> permissions; // of every op: not for nothing
  bool narrowsParameters = settings.policy.parameters == policy::SignatureKind::Narrow;
  for (BlockArgument argument : function.getArguments()) {
    const unsigned index = argument.getArgNumber();
    Type type = argument.getType();
    auto names = [&] { return namesOf(argument.getLoc(), index); };
    if (std::optional<Wish> wish = findWish(
            policy::Place::Argument, function.getArgAttrOfType<TypeAttr>(index, kPinAttrName),
            function.getName(), type, names, settings)) {
      const bool isState = function.getArgAttr(index, kStateAttrName) != nullptr;
      if (FloatType format = followWish(*wish, function, "argument " + Twine(index), type, isState))
        decisions.setStorage(argument, format);
      continue;
    }
    if (!narrowsParameters || whyParameter(function, index).empty())
      continue;
    if (!permissions)
      permissions.emplace(decisions);
    FloatType format = permissions->getCommonRounding(argument);
    if (format && whyNoFormat(function, type, format).empty())
      decisions.setStorage(argument, format);
  }
  return success();
}

static bool isNextState(FunctionOpInterface function, unsigned index) {
  return llvm::any_of(function.getArguments(), [&](BlockArgument argument) {
    auto next = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), kStateAttrName);
    return next && next.getInt() == int64_t(index);
  });
}

LogicalResult mlir::mp::chooseResults(FunctionDecisions &decisions, const AssignSettings &settings,
                                      CarriedStorage &carried) {
  FunctionOpInterface function = decisions.getFunction();
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    const SmallVector<OpOperand *> returned = decisions.getReturned(index);
    const TiedValues *tied = returned.empty() ? nullptr : carried.ties.findFed(*returned.front());
    if (!tied)
      continue;
    auto names = [&, index = index] {
      SmallVector<std::string> found;
      for (OpOperand *operand : returned)
        found.append(namesOf(operand->get().getLoc(), index));
      for (StringRef attribute : {"ml_program.identifier", "jax.result_info"})
        if (auto name = function.getResultAttrOfType<StringAttr>(index, attribute))
          found.push_back(name.str());
      return found;
    };
    std::optional<Wish> wish =
        findWish(policy::Place::Result, function.getResultAttrOfType<TypeAttr>(index, kPinAttrName),
                 function.getName(), type, names, settings);
    if (!wish)
      continue;
    if (FloatType format = followWish(*wish, function, "result " + Twine(index), type,
                                      isNextState(function, index)))
      carried.chosen[tied] = format;
  }
  return success();
}
