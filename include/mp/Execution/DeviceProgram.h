// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function lowered to GPU kernels and host code, run through libMPRuntime on the emulator or a
// GPU.

#ifndef MP_EXECUTION_DEVICEPROGRAM_H
#define MP_EXECUTION_DEVICEPROGRAM_H

#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Emulator/Driver.h"
#include "mp/Execution/Executable.h"
#include "mp/Runtime/Device.h"
#include "llvm/Support/JSON.h"

namespace mlir::mp {

class Engine;

struct DeviceOptions {
  DeviceOptions() = default;
  /// Without a chip, a device's own, and the default for the emulator.
  DeviceOptions(llvm::StringRef device, llvm::StringRef chip) : device(device) {
    if (!chip.empty())
      this->chip = chip;
    else if (device == "cuda")
      this->chip = "native";
  }

  std::string device = "emulator"; ///< or "cuda"; one of them in a process
  std::string chip =
      "sm_80"; ///< whose instructions and, on the emulator, whose Tensor Cores; or "native"
  bool planBuffers = true;        ///< see mp-host-to-llvm
  std::optional<bool> dispatches; ///< see mp-to-nvvm, whose default is meant where nothing is said
  bool orderedSums = false;       ///< rows are added in ascending order, as the host does
  emulator::LaunchOptions launch; ///< of the emulator
};

/// The summary that mp-plan-buffers left on the function.
struct BufferSummary {
  int64_t buffers = 0, bytes = 0, liveBytes = 0, separate = 0;
};

/// Says that the device or its driver failed, not the program: arguments are as they were, and the
/// same call may succeed when it is made again, or in another process.
class DeviceFault : public llvm::ErrorInfo<DeviceFault, llvm::StringError> {
public:
  static char ID;
  explicit DeviceFault(const llvm::Twine &message)
      : ErrorInfo(message, llvm::inconvertibleErrorCode()) {}
};

class DeviceProgram : public Executable {
public:
  /// Lowers a copy of `module` with mp-to-nvvm; a module that holds kernels is taken as it is, and
  /// the chip is that of its PTX. Errors of the lowering are MLIR diagnostics besides.
  static llvm::Expected<std::unique_ptr<DeviceProgram>>
  compile(ModuleOp module, llvm::StringRef entry, const DeviceOptions &options = {});
  ~DeviceProgram() override;

  const Signature &signature() const override { return types; }
  /// Failures of the device are DeviceFault.
  llvm::Expected<std::vector<Array>> run(llvm::ArrayRef<Array> arguments) override;
  int64_t peakBytes() const override { return peak; }

  /// Calls the function with arrays anywhere, as mp_rt_call_tensors does: nothing is copied that
  /// lies on the device, and `stream` (null: the runtime's) orders everything.
  llvm::Error call(llvm::ArrayRef<mp_rt_tensor> arguments,
                   llvm::MutableArrayRef<mp_rt_tensor> results, void *stream);

  /// Returns the counts of each kernel over all runs on the emulator so far, in the order of first
  /// launches.
  llvm::ArrayRef<emulator::KernelCounts> kernels() const { return counts; }
  /// The options of launches on the emulator from now on.
  emulator::LaunchOptions &launchOptions() { return launch; }
  /// Keeps the counts of every launch on the emulator from now on.
  void recordLaunches() { records = true; }
  /// Returns those, in order.
  llvm::ArrayRef<emulator::LaunchRecord> launches() const { return launched; }
  const BufferSummary &buffers() const { return plan; }
  /// Bytes of the dense constants that the function uses.
  uint64_t constantBytes() const { return constantSize; }

private:
  DeviceProgram() = default;
  llvm::Error lower(const DeviceOptions &options);

  OwningOpRef<ModuleOp> module; ///< lowered; owns constants the code points into
  std::unique_ptr<Engine> engine;
  std::vector<std::unique_ptr<char[]>> constants;
  std::vector<std::string> loaded; ///< records of modules of kernels
  std::vector<std::string> checks; ///< their messages
  std::string entry;
  const void *callable = nullptr; ///< its mp_rt_function
  Signature types;
  BufferSummary plan;
  emulator::LaunchOptions launch;
  std::vector<emulator::KernelCounts> counts;
  bool records = false;
  std::vector<emulator::LaunchRecord> launched;
  int64_t peak = 0;
  uint64_t constantSize = 0;
};

/// A line for each kernel, and one for all.
void printKernels(llvm::raw_ostream &os, llvm::ArrayRef<emulator::KernelCounts> kernels);
llvm::json::Array kernelsToJSON(llvm::ArrayRef<emulator::KernelCounts> kernels);
/// "device memory: ..."
void printBuffers(llvm::raw_ostream &os, const BufferSummary &plan, int64_t peakBytes);

} // namespace mlir::mp

#endif // MP_EXECUTION_DEVICEPROGRAM_H
