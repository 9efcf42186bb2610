// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments of a PTX kernel from --input: arrays become device memory, scalars and tensor maps go
// by value.

#ifndef MP_LIB_EXECUTION_PTXARGUMENTS_H
#define MP_LIB_EXECUTION_PTXARGUMENTS_H

#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Emulator/Device.h"
#include "mp/Execution/Array.h"

namespace mlir::mp {

/// An array in device memory.
struct DeviceArray {
  Array array;
  emulator::DevicePtr address;
};

struct PtxArguments {
  std::vector<DeviceArray> arrays; ///< in the order of the inputs, those of tensor maps among them
  std::vector<emulator::KernelArg> values;
};

llvm::Expected<PtxArguments> placeArguments(llvm::ArrayRef<std::string> inputs,
                                            const emulator::KernelInfo &kernel,
                                            emulator::Device &device);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_PTXARGUMENTS_H
