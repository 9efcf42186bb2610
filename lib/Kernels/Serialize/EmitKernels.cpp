// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-emit-kernels: translate kernels to PTX, and with ptxas to machine code.

#include "../Select/TargetPart.h"
#include "OutputFile.h"
#include "PTX.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Kernels/Dispatches.h"
#include "mp/Kernels/Passes.h"
#include "mp/Target/Targets.h"

namespace mlir::mp {
#define GEN_PASS_DEF_EMITKERNELS
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {

struct EmitKernels : mlir::mp::impl::EmitKernelsBase<EmitKernels> {
  using Base::Base;

  void runOnOperation() override {
    const auto *model = valueOrError(getOperation(), target::lookupTarget(target));
    if (!model)
      return signalPassFailure();
    spilled.clear();
    for (auto module : llvm::make_early_inc_range(getOperation().getOps<gpu::GPUModuleOp>()))
      if (failed(serialize(module, *model)))
        return signalPassFailure();
  }

  LogicalResult serialize(gpu::GPUModuleOp module, const target::TargetModel &model) {
    Location loc = module.getLoc();
    FailureOr<std::string> ptx = translateToPTX(module, model, optLevel);
    if (failed(ptx) || failed(checkPTX(*ptx, loc)))
      return failure();
    std::string object;
    StringRef extension = "ptx";
    gpu::CompilationTarget format = gpu::CompilationTarget::Assembly;
    if (emit != EmitFormat::PTX) {
      FailureOr<std::string> cubin = assembleChecked(module, *ptx, model);
      if (failed(cubin))
        return failure();
      if (leaveSpilled && !spilled.empty()) {
        getOperation()->setAttr(kSpilledAttrName, ArrayAttr::get(&getContext(), spilled));
        return success();
      }
      object = *cubin;
      extension = "cubin";
      format = gpu::CompilationTarget::Binary;
    }
    if (emit == EmitFormat::Fatbin) {
      FailureOr<std::string> fat = makeFatBinary(*ptx, object, model, loc);
      if (failed(fat))
        return failure();
      object = *fat;
      extension = "fatbin";
      format = gpu::CompilationTarget::Fatbin;
    }
    if (emit == EmitFormat::PTX)
      object = *ptx;
    if (!dir.empty() &&
        failed(writeWhole(dir, (module.getName() + "." + extension).str(), object, loc)))
      return failure();
    replaceByBinary(module, model, format, object);
    return success();
  }

  /// ptxas may spill to fit more blocks into a multiprocessor. Kernels that it does so with are
  /// asked to fit once; true if there are any.
  static bool askForOneBlock(gpu::GPUModuleOp module, ArrayRef<KernelResources> resources) {
    constexpr unsigned mostRegisters = 255;
    bool any = false;
    for (const KernelResources &kernel : resources) {
      if (kernel.spillBytes == 0 || kernel.registers >= mostRegisters)
        continue;
      auto func = module.lookupSymbol<LLVM::LLVMFuncOp>(kernel.name);
      StringRef name = NVVM::NVVMDialect::getMinctasmAttrName();
      if (!func || func->hasAttr(name))
        continue;
      func->setAttr(name, Builder(func.getContext()).getI32IntegerAttr(1));
      any = true;
    }
    return any;
  }

  /// Machine code of `ptx`, which is replaced if it had to be changed.
  FailureOr<std::string> assembleChecked(gpu::GPUModuleOp module, std::string &ptx,
                                         const target::TargetModel &model) {
    Location loc = module.getLoc();
    SmallVector<KernelResources> resources;
    FailureOr<std::string> cubin = assemble(ptx, model, loc, resources);
    if (succeeded(cubin) && askForOneBlock(module, resources)) {
      FailureOr<std::string> again = translateToPTX(module, model, optLevel);
      if (failed(again) || failed(checkPTX(*again, loc)))
        return failure();
      ptx = *again;
      resources.clear();
      cubin = assemble(ptx, model, loc, resources);
    }
    if (failed(cubin))
      return failure();
    bool spills = false;
    for (const KernelResources &kernel : resources) {
      remark::analysis(loc, remarks::kKernelResources)
          << ("kernel '" + kernel.name + "' takes " + Twine(kernel.registers) +
              " registers a thread and " + Twine(kernel.sharedBytes) + " bytes of shared memory")
                 .str();
      if (kernel.spillBytes == 0)
        continue;
      spills = true;
      if (leaveSpilled) {
        spilled.push_back(StringAttr::get(&getContext(), kernel.name));
        continue;
      }
      InFlightDiagnostic message = allowSpills ? emitWarning(loc) : emitError(loc);
      message << "kernel '" << kernel.name << "' spills " << kernel.spillBytes
              << " bytes of registers (" << kernel.registers << " registers a thread)";
    }
    if (spills && !allowSpills && !leaveSpilled)
      return failure();
    return cubin;
  }

  void replaceByBinary(gpu::GPUModuleOp module, const target::TargetModel &model,
                       gpu::CompilationTarget format, StringRef object) {
    OpBuilder b(module);
    auto target = NVVM::NVVMTargetAttr::get(&getContext(), 3, "nvptx64-nvidia-cuda", model.name,
                                            model.ptxFeature());
    Attribute image = gpu::ObjectAttr::get(&getContext(), target, format, b.getStringAttr(object),
                                           nullptr, nullptr);
    gpu::BinaryOp::create(b, module.getLoc(), module.getName(), nullptr,
                          ArrayRef<Attribute>{image});
    module.erase();
  }

  SmallVector<Attribute> spilled; ///< names of kernels
};

} // namespace
