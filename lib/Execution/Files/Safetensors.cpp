// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// safetensors: 8 bytes of length, a JSON header, raw data.

#include "mp/Execution/Files.h"
#include "mp/Support/Files.h"
#include "mp/Support/JSON.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

/// The format's own limit on its header.
static constexpr uint64_t kMaxHeader = 100'000'000;

static std::optional<ElementType> elementType(StringRef dtype) {
  StringRef spelling = llvm::StringSwitch<StringRef>(dtype)
                           .Case("F64", "f64")
                           .Case("F32", "f32")
                           .Case("F16", "f16")
                           .Case("BF16", "bf16")
                           .Case("F8_E4M3", "f8E4M3FN")
                           .Case("F8_E5M2", "f8E5M2")
                           .Case("F8_E8M0", "f8E8M0FNU")
                           .Case("I64", "i64")
                           .Case("I32", "i32")
                           .Case("I16", "i16")
                           .Case("I8", "i8")
                           .Case("U64", "ui64")
                           .Case("U32", "ui32")
                           .Case("U16", "ui16")
                           .Case("U8", "ui8")
                           .Case("BOOL", "i1")
                           .Default("");
  return ElementType::parse(spelling);
}

static llvm::Error malformed(const llvm::Twine &name, const llvm::Twine &why) {
  return createStringError("entry '" + name.str() + "' " + why.str());
}

/// Names the kind of a file that does not begin as safetensors do.
static StringRef describeStart(StringRef bytes) {
  static constexpr std::pair<StringRef, StringRef> kStarts[] = {
      {"PK\x03\x04", "a zip archive, as torch.save, torch.export and numpy.savez write it"},
      {"\x93NUMPY", "an array of numpy, which --input=@FILE.npy takes"},
      {"\x89HDF", "an HDF5 file, as Keras writes it"},
      {"GGUF", "a GGUF file"},
      {"ML\xefR", "MLIR bytecode"},
      {"\x7f"
       "ELF",
       "an object file"},
      {"\x1f\x8b", "a compressed file (gzip)"}};
  for (auto [start, kind] : kStarts)
    if (bytes.starts_with(start))
      return kind;
  if (bytes.substr(4).starts_with("TFL3"))
    return "a TFLite model";
  if (bytes.starts_with("\x80") && bytes.size() > 1 && uint8_t(bytes[1]) <= 5)
    return "a pickle of Python";
  if (llvm::all_of(bytes.take_front(64),
                   [](char c) { return llvm::isPrint(c) || llvm::isSpace(c); }))
    return "text";
  return "neither that nor a kind of file that is known here";
}

llvm::Expected<Safetensors> Safetensors::parse(std::unique_ptr<llvm::MemoryBuffer> buffer) {
  StringRef bytes = buffer->getBuffer();
  if (bytes.size() < 8)
    return createStringError("it is shorter than the 8 bytes of a header length");
  if (bytes.size() > 8 && bytes[8] != '{')
    return createStringError("expected safetensors (the length of a header in 8 bytes, then its "
                             "JSON), found " +
                             describeStart(bytes) +
                             "; safetensors.torch.save_file(model.state_dict(), FILE) and the like "
                             "write what is read");
  uint64_t length = llvm::support::endian::read64le(bytes.data());
  if (length > kMaxHeader || length > bytes.size() - 8)
    return createStringError(
        llvm::formatv("its header claims {0} bytes, the file has {1}", length, bytes.size() - 8));
  auto json = mpcore::support::parseJSON(bytes.substr(8, length));
  if (!json)
    return createStringError("its header: " + llvm::toString(json.takeError()));
  const llvm::json::Object *object = json->getAsObject();
  if (!object)
    return createStringError("its header is not a JSON object");

  Safetensors file;
  file.dataStart = 8 + length;
  uint64_t dataSize = bytes.size() - file.dataStart;
  for (const auto &[key, value] : *object) {
    std::string name = key.str();
    if (name == "__metadata__")
      continue;
    const llvm::json::Object *entry = value.getAsObject();
    const llvm::json::Array *shape = entry ? entry->getArray("shape") : nullptr;
    const llvm::json::Array *offsets = entry ? entry->getArray("data_offsets") : nullptr;
    auto dtype = entry ? entry->getString("dtype") : std::nullopt;
    if (!shape || !offsets || offsets->size() != 2 || !dtype)
      return malformed(name, "lacks dtype, shape or two data_offsets");
    auto type = elementType(*dtype);
    if (!type)
      return malformed(name, "has the unknown dtype '" + *dtype + "'");
    Entry result{*type, {}, 0, 0};
    for (const llvm::json::Value &size : *shape) {
      auto number = size.getAsInteger();
      if (!number || *number < 0)
        return malformed(name, "has a size that is no natural number");
      result.shape.push_back(*number);
    }
    auto begin = (*offsets)[0].getAsInteger(), end = (*offsets)[1].getAsInteger();
    if (!begin || !end || *begin < 0 || *end < *begin || uint64_t(*end) > dataSize)
      return malformed(name, "has data_offsets outside of the file");
    result.begin = uint64_t(*begin);
    result.end = uint64_t(*end);
    auto count = elementCount(result.shape);
    if (!count || (result.end - result.begin) / type->bytes() != uint64_t(*count) ||
        (result.end - result.begin) % type->bytes() != 0)
      return malformed(name,
                       llvm::formatv("is {0} but has {1} bytes of data",
                                     typeString(result.shape, *type), result.end - result.begin));
    file.entries.emplace(std::move(name), std::move(result));
  }
  file.buffer = std::move(buffer);
  return file;
}

llvm::Expected<Safetensors> Safetensors::open(StringRef path) {
  auto buffer = support::readFile(path, path, /*isText=*/false);
  if (!buffer)
    return buffer.takeError();
  auto file = parse(std::move(*buffer));
  if (!file)
    return createStringError("cannot read '" + path.str() +
                             "': " + llvm::toString(file.takeError()));
  return file;
}

Array Safetensors::get(StringRef name) const {
  const Entry &entry = entries.at(name.str());
  Array array(entry.type, entry.shape);
  std::copy_n(buffer->getBufferStart() + dataStart + entry.begin, array.data.size(),
              array.data.begin());
  return array;
}

std::vector<std::string> Safetensors::names() const {
  std::vector<std::string> result;
  for (const auto &entry : entries)
    result.push_back(entry.first);
  return result;
}
