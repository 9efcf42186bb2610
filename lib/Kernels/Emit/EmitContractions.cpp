// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-emit-contractions: write contractions marked mpk.mma, alone or in dispatches, as
// Tensor Core kernels.

#include "../Build/KernelFunction.h"
#include "GemmEpilogues.h"
#include "GemmKernel.h"
#include "ScheduleChoice.h"
#include "mp/Dialect/MPK/MPKDialect.h"
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
    SmallVector<mpk::DispatchOp> dispatches;
    getOperation()->walk([&](Operation *op) {
      if (auto dispatch = dyn_cast<mpk::DispatchOp>(op)) {
        if (dispatch.getSchedule() && dispatch.getSchedule()->getFamily() == mpk::Family::Matmul)
          dispatches.push_back(dispatch);
      } else if (op->hasAttr(kMmaAttrName) && !op->getParentOfType<mpk::DispatchOp>()) {
        ops.push_back(cast<linalg::GenericOp>(op));
      }
    });
    for (linalg::GenericOp op : ops)
      if (failed(emitContraction(op, *model)))
        return signalPassFailure();
    for (mpk::DispatchOp dispatch : dispatches)
      if (failed(emitDispatch(dispatch, *model)))
        return signalPassFailure();
    kernels.clear();
  }

private:
  /// A contraction on buffers: C is written, or added to.
  LogicalResult emitContraction(linalg::GenericOp op, const target::TargetModel &model) {
    std::string reason;
    FailureOr<Contraction> contraction = matchContraction(op, reason);
    if (failed(contraction))
      return op.emitOpError("is marked '") << kMmaAttrName << "' but " << reason;
    OpBuilder b(op);
    SmallVector<GemmOperand> operands;
    for (auto [buffer, access] : llvm::zip_equal(op->getOperands(), contraction->access))
      operands.push_back({buffer, access, {}, {}});
    SmallVector<OpFoldResult> sizes;
    for (Range range : cast<linalg::LinalgOp>(op.getOperation()).createLoopRanges(b, op.getLoc()))
      sizes.push_back(range.size);
    const bool fresh = op->hasAttr(kMmaFreshAttrName);
    if (failed(emitKernel(op, op, model, *contraction, operands, sizes, {},
                          fresh ? "fresh" : "added",
                          [&](const GemmEpilogue &e) { storeSums(e, fresh); })))
      return failure();
    op.erase();
    return success();
  }

  /// A dispatch on buffers: one contraction, and elementwise work on its result.
  LogicalResult emitDispatch(mpk::DispatchOp dispatch, const target::TargetModel &model) {
    std::string reason;
    FailureOr<EpiloguePlan> plan = planEpilogue(dispatch.getBody().front(), reason);
    if (failed(plan))
      return dispatch.emitOpError("is scheduled as a matmul, but cannot be one kernel because ")
             << reason;
    NumberLaunches numbered(dispatch);
    OpBuilder b(dispatch);
    DispatchEpilogue epilogue(dispatch, *plan);
    SmallVector<OpFoldResult> sizes = loopSizes(b, dispatch, *plan);
    if (failed(emitKernel(dispatch, plan->op, model, plan->contraction, epilogue.operands(), sizes,
                          epilogue.scalars(), epilogue.text(),
                          [&](const GemmEpilogue &e) { epilogue.emit(e); })))
      return failure();
    dispatch.erase();
    return success();
  }

  /// `root` becomes a launch of a kernel for `op`.
  LogicalResult emitKernel(Operation *root, linalg::GenericOp op, const target::TargetModel &model,
                           const Contraction &contraction, ArrayRef<GemmOperand> operands,
                           ArrayRef<OpFoldResult> sizes, ValueRange scalars, StringRef text,
                           function_ref<void(const GemmEpilogue &)> epilogue) {
    StringRef format = op->getAttrOfType<StringAttr>(kMmaAttrName).getValue();
    const MmaInstruction *instruction = selectMmaInstruction(model, format);
    if (!instruction)
      return op.emitOpError("is marked '")
             << kMmaAttrName << " = " << format << "', which " << model.name
             << " has no instruction for; run mp-select-contractions for the same target";
    OpBuilder b(root);
    Location loc = root->getLoc();
    GemmPlan plan = planGemm(b, loc, contraction, operands, sizes, *instruction, model);
    llvm::Expected<MatmulSchedule> schedule = scheduleOf(op, plan, model);
    if (!schedule)
      return op.emitOpError() << toString(schedule.takeError());
    plan.schedule = *schedule;
    SmallVector<Value> arguments;
    for (const GemmOperand &operand : operands)
      arguments.push_back(kernelBuffer(b, operand.buffer));
    llvm::append_range(arguments, scalars);
    std::string key = plan.key();
    llvm::raw_string_ostream stream(key);
    for (Value argument : arguments)
      stream << ' ' << argument.getType();
    stream << text;
    SmallVector<Value> blocks = gridFactors(b, loc, plan);
    gpu::GPUFuncOp &kernel = kernels[key];
    if (!kernel) {
      std::string name = ("mma_" + format + "_" + Twine(plan.schedule.m) + "x" +
                          Twine(plan.schedule.n) + "_" + Twine(kernels.size() - 1))
                             .str();
      TypeRange types = ValueRange(arguments).getTypes();
      kernel = emitGemmKernel(kernelModule(), loc, name, plan, types.take_front(operands.size()),
                              types.drop_front(operands.size()), epilogue);
    }
    for (Size *size : dynamicSizes(plan))
      arguments.push_back(size->dynamic);
    launch(b, loc, kernel, plan, blocks, arguments);
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
