// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-emit-contractions: write contractions marked mpk.mma as Tensor Core kernels.

#include "GemmKernel.h"
#include "ScheduleChoice.h"
#include "mp/Kernels/MmaSelection.h"
#include "mp/Kernels/Passes.h"
#include "mp/Target/Targets.h"

namespace mlir::mp {
#define GEN_PASS_DEF_EMITCONTRACTIONS
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;
using mpcore::performance::MatmulSchedule;

namespace {

struct EmitContractions : mlir::mp::impl::EmitContractionsBase<EmitContractions> {
  using Base::Base;

  void runOnOperation() override {
    auto model = target::lookupTarget(target);
    if (!model) {
      emitError(getOperation().getLoc()) << toString(model.takeError());
      return signalPassFailure();
    }
    SmallVector<linalg::GenericOp> ops;
    getOperation()->walk([&](linalg::GenericOp op) {
      if (op->hasAttr(kMmaAttrName))
        ops.push_back(op);
    });
    for (linalg::GenericOp op : ops)
      if (failed(emit(op, *model)))
        return signalPassFailure();
    kernels.clear();
  }

private:
  LogicalResult emit(linalg::GenericOp op, const target::TargetModel &model) {
    std::string reason;
    FailureOr<Contraction> contraction = matchContraction(op, reason);
    if (failed(contraction))
      return op.emitOpError("is marked '") << kMmaAttrName << "' but " << reason;
    StringRef format = op->getAttrOfType<StringAttr>(kMmaAttrName).getValue();
    const MmaInstruction *instruction = selectMmaInstruction(model, format);
    if (!instruction)
      return op.emitOpError("is marked '")
             << kMmaAttrName << " = " << format << "', which " << model.name
             << " has no instruction for; run mp-select-contractions for the same target";

    OpBuilder b(op);
    GemmPlan plan = planGemm(b, op, *contraction, *instruction, model);
    llvm::Expected<MatmulSchedule> schedule = scheduleOf(op, plan, model);
    if (!schedule)
      return op.emitOpError() << toString(schedule.takeError());
    plan.schedule = *schedule;
    SmallVector<Value> operands;
    for (Value buffer : op->getOperands())
      operands.push_back(kernelBuffer(b, buffer));
    std::string key = plan.key();
    for (Value operand : operands)
      llvm::raw_string_ostream(key) << operand.getType();
    SmallVector<Value> blocks = gridFactors(b, op.getLoc(), plan);
    gpu::GPUFuncOp &kernel = kernels[key];
    if (!kernel) {
      std::string name = ("mma_" + format + "_" + Twine(plan.schedule.m) + "x" +
                          Twine(plan.schedule.n) + "_" + Twine(kernels.size() - 1))
                             .str();
      kernel =
          emitGemmKernel(kernelModule(), op.getLoc(), name, plan, ValueRange(operands).getTypes());
    }
    for (Size *size : dynamicSizes(plan))
      operands.push_back(size->dynamic);
    launch(b, op.getLoc(), kernel, plan, blocks, operands);
    op.erase();
    return success();
  }

  /// Buffers of static shape are passed as they are, others as their base.
  static Value kernelBuffer(OpBuilder &b, Value buffer) {
    auto type = cast<MemRefType>(buffer.getType());
    int64_t offset;
    SmallVector<int64_t> strides;
    bool isStatic = type.hasStaticShape() && succeeded(type.getStridesAndOffset(strides, offset)) &&
                    !ShapedType::isDynamic(offset) && llvm::none_of(strides, ShapedType::isDynamic);
    if (isStatic)
      return buffer;
    return memref::ExtractStridedMetadataOp::create(b, buffer.getLoc(), buffer).getBaseBuffer();
  }

  gpu::GPUModuleOp kernelModule() {
    if (auto existing = getOperation().lookupSymbol<gpu::GPUModuleOp>(kKernelModuleName))
      return existing;
    OpBuilder b = OpBuilder::atBlockEnd(getOperation().getBody());
    getOperation()->setAttr(gpu::GPUDialect::getContainerModuleAttrName(), b.getUnitAttr());
    return gpu::GPUModuleOp::create(b, getOperation().getLoc(), kKernelModuleName);
  }

  /// Tiles along batch, m and n; null factors are known to be one.
  static SmallVector<Value> gridFactors(OpBuilder &b, Location loc, const GemmPlan &plan) {
    auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(b, loc, value);
    };
    auto tiles = [&](ArrayRef<StridedLoop> loops, int64_t tile) -> Value {
      int64_t known = 1;
      Value product;
      for (const StridedLoop &loop : loops) {
        if (loop.size.isKnown())
          known *= loop.size.value;
        else
          product = product ? arith::MulIOp::create(b, loc, product, loop.size.dynamic).getResult()
                            : loop.size.dynamic;
      }
      if (!product)
        return index((known + tile - 1) / tile);
      Value all = arith::MulIOp::create(b, loc, product, index(known));
      return arith::CeilDivUIOp::create(b, loc, all, index(tile));
    };
    return {tiles(plan.batch, 1), tiles(plan.m, plan.schedule.m), tiles(plan.n, plan.schedule.n)};
  }

  static void launch(OpBuilder &b, Location loc, gpu::GPUFuncOp kernel, const GemmPlan &plan,
                     ArrayRef<Value> factors, ValueRange operands) {
    Value blocks = factors[0];
    for (Value factor : factors.drop_front())
      blocks = b.createOrFold<arith::MulIOp>(loc, blocks, factor);
    OpBuilder::InsertionGuard guard(b);
    bool certain = plan.isCertainlyNonEmpty();
    if (!certain) { // a grid of zero blocks is an error of the driver
      Value zero = arith::ConstantIndexOp::create(b, loc, 0);
      Value any = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, blocks, zero);
      auto branch = scf::IfOp::create(b, loc, any, /*withElseRegion=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value threads = arith::ConstantIndexOp::create(b, loc, plan.threads());
    Value shared = arith::ConstantIntOp::create(b, loc, sharedBytes(plan), 32);
    gpu::LaunchFuncOp::create(b, loc, kernel, gpu::KernelDim3{blocks, one, one},
                              gpu::KernelDim3{threads, one, one}, shared, operands);
  }

  llvm::StringMap<gpu::GPUFuncOp> kernels;
};

} // namespace
