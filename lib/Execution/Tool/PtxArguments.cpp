// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses the --input options of a PTX kernel and uploads arrays.

#include "PtxArguments.h"

#include "TensorMapInput.h"
#include "mp/Execution/Inputs.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;
using llvm::StringRef;

namespace {
class Placer {
public:
  Placer(llvm::ArrayRef<std::string> inputs, emulator::Device &device)
      : inputs(inputs), device(device), arrayOf(inputs.size()) {}

  /// The argument for a parameter.
  llvm::Error place(size_t index, const emulator::KernelParam &parameter);
  PtxArguments arguments;

private:
  llvm::Expected<size_t> addArray(Array array);
  llvm::Error placeMap(size_t index, const emulator::KernelParam &parameter);
  llvm::Expected<size_t> arrayOfMap(size_t index, const TensorMapInput &map);
  llvm::Error at(size_t index, llvm::Error error) {
    return createStringError("--input " + llvm::Twine(index) + ": " +
                             llvm::toString(std::move(error)));
  }

  llvm::ArrayRef<std::string> inputs;
  emulator::Device &device;
  std::vector<std::optional<size_t>> arrayOf; // number among the arrays, of inputs that are arrays
};
} // namespace

llvm::Expected<size_t> Placer::addArray(Array array) {
  auto address = device.alloc(array.data.size());
  if (!address)
    return address.takeError();
  llvm::ArrayRef bytes(reinterpret_cast<const uint8_t *>(array.data.data()), array.data.size());
  if (llvm::Error error = device.write(*address, bytes))
    return std::move(error);
  arguments.arrays.push_back({std::move(array), *address});
  return arguments.arrays.size() - 1;
}

llvm::Expected<size_t> Placer::arrayOfMap(size_t index, const TensorMapInput &map) {
  if (!map.inputNumber) {
    auto array = readInput(map.array);
    if (!array)
      return array.takeError();
    return addArray(std::move(*array));
  }
  if (*map.inputNumber >= index || !arrayOf[*map.inputNumber])
    return createStringError(llvm::formatv(
        "tensor map: \"array\": {0} is no --input before it that is an array", *map.inputNumber));
  return *arrayOf[*map.inputNumber];
}

llvm::Error Placer::placeMap(size_t index, const emulator::KernelParam &parameter) {
  auto map = parseTensorMapInput(inputs[index]);
  if (!map)
    return map.takeError();
  if (parameter.bytes != 128)
    return createStringError(llvm::formatv("a tensor map has 128 bytes, parameter {0} has {1}",
                                           parameter.name, parameter.bytes));
  auto number = arrayOfMap(index, *map);
  if (!number)
    return number.takeError();
  const DeviceArray &array = arguments.arrays[*number];
  auto made = makeTensorMap(*map, array.array, array.address);
  if (!made)
    return made.takeError();
  arguments.values.push_back(emulator::KernelArg::bytes(made->encode()));
  return llvm::Error::success();
}

llvm::Error Placer::place(size_t index, const emulator::KernelParam &parameter) {
  StringRef text = inputs[index];
  if (isTensorMapInput(text)) {
    llvm::Error error = placeMap(index, parameter);
    return error ? at(index, std::move(error)) : llvm::Error::success();
  }
  auto array = readInput(text);
  if (!array)
    return at(index, array.takeError());
  bool byValue = !text.starts_with("@") && array->shape.empty();
  unsigned size = byValue ? array->type.bytes() : 8;
  if (size != parameter.bytes)
    return createStringError(llvm::formatv(
        "--input {0}: expected {1} bytes for parameter {2}, found {3}", index, parameter.bytes,
        parameter.name, byValue ? llvm::Twine(size).str() : "an address of 8"));
  if (byValue) {
    arguments.values.push_back(emulator::KernelArg::bytes(
        {reinterpret_cast<const uint8_t *>(array->data.data()), array->data.size()}));
    return llvm::Error::success();
  }
  auto number = addArray(std::move(*array));
  if (!number)
    return at(index, number.takeError());
  arrayOf[index] = *number;
  arguments.values.push_back(emulator::KernelArg::value(arguments.arrays[*number].address));
  return llvm::Error::success();
}

llvm::Expected<PtxArguments> mlir::mp::placeArguments(llvm::ArrayRef<std::string> inputs,
                                                      const emulator::KernelInfo &kernel,
                                                      emulator::Device &device) {
  if (inputs.size() != kernel.params.size()) {
    std::string parameters;
    for (const emulator::KernelParam &p : kernel.params)
      parameters +=
          llvm::formatv("{0}{1} ({2} bytes)", parameters.empty() ? "" : ", ", p.name, p.bytes)
              .str();
    return createStringError(
        llvm::formatv("--input given {0} times, but {1} has {2} parameters: {3}", inputs.size(),
                      kernel.name, kernel.params.size(), parameters.empty() ? "none" : parameters));
  }
  Placer placer(inputs, device);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (llvm::Error error = placer.place(i, kernel.params[i]))
      return std::move(error);
  return std::move(placer.arguments);
}
