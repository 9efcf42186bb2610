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
  /// Bytes that are passed, and what they are in words.
  struct Value {
    llvm::SmallVector<uint8_t, 8> bytes;
    size_t align;
    std::string what;
    std::optional<size_t> array; ///< whose address it is
  };

  llvm::Expected<Value> read(size_t index, StringRef text);
  llvm::Expected<Value> readMap(size_t index, StringRef text);
  llvm::Expected<Value> readStruct(size_t index, StringRef text);
  llvm::Expected<size_t> addArray(Array array);
  llvm::Expected<size_t> arrayOfMap(size_t index, const TensorMapInput &map);
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

llvm::Expected<Placer::Value> Placer::readMap(size_t index, StringRef text) {
  auto map = parseTensorMapInput(text);
  if (!map)
    return map.takeError();
  auto number = arrayOfMap(index, *map);
  if (!number)
    return number.takeError();
  const DeviceArray &array = arguments.arrays[*number];
  auto made = makeTensorMap(*map, array.array, array.address);
  if (!made)
    return made.takeError();
  auto encoded = made->encode();
  return Value{{encoded.begin(), encoded.end()}, 64, "a tensor map of 128", std::nullopt};
}

/// "(i32:7; 8xf32=0; (i8:1; i64:2))": fields as C lays them out, the bytes between them zero.
llvm::Expected<Placer::Value> Placer::readStruct(size_t index, StringRef text) {
  Value whole{{}, 1, "", std::nullopt};
  auto padTo = [&](size_t align) { whole.bytes.resize(llvm::alignTo(whole.bytes.size(), align)); };
  size_t start = 1;
  int depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (depth == 0 && at + 1 < text.size())
      return createStringError("structure: '" + text.substr(at + 1) + "' stands behind its end");
    bool ends = depth == 0 || (depth == 1 && text[at] == ';');
    if (!ends)
      continue;
    auto field = read(index, text.slice(start, at).trim());
    if (!field)
      return field.takeError();
    padTo(field->align);
    whole.bytes.append(field->bytes);
    whole.align = std::max(whole.align, field->align);
    start = at + 1;
  }
  if (depth != 0)
    return createStringError("structure: a parenthesis is not closed");
  padTo(whole.align);
  whole.what = "a structure of " + std::to_string(whole.bytes.size());
  return whole;
}

llvm::Expected<Placer::Value> Placer::read(size_t index, StringRef text) {
  if (isTensorMapInput(text))
    return readMap(index, text);
  if (text.starts_with("("))
    return readStruct(index, text);
  auto array = readInput(text);
  if (!array)
    return array.takeError();
  if (!text.starts_with("@") && array->shape.empty()) {
    llvm::ArrayRef bytes(reinterpret_cast<const uint8_t *>(array->data.data()), array->data.size());
    return Value{
        {bytes.begin(), bytes.end()}, bytes.size(), std::to_string(bytes.size()), std::nullopt};
  }
  auto number = addArray(std::move(*array));
  if (!number)
    return number.takeError();
  return Value{emulator::KernelArg::value(arguments.arrays[*number].address).data, 8,
               "an address of 8", *number};
}

llvm::Error Placer::place(size_t index, const emulator::KernelParam &parameter) {
  auto value = read(index, inputs[index]);
  if (!value)
    return createStringError("--input " + llvm::Twine(index) + ": " +
                             llvm::toString(value.takeError()));
  if (value->bytes.size() != parameter.bytes)
    return createStringError(
        llvm::formatv("--input {0}: expected {1} bytes for parameter {2}, found {3}", index,
                      parameter.bytes, parameter.name, value->what));
  arrayOf[index] = value->array;
  arguments.values.push_back(emulator::KernelArg::bytes(value->bytes));
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
