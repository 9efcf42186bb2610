// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements host arrays: element types, patterns, values and conversion.

#include "mp/Execution/Array.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mp/Numerics/ArrayCast.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstring>

using namespace mlir;
using namespace mlir::mp;

std::optional<ElementType> ElementType::of(Type type) {
  if (auto format = dyn_cast<FloatType>(type)) {
    auto known = numerics::formatOf(format.getFloatSemantics());
    return known ? std::optional(floating(*known)) : std::nullopt;
  }
  if (type.isIndex())
    return integer(64);
  if (auto number = dyn_cast<IntegerType>(type))
    if (number.getWidth() >= 1 && number.getWidth() <= 64)
      return integer(number.getWidth(), number.isUnsigned());
  if (auto quantized = dyn_cast<quant::QuantizedType>(type))
    return integer(quantized.getStorageTypeIntegralWidth(), !quantized.isSigned());
  return std::nullopt;
}

std::optional<ElementType> ElementType::parse(StringRef spelling) {
  if (auto format = numerics::parseFormat(spelling))
    return floating(*format);
  if (spelling == "index")
    return integer(64);
  bool isUnsigned = spelling.consume_front("ui");
  if (!isUnsigned && !spelling.consume_front("si") && !spelling.consume_front("i"))
    return std::nullopt;
  unsigned width;
  if (spelling.getAsInteger(10, width) || width < 1 || width > 64)
    return std::nullopt;
  return integer(width, isUnsigned);
}

unsigned ElementType::bits() const { return isFloat ? numerics::info(format).bits : width; }

unsigned ElementType::bytes() const {
  return isFloat ? numerics::storageBytes(format) : llvm::bit_ceil((width + 7) / 8);
}

std::string ElementType::str() const {
  if (isFloat)
    return numerics::toString(format).str();
  return (isUnsigned ? "ui" : "i") + llvm::utostr(width);
}

bool ElementType::operator==(const ElementType &other) const {
  return isFloat == other.isFloat &&
         (isFloat ? format == other.format
                  : width == other.width && isUnsigned == other.isUnsigned);
}

std::optional<int64_t> mlir::mp::elementCount(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    if (size < 0 || llvm::MulOverflow(count, size, count) || count > (int64_t(1) << 62))
      return std::nullopt;
  return count;
}

uint64_t mlir::mp::byteSize(const ElementType &type, ArrayRef<int64_t> shape) {
  uint64_t bytes = type.bytes();
  for (int64_t size : shape)
    bytes = llvm::SaturatingMultiply(bytes, uint64_t(size));
  return bytes;
}

std::string mlir::mp::typeString(ArrayRef<int64_t> shape, const ElementType &type) {
  std::string text;
  for (int64_t size : shape)
    text += (size < 0 ? "?" : llvm::itostr(size)) + "x";
  return text + type.str();
}

Array::Array(ElementType type, ArrayRef<int64_t> shape) : type(type), shape(shape) {
  data.resize(size_t(size()) * type.bytes());
}

int64_t Array::size() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

std::string Array::typeStr() const { return typeString(shape, type); }

uint64_t Array::pattern(int64_t index) const {
  uint64_t bits = 0;
  std::memcpy(&bits, data.data() + index * type.bytes(), type.bytes());
  return bits;
}

void Array::setPattern(int64_t index, uint64_t bits) {
  std::memcpy(data.data() + index * type.bytes(), &bits, type.bytes());
}

double Array::value(int64_t index) const {
  uint64_t bits = pattern(index);
  if (!type.isFloat) {
    if (type.isUnsigned || type.width == 1)
      return double(bits & llvm::maskTrailingOnes<uint64_t>(type.width));
    return double(llvm::SignExtend64(bits, type.width));
  }
  if (type.format == numerics::Format::F64)
    return llvm::bit_cast<double>(bits);
  if (type.format == numerics::Format::F32)
    return double(llvm::bit_cast<float>(uint32_t(bits)));
  return numerics::decode(bits, type.format);
}

std::vector<double> Array::values() const {
  std::vector<double> result(size_t(size()), 0.0);
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = value(int64_t(i));
  return result;
}

static llvm::Error cannotConvert(const Array &array, const ElementType &type, const Twine &why) {
  return llvm::createStringError("expected elements of type " + type.str() + ", found " +
                                 array.type.str() + why);
}

static bool fits(int64_t value, bool isUnsigned, const ElementType &to) {
  bool tooLarge = isUnsigned && value < 0; // beyond 2^63
  if (to.width == 64)
    return to.isUnsigned ? isUnsigned || value >= 0 : !tooLarge;
  if (to.isUnsigned || to.width == 1)
    return !tooLarge && value >= 0 && uint64_t(value) <= llvm::maskTrailingOnes<uint64_t>(to.width);
  return !tooLarge && llvm::isIntN(to.width, value);
}

llvm::Expected<Array> mlir::mp::convertTo(Array array, const ElementType &type) {
  if (array.type == type)
    return array;
  Array result(type, array.shape);
  if (array.type.isFloat != type.isFloat) {
    if (type.isFloat && array.type.bits() == 8 * type.bytes()) {
      result.data = std::move(array.data);
      return result;
    }
    return cannotConvert(array, type,
                         type.isFloat ? "; integers of the same width are taken as bit patterns"
                                      : "; give integers");
  }
  if (type.isFloat) {
    numerics::convertArray(array.data.data(), array.type.format, result.data.data(), type.format,
                           size_t(array.size()));
    return result;
  }
  for (int64_t i = 0, e = array.size(); i < e; ++i) {
    uint64_t bits = array.pattern(i);
    bool isUnsigned = array.type.isUnsigned || array.type.width == 1;
    int64_t value = isUnsigned ? int64_t(bits) : llvm::SignExtend64(bits, array.type.width);
    if (!fits(value, isUnsigned, type)) {
      std::string why = llvm::formatv(", and element {0}, {1}, does not fit", i, value).str();
      if (array.type.isUnsigned && array.type.width == type.width)
        why += "; where the program takes " + type.str() +
               " for unsigned, give the patterns, in numpy array.view(numpy.int" +
               std::to_string(type.width) + ")";
      return cannotConvert(array, type, why);
    }
    result.setPattern(i, uint64_t(value) & llvm::maskTrailingOnes<uint64_t>(type.width));
  }
  return result;
}
