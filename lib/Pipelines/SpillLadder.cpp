// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers dispatches to machine code, again as long as kernels of some spill.
//
// The rungs of a dispatch whose kernel spills: the next schedule of fewer registers, as often as
// there is one; then the plain route, on which each of its ops is a kernel. Registers are known
// only when ptxas has run, so that each turn lowers a copy of the module as it was with its
// dispatches. A kernel that spills and is of no dispatch is an error, as without this pass.

#include "SpillLadder.h"

#include "mlir/Pass/PassManager.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Kernels/Dispatches.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mp;

namespace {

class SpillLadder : public PassWrapper<SpillLadder, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SpillLadder)

  SpillLadder(OpPassManager lowering, const EmitKernelsOptions &emit)
      : trial(std::move(lowering)), last(ModuleOp::getOperationName()), target(emit.target) {
    EmitKernelsOptions asked = emit;
    last.addPass(createEmitKernels(asked));
    asked.leaveSpilled = true;
    trial.addPass(createEmitKernels(asked));
  }
  SpillLadder(const SpillLadder &other)
      : PassWrapper(other), trial(other.trial), last(other.last), target(other.target) {}

  StringRef getName() const override { return "SpillLadder"; }
  StringRef getDescription() const override {
    return "Lower dispatches to machine code, again where their kernels spill (exact)";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    trial.getDependentDialects(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    number(module);
    while (true) {
      OwningOpRef<Operation *> kept = module->clone();
      if (failed(runPipeline(trial, module)))
        return signalPassFailure();
      auto spilled = module->getAttrOfType<ArrayAttr>(kSpilledAttrName);
      if (!spilled)
        break;
      llvm::DenseSet<Attribute> numbers = numbersOf(module, spilled);
      if (numbers.empty()) { // as many as there were, and an error says so
        module->removeAttr(kSpilledAttrName);
        if (failed(runPipeline(last, module)))
          return signalPassFailure();
        break;
      }
      module.getBodyRegion().takeBody(kept->getRegion(0));
      module->setAttrs(kept->getAttrDictionary());
      step(numbers);
    }
    module.walk([](Operation *op) { op->removeAttr(kDispatchNumberAttrName); });
  }

private:
  static void number(ModuleOp module) {
    Builder b(module.getContext());
    int64_t next = 0;
    module.walk([&](mpk::DispatchOp dispatch) {
      dispatch->setAttr(kDispatchNumberAttrName, b.getI64IntegerAttr(next++));
    });
  }

  /// Numbers of the dispatches that launch kernels of these names.
  static llvm::DenseSet<Attribute> numbersOf(ModuleOp module, ArrayAttr kernels) {
    llvm::DenseSet<Attribute> numbers;
    module.walk([&](gpu::LaunchFuncOp launch) {
      Attribute number = launch->getAttr(kDispatchNumberAttrName);
      if (number && llvm::is_contained(kernels, launch.getKernelName()))
        numbers.insert(number);
    });
    return numbers;
  }

  static std::string scheduleOf(mpk::DispatchOp dispatch) {
    for (Operation &op : dispatch.getBody().front())
      if (auto most = op.getAttrOfType<IntegerAttr>(kMmaRegistersAttrName))
        return llvm::formatv("of at most {0} registers", most.getInt());
    return dispatch.getScheduleAttr().getSettings().str();
  }

  void step(const llvm::DenseSet<Attribute> &numbers) {
    SmallVector<mpk::DispatchOp> dispatches;
    getOperation().walk([&](mpk::DispatchOp dispatch) {
      if (numbers.contains(dispatch->getAttr(kDispatchNumberAttrName)))
        dispatches.push_back(dispatch);
    });
    IRRewriter rewriter(&getContext());
    for (mpk::DispatchOp dispatch : dispatches) {
      if (takeSmallerSchedule(dispatch, target)) {
        ++smaller;
        remark::missed(dispatch.getLoc(), remarks::kSmallerSchedule)
            << "its machine code spills registers: the next schedule is " << scheduleOf(dispatch);
        continue;
      }
      ++plain;
      remark::missed(dispatch.getLoc(), remarks::kPlainDispatch)
          << "its machine code spills registers, and no schedule takes fewer: each op is a kernel";
      rewriter.setInsertionPoint(dispatch);
      inlineDispatch(rewriter, dispatch);
    }
  }

  OpPassManager trial, last;
  std::string target;
  Statistic smaller{this, "smaller-schedules", "Schedules that were replaced by smaller ones"};
  Statistic plain{this, "plain-dispatches", "Dispatches that took the plain route"};
};

} // namespace

std::unique_ptr<Pass> mlir::mp::createSpillLadder(OpPassManager lowering,
                                                  const EmitKernelsOptions &emit) {
  return std::make_unique<SpillLadder>(std::move(lowering), emit);
}
