// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HostileVerdict.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/PassManager.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Execution/Compare/Trace.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Transforms/Optimize/Passes.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

llvm::Expected<std::vector<Array>> mlir::mp::test::runInF64(Program &program,
                                                            ArrayRef<Array> inputs) {
  std::vector<Array> wide;
  for (auto [input, parameter] : llvm::zip_equal(inputs, program.signature().arguments))
    wide.push_back(llvm::cantFail(convertTo(input, parameter.type)));
  return program.run(wide);
}

std::optional<std::vector<Array>> mlir::mp::test::runOnce(ModuleOp module, ArrayRef<Array> inputs,
                                                          bool inF64) {
  ProgramOptions options;
  options.promoteToF64 = inF64;
  options.optimise = false;
  auto program = Program::compile(module, "main", options);
  auto results = !program ? program.takeError()
                 : inF64  ? runInF64(**program, inputs)
                          : (*program)->run(inputs);
  if (results)
    return std::move(*results);
  llvm::consumeError(results.takeError());
  return std::nullopt;
}

static bool isFinite(Attribute constant) {
  if (auto number = dyn_cast_or_null<FloatAttr>(constant))
    return number.getValue().isFinite();
  auto elements = dyn_cast_or_null<DenseFPElementsAttr>(constant);
  return !elements || llvm::all_of(elements, [](const APFloat &x) { return x.isFinite(); });
}

/// No constant is infinite or NaN.
static bool hasFiniteConstants(ModuleOp module) {
  return !module
              .walk([](Operation *op) {
                Attribute value;
                bool odd = matchPattern(op, m_Constant(&value)) && !isFinite(value);
                return odd ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}

/// Rounded to its format, a constant is infinite that was not.
static bool hasOverflowingConstant(ModuleOp original, ModuleOp converted) {
  OwningOpRef<ModuleOp> optimized = converted.clone();
  PassManager manager(converted.getContext());
  manager.addPass(createOptimizeCasts()); // which rounds constants
  return hasFiniteConstants(original) && succeeded(manager.run(*optimized)) &&
         !hasFiniteConstants(*optimized);
}

/// Looks for finite values that are infinite or NaN behind a cast, or as the result of a
/// contraction that is stored narrow. Values inside regions and other functions are not seen.
static bool hasOverflow(ModuleOp converted, ArrayRef<Array> inputs) {
  OwningOpRef<ModuleOp> copy = converted.clone();
  auto function = (*copy).lookupSymbol<func::FuncOp>("main");
  struct Step {
    bool isCast; // or a contraction
    size_t from, to;
  };
  SmallVector<Step> steps;
  SmallVector<Value> values;
  auto add = [&](Value value) {
    values.push_back(value);
    return function.getNumResults() + values.size() - 1;
  };
  for (Operation &op : function.getBody().front())
    if (isa<CastOp>(op) || getOpClass(&op) == OpClass::TensorCore)
      for (Value operand : op.getOperands().take_front(2))
        if (getFloatFormat(operand.getType()) && op.getNumResults() == 1 &&
            !getFloatFormat(op.getResult(0).getType()).isF32())
          steps.push_back({isa<CastOp>(op), add(operand), add(op.getResult(0))});
  if (llvm::Error error = returnValues(function, values)) {
    llvm::consumeError(std::move(error));
    return false;
  }
  auto results = runOnce(*copy, inputs);
  auto isOdd = [](double x) { return !std::isfinite(x); };
  return results && llvm::any_of(steps, [&](const Step &step) {
           std::vector<double> from = (*results)[step.from].values(),
                               to = (*results)[step.to].values();
           if (!step.isCast)
             return llvm::none_of(from, isOdd) && llvm::any_of(to, isOdd);
           return llvm::any_of(llvm::zip_equal(from, to), [&](auto pair) {
             return !isOdd(std::get<0>(pair)) && isOdd(std::get<1>(pair));
           });
         });
}

/// Leaves of a function its first block alone, which returns all its tensors of floats.
static void returnFirstBlock(func::FuncOp function) {
  Block &entry = function.getBody().front();
  SmallVector<Value> values;
  for (Operation &op : entry)
    for (Value result : op.getResults())
      if (isa<RankedTensorType>(result.getType()) && getFloatFormat(result.getType()))
        values.push_back(result);
  Operation *end = entry.getTerminator();
  OpBuilder builder(end);
  func::ReturnOp::create(builder, end->getLoc(), values);
  end->erase();
  for (Block &block : llvm::drop_begin(function.getBody()))
    block.dropAllReferences();
  while (!function.getBody().hasOneBlock())
    function.getBody().back().erase();
  function.removeResAttrsAttr();
  function.setType(
      builder.getFunctionType(function.getArgumentTypes(), ValueRange(values).getTypes()));
}

bool mlir::mp::test::exceedsF32(ModuleOp original, ArrayRef<Array> inputs) {
  OwningOpRef<ModuleOp> copy = original.clone();
  returnFirstBlock((*copy).lookupSymbol<func::FuncOp>("main"));
  auto results = runOnce(*copy, inputs, /*inF64=*/true);
  auto exceeds = [](double x) { return std::isfinite(x) && std::fabs(x) > 0x1.fffffep127; };
  return results && llvm::any_of(*results, [&](const Array &array) {
           return array.type.isFloat && llvm::any_of(array.values(), exceeds);
         });
}

/// Tells whether casts that clamp instead of overflowing leave the result finite.
static bool staysFiniteSaturated(ModuleOp converted, ArrayRef<Array> inputs, unsigned result,
                                 int64_t element) {
  OwningOpRef<ModuleOp> copy = converted.clone();
  (*copy).walk([&](CastOp op) {
    if (op.getOverflow() == Overflow::IEEE)
      op.setOverflow(Overflow::Saturate);
  });
  auto results = runOnce(*copy, inputs);
  return results && std::isfinite((*results)[result].value(element));
}

Verdict mlir::mp::test::whyNotFinite(ModuleOp original, ModuleOp converted,
                                     const HostileRecipe &recipe, ArrayRef<Array> inputs,
                                     unsigned result, int64_t element) {
  if (hasOverflowingConstant(original, converted) || hasOverflow(converted, inputs))
    return Verdict::Overflow;
  bool isPole = hostileFamilies()[recipe.family].isPole;
  bool seesAll = isPole || recipe.control == Control::None;
  return !seesAll && staysFiniteSaturated(converted, inputs, result, element) ? Verdict::Overflow
                                                                              : Verdict::Pole;
}
