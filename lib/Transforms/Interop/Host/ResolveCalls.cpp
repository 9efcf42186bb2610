// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-resolve-calls: functions as values are numbers, and calls of them choose among those whose
// address is taken.

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mp/Transforms/Interop/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_RESOLVECALLS
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;

static bool isFunction(Type type) { return isa<FunctionType>(type); }

static bool handsFunctions(FunctionType type) {
  return llvm::any_of(type.getInputs(), isFunction) || llvm::any_of(type.getResults(), isFunction);
}

static Type asNumber(Type type) {
  return isFunction(type) ? IndexType::get(type.getContext()) : type;
}

static FunctionType asNumbers(FunctionType type) {
  return FunctionType::get(type.getContext(), llvm::map_to_vector(type.getInputs(), asNumber),
                           llvm::map_to_vector(type.getResults(), asNumber));
}

/// One call for each function that the callee may be.
static void resolve(func::CallIndirectOp op, ArrayRef<func::FuncOp> taken) {
  auto type =
      FunctionType::get(op.getContext(), op.getArgOperands().getTypes(), op.getResultTypes());
  SmallVector<int64_t> numbers;
  for (auto [number, function] : llvm::enumerate(taken))
    if (func::FuncOp(function).getFunctionType() == type)
      numbers.push_back(number);
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto call = [&](Region &region, int64_t number) {
    b.setInsertionPointToStart(&region.emplaceBlock());
    func::FuncOp callee = taken[number];
    auto result = func::CallOp::create(b, callee, op.getArgOperands());
    scf::YieldOp::create(b, result.getResults());
  };
  ArrayRef<int64_t> cases = ArrayRef(numbers).drop_back();
  auto choice =
      scf::IndexSwitchOp::create(b, op.getResultTypes(), op->getOperand(0), cases, cases.size());
  for (auto [region, number] : llvm::zip_equal(choice.getCaseRegions(), cases))
    call(region, number);
  call(choice.getDefaultRegion(), numbers.back());
  op.replaceAllUsesWith(choice.getResults());
  op.erase();
}

namespace {

struct ResolveCalls : mlir::mp::impl::ResolveCallsBase<ResolveCalls> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::ConstantOp> constants;
    SmallVector<func::CallIndirectOp> calls;
    module.walk([&](Operation *op) {
      if (auto constant = dyn_cast<func::ConstantOp>(op))
        constants.push_back(constant);
      else if (auto call = dyn_cast<func::CallIndirectOp>(op))
        calls.push_back(call);
    });
    // A pointer that comes from outside, or goes there, may be any function.
    auto isOpen = [](func::FuncOp function) {
      return (function.isPublic() || function.isExternal()) &&
             handsFunctions(function.getFunctionType());
    };
    if (calls.empty() || llvm::any_of(module.getOps<func::FuncOp>(), isOpen))
      return;

    llvm::SetVector<Operation *> taken;
    for (func::ConstantOp constant : constants) {
      auto function =
          SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(constant, constant.getValueAttr());
      if (!function)
        return;
      taken.insert(function);
    }
    for (func::CallIndirectOp call : calls) {
      auto isCallee = [&](func::ConstantOp constant) {
        return constant.getType() == call.getCallee().getType();
      };
      if (llvm::none_of(constants, isCallee)) {
        call.emitOpError("calls a function of type ")
            << call.getCallee().getType() << ", but no 'func.constant' takes the address of one";
        return signalPassFailure();
      }
    }
    module.walk([&](Operation *op) {
      for (Value result : op->getResults())
        result.setType(asNumber(result.getType()));
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            argument.setType(asNumber(argument.getType()));
      if (auto function = dyn_cast<func::FuncOp>(op))
        function.setFunctionType(asNumbers(function.getFunctionType()));
    });
    for (func::ConstantOp constant : constants) {
      ImplicitLocOpBuilder b(constant.getLoc(), constant);
      auto function =
          SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(constant, constant.getValueAttr());
      Value number = arith::ConstantIndexOp::create(
          b, std::distance(taken.begin(), llvm::find(taken, function)));
      constant->replaceAllUsesWith(ValueRange(number));
      constant.erase();
    }
    auto functions =
        llvm::map_to_vector(taken, [](Operation *op) { return cast<func::FuncOp>(op); });
    for (func::CallIndirectOp call : calls)
      resolve(call, functions);
  }
};

} // namespace
