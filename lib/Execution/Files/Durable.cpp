// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Temporary file, synchronise, rename, synchronise the folder.

#include "Durable.h"

#include "mp/Support/JSON.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

#include <fcntl.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

std::string mlir::mp::sha256Of(StringRef bytes) {
  llvm::SHA256 hash;
  hash.update(bytes);
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

static StringRef dtypeOf(const ElementType &type) {
  static const std::pair<StringRef, StringRef> names[] = {{"f64", "F64"},
                                                          {"f32", "F32"},
                                                          {"f16", "F16"},
                                                          {"bf16", "BF16"},
                                                          {"f8E4M3FN", "F8_E4M3"},
                                                          {"f8E5M2", "F8_E5M2"},
                                                          {"f8E8M0FNU", "F8_E8M0"},
                                                          {"i64", "I64"},
                                                          {"i32", "I32"},
                                                          {"i16", "I16"},
                                                          {"i8", "I8"},
                                                          {"ui64", "U64"},
                                                          {"ui32", "U32"},
                                                          {"ui16", "U16"},
                                                          {"ui8", "U8"},
                                                          {"i1", "BOOL"}};
  const std::string spelling = type.str();
  for (auto [mlir, name] : names)
    if (mlir == spelling)
      return name;
  return "U8"; // other eight-bit floats: the manifest has their type
}

std::string mlir::mp::formatSafetensors(ArrayRef<Array> arrays) {
  llvm::json::Object header;
  uint64_t offset = 0;
  for (auto [number, array] : llvm::enumerate(arrays)) {
    llvm::json::Array shape;
    for (int64_t size : array.shape)
      shape.push_back(size);
    header[llvm::formatv("{0,0+4}", number).str()] = llvm::json::Object{
        {"dtype", dtypeOf(array.type)},
        {"shape", std::move(shape)},
        {"data_offsets", llvm::json::Array{int64_t(offset), int64_t(offset + array.data.size())}}};
    offset += array.data.size();
  }
  std::string text = llvm::formatv("{0}", llvm::json::Value(std::move(header)));
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string bytes(8, '\0');
  llvm::support::endian::write64le(bytes.data(), text.size());
  bytes += text;
  for (const Array &array : arrays)
    bytes.append(array.data.begin(), array.data.end());
  return bytes;
}

llvm::Error mlir::mp::writeDurably(StringRef path, StringRef bytes) {
  const std::string temporary = (path + ".tmp").str();
  auto fail = [&](StringRef what) {
    const std::string reason = strerror(errno);
    ::unlink(temporary.c_str());
    return createStringError("'" + path + "': " + what + ": " + reason);
  };
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0)
    return fail("opening it");
  StringRef rest = bytes;
  while (!rest.empty()) {
    const ssize_t written = ::write(file, rest.data(), rest.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0) {
      llvm::Error error = fail("writing it");
      ::close(file);
      return error;
    }
    rest = rest.drop_front(size_t(written));
  }
  if (::fsync(file) != 0 || ::close(file) != 0)
    return fail("writing it");
  if (::rename(temporary.c_str(), path.str().c_str()) != 0)
    return fail("renaming it");
  const int folder =
      ::open(llvm::sys::path::parent_path(path).str().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
  return llvm::Error::success();
}

llvm::Error mlir::mp::writeManifest(StringRef path, llvm::json::Object content) {
  const std::string text = llvm::formatv("{0}", llvm::json::Value(std::move(content)));
  return writeDurably(path, text + "\n" + sha256Of(text) + "\n");
}

llvm::Expected<llvm::json::Object> mlir::mp::readManifest(StringRef path) {
  auto manifest = llvm::MemoryBuffer::getFile(path);
  if (!manifest)
    return createStringError("its manifest: " + manifest.getError().message());
  auto [text, rest] = (*manifest)->getBuffer().split('\n');
  if (rest.trim() != sha256Of(text))
    return createStringError("its manifest does not have the checksum written with it");
  auto parsed = mpcore::support::parseJSON(text);
  if (!parsed)
    return parsed.takeError();
  if (!parsed->getAsObject())
    return createStringError("its manifest is no object");
  return std::move(*parsed->getAsObject());
}
