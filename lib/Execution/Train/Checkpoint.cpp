// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Temporary file, synchronise, rename, synchronise the folder: after a kill at any moment a state
// is there whole or not at all.

#include "Checkpoint.h"

#include "mp/Execution/Files.h"
#include "mp/Support/Files.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

static std::string hashOf(StringRef bytes) {
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

/// Writes a file so that it is on the disk, whole, under its name when this returns.
static llvm::Error writeDurably(StringRef path, StringRef bytes) {
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

llvm::Expected<CheckpointFolder> CheckpointFolder::open(StringRef path) {
  if (llvm::Error error = support::makeFolder(path, ("checkpoints " + path).str()))
    return std::move(error);
  SmallString<128> lock(path);
  llvm::sys::path::append(lock, "lock");
  // Held until the process ends, however it ends.
  const int file = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0)
    return createStringError("'" + path + "': " + strerror(errno));
  if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    ::close(file);
    return createStringError("'" + path + "': another training writes its states there");
  }
  return CheckpointFolder(path.str());
}

std::string CheckpointFolder::fileOf(int64_t step, StringRef extension) const {
  SmallString<128> file(path);
  llvm::sys::path::append(file, llvm::formatv("step-{0,0+9}{1}", step, extension).str());
  return file.str().str();
}

llvm::Error CheckpointFolder::save(const SavedState &state) {
  const std::string bytes = formatSafetensors(state.arguments);
  if (llvm::Error error = writeDurably(fileOf(state.step, ".safetensors"), bytes))
    return error;
  llvm::json::Array types;
  for (const Array &array : state.arguments)
    types.push_back(array.type.str());
  llvm::json::Object content{{"mp_state", 1},
                             {"step", state.step},
                             {"bytes", int64_t(bytes.size())},
                             {"sha256", hashOf(bytes)},
                             {"types", std::move(types)},
                             {"extra", llvm::json::Object(state.extra)}};
  const std::string text = llvm::formatv("{0}", llvm::json::Value(std::move(content)));
  // The manifest has its own checksum in the line behind it.
  return writeDurably(fileOf(state.step, ".json"), text + "\n" + hashOf(text) + "\n");
}

std::vector<int64_t> CheckpointFolder::steps() const {
  std::vector<int64_t> found;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(path, error), end; it != end && !error;
       it.increment(error)) {
    StringRef name = llvm::sys::path::filename(it->path());
    int64_t step;
    if (name.consume_front("step-") && name.consume_back(".json") && !name.getAsInteger(10, step))
      found.push_back(step);
  }
  llvm::sort(found);
  return found;
}

llvm::Expected<SavedState> CheckpointFolder::read(int64_t step) const {
  auto manifest = llvm::MemoryBuffer::getFile(fileOf(step, ".json"));
  if (!manifest)
    return createStringError("its manifest: " + manifest.getError().message());
  auto [text, rest] = (*manifest)->getBuffer().split('\n');
  if (rest.trim() != hashOf(text))
    return createStringError("its manifest does not have the checksum written with it");
  auto parsed = llvm::json::parse(text);
  if (!parsed)
    return parsed.takeError();
  const llvm::json::Object *content = parsed->getAsObject();
  const llvm::json::Array *types = content ? content->getArray("types") : nullptr;
  if (!types || !content->getObject("extra") || content->getInteger("step") != step)
    return createStringError("its manifest is not one of step " + llvm::Twine(step));
  auto data = llvm::MemoryBuffer::getFile(fileOf(step, ".safetensors"), /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!data)
    return createStringError("its data: " + data.getError().message());
  StringRef bytes = (*data)->getBuffer();
  if (content->getInteger("bytes") != int64_t(bytes.size()))
    return createStringError("its data has " + llvm::Twine(bytes.size()) + " bytes, expected " +
                             llvm::Twine(content->getInteger("bytes").value_or(0)));
  if (content->getString("sha256") != StringRef(hashOf(bytes)))
    return createStringError("its data does not have the checksum in its manifest");
  auto file = Safetensors::parse(std::move(*data));
  if (!file)
    return file.takeError();
  SavedState state;
  state.step = step;
  state.extra = *content->getObject("extra");
  std::vector<std::string> names = file->names();
  if (names.size() != types->size())
    return createStringError("its data has " + llvm::Twine(names.size()) + " arrays, expected " +
                             llvm::Twine(types->size()));
  for (auto [name, spelling] : llvm::zip_equal(names, *types)) {
    auto type = ElementType::parse(spelling.getAsString().value_or(""));
    if (!type)
      return createStringError("its manifest has an unknown type");
    Array array = file->get(name);
    array.type = *type;
    state.arguments.push_back(std::move(array));
  }
  return state;
}

llvm::Expected<std::optional<SavedState>>
CheckpointFolder::load(llvm::function_ref<bool(const SavedState &)> accepts,
                       std::vector<std::string> &notes) const {
  const std::vector<int64_t> all = steps();
  for (int64_t step : llvm::reverse(all)) {
    auto state = read(step);
    if (!state) {
      notes.push_back(llvm::formatv("the state of step {0} is not taken: {1}", step,
                                    llvm::toString(state.takeError())));
      continue;
    }
    if (accepts(*state))
      return std::move(*state);
    notes.push_back(llvm::formatv("the state of step {0} is of another training", step));
  }
  return std::nullopt;
}

void CheckpointFolder::retain(size_t newest, ArrayRef<int64_t> kept) {
  std::vector<int64_t> all = steps();
  for (size_t i = 0; i + newest < all.size(); ++i) {
    if (llvm::is_contained(kept, all[i]))
      continue;
    remove(all[i]);
  }
}

void CheckpointFolder::removeAfter(int64_t step) {
  for (int64_t other : steps())
    if (other > step)
      remove(other);
}

void CheckpointFolder::remove(int64_t step) {
  // Without its manifest a state does not count.
  ::unlink(fileOf(step, ".json").c_str());
  ::unlink(fileOf(step, ".safetensors").c_str());
}

std::string mlir::mp::hashOfArrays(ArrayRef<Array> arrays) {
  return hashOf(formatSafetensors(arrays));
}
