// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NumPy's array files (numpy.lib.format).

#include "mp/Execution/Files.h"
#include "mp/Support/Files.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cstring>

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

static constexpr StringLiteral kMagic("\x93NUMPY");

namespace {

/// The contents of the header's dictionary.
struct Header {
  ElementType type;
  bool swapped = false, fortranOrder = false;
  SmallVector<int64_t> shape;
};

} // namespace

/// The text after 'key': in the dictionary.
static llvm::Expected<StringRef> valueOf(StringRef dictionary, StringRef key) {
  for (char quote : {'\'', '"'}) {
    std::string quoted = std::string(1, quote) + key.str() + quote;
    size_t at = dictionary.find(quoted);
    if (at == StringRef::npos)
      continue;
    StringRef rest = dictionary.substr(at + quoted.size()).ltrim();
    if (rest.consume_front(":"))
      return rest.ltrim();
  }
  return createStringError("its header has no '" + key.str() + "'");
}

static llvm::Error parseDescr(StringRef text, Header &header) {
  char quote = text.empty() ? '\0' : text.front();
  if (quote != '\'' && quote != '"')
    return createStringError("expected one element type, found a structured one");
  StringRef descr = text.drop_front().take_until([&](char c) { return c == quote; });
  StringRef rest = descr;
  header.swapped = rest.starts_with(">");
  if (!rest.empty() && StringRef("<>|=").contains(rest.front()))
    rest = rest.drop_front();
  unsigned bytes;
  bool sized = rest.size() >= 2 && !rest.drop_front().getAsInteger(10, bytes);
  std::optional<ElementType> type;
  switch (sized ? rest.front() : '\0') {
  case 'f':
    if (bytes == 2 || bytes == 4 || bytes == 8)
      type = ElementType::floating(bytes == 2   ? numerics::Format::F16
                                   : bytes == 4 ? numerics::Format::F32
                                                : numerics::Format::F64);
    break;
  case 'b':
    if (bytes == 1)
      type = ElementType::integer(1);
    break;
  case 'i':
  case 'u':
  case 'V': // how NumPy stores the types of ml_dtypes
    if ((bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) &&
        (rest.front() != 'V' || bytes < 4))
      type = ElementType::integer(8 * bytes, rest.front() != 'i');
    break;
  default: break;
  }
  if (!type)
    return createStringError("its element type '" + descr.str() +
                             "' is not one of b1, i1 to i8, u1 to u8, f2, f4, f8, V1, V2");
  header.type = *type;
  return llvm::Error::success();
}

static llvm::Error parseShape(StringRef text, Header &header) {
  if (!text.consume_front("("))
    return createStringError("its header's 'shape' is not a tuple");
  size_t end = text.find(')');
  if (end == StringRef::npos)
    return createStringError("its header's 'shape' is not closed");
  SmallVector<StringRef> sizes;
  text.take_front(end).split(sizes, ',', -1, /*KeepEmpty=*/false);
  for (StringRef size : sizes) {
    size = size.trim();
    if (size.empty())
      continue;
    int64_t value;
    if (size.getAsInteger(10, value) || value < 0)
      return createStringError("its header's 'shape' holds '" + size.str() +
                               "', expected sizes of 0 or more");
    header.shape.push_back(value);
  }
  return llvm::Error::success();
}

static llvm::Expected<Header> parseHeader(StringRef dictionary) {
  Header header;
  auto descr = valueOf(dictionary, "descr");
  if (!descr)
    return descr.takeError();
  if (llvm::Error error = parseDescr(*descr, header))
    return std::move(error);
  auto order = valueOf(dictionary, "fortran_order");
  if (!order)
    return order.takeError();
  header.fortranOrder = order->starts_with("True");
  auto shape = valueOf(dictionary, "shape");
  if (!shape)
    return shape.takeError();
  if (llvm::Error error = parseShape(*shape, header))
    return std::move(error);
  return header;
}

static void swapBytes(Array &array) {
  unsigned bytes = array.type.bytes();
  for (size_t at = 0; at < array.data.size(); at += bytes)
    std::reverse(array.data.begin() + at, array.data.begin() + at + bytes);
}

/// First index fastest  ==>  last index fastest.
static Array fromFortranOrder(const Array &array) {
  Array result(array.type, array.shape);
  SmallVector<int64_t> strides(array.shape.size());
  int64_t stride = 1;
  for (size_t dim = 0; dim < strides.size(); ++dim) {
    strides[dim] = stride;
    stride *= array.shape[dim];
  }
  unsigned bytes = array.type.bytes();
  for (int64_t i = 0, e = array.size(); i < e; ++i) {
    int64_t rest = i, source = 0;
    for (size_t dim = strides.size(); dim-- > 0;) {
      source += rest % array.shape[dim] * strides[dim];
      rest /= array.shape[dim];
    }
    std::memcpy(result.data.data() + i * bytes, array.data.data() + source * bytes, bytes);
  }
  return result;
}

llvm::Expected<Array> mlir::mp::parseNpy(StringRef bytes) {
  if (!bytes.consume_front(kMagic))
    return createStringError("it does not start as a .npy file does");
  if (bytes.size() < 4)
    return createStringError("it ends within its header");
  unsigned major = uint8_t(bytes[0]);
  if (major < 1 || major > 3)
    return createStringError(llvm::formatv("its version is {0}, expected 1, 2 or 3", major));
  unsigned lengthBytes = major == 1 ? 2 : 4;
  uint64_t length = 0;
  if (bytes.size() < 2 + lengthBytes)
    return createStringError("it ends within its header");
  for (unsigned i = 0; i < lengthBytes; ++i)
    length |= uint64_t(uint8_t(bytes[2 + i])) << (8 * i);
  bytes = bytes.drop_front(2 + lengthBytes);
  if (length > bytes.size())
    return createStringError("it ends within its header");
  auto header = parseHeader(bytes.take_front(length));
  if (!header)
    return header.takeError();
  bytes = bytes.drop_front(length);

  auto count = elementCount(header->shape);
  uint64_t available = bytes.size() / header->type.bytes();
  if (!count || uint64_t(*count) > available)
    return createStringError(llvm::formatv("it holds {0} elements where its shape, {1}, needs more",
                                           available, typeString(header->shape, header->type)));
  if (uint64_t needed = uint64_t(*count) * header->type.bytes(); bytes.size() > needed)
    return createStringError(
        llvm::formatv("{0} bytes stand behind its array, {1}; expected one array",
                      bytes.size() - needed, typeString(header->shape, header->type)));
  Array array(header->type, header->shape);
  std::copy_n(bytes.begin(), array.data.size(), array.data.begin());
  if (header->swapped)
    swapBytes(array);
  return header->fortranOrder && array.shape.size() > 1 ? fromFortranOrder(array)
                                                        : std::move(array);
}

llvm::Expected<Array> mlir::mp::readNpy(StringRef path) {
  auto buffer = support::readFile(path, ("@" + path).str(), /*isText=*/false);
  if (!buffer)
    return buffer.takeError();
  auto array = parseNpy((*buffer)->getBuffer());
  if (!array)
    return createStringError("cannot read '" + path + "': " + llvm::toString(array.takeError()));
  return array;
}

static std::string descrOf(const ElementType &type) {
  std::string size = llvm::utostr(type.bytes());
  std::string order = type.bytes() == 1 ? "|" : "<";
  if (!type.isFloat)
    return type.width == 1 ? "|b1" : order + (type.isUnsigned ? "u" : "i") + size;
  bool known = type.format == numerics::Format::F64 || type.format == numerics::Format::F32 ||
               type.format == numerics::Format::F16;
  return order + (known ? "f" : "u") + size;
}

std::string mlir::mp::formatNpy(const Array &array) {
  std::string header =
      "{'descr': '" + descrOf(array.type) + "', 'fortran_order': False, 'shape': (";
  for (int64_t size : array.shape)
    header += llvm::itostr(size) + ",";
  header += "), }";
  // The data starts at a multiple of 64 bytes, after a newline.
  size_t prefix = kMagic.size() + 4;
  header.append(63 - (prefix + header.size()) % 64, ' ');
  header += '\n';
  std::string text = kMagic.str();
  text += {'\1', '\0', char(header.size() & 0xFF), char(header.size() >> 8)};
  text += header;
  text.append(array.data.data(), array.data.size());
  return text;
}

llvm::Error mlir::mp::writeNpy(StringRef path, const Array &array) {
  return support::writeFile(path, path, [&](llvm::raw_ostream &os) { os << formatNpy(array); });
}
