// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Temporary file, synchronise, rename, synchronise the folder: after a kill at any moment a state
// is there whole or not at all.

#include "Checkpoint.h"

#include "../Files/Durable.h"
#include "mp/Execution/Files.h"
#include "mp/Support/Files.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

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
                             {"sha256", sha256Of(bytes)},
                             {"types", std::move(types)},
                             {"extra", llvm::json::Object(state.extra)}};
  llvm::Error error = writeManifest(fileOf(state.step, ".json"), content);
  if (error)
    remove(state.step); // data alone would take the room that the next state needs
  return error;
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
  auto parsed = readManifest(fileOf(step, ".json"));
  if (!parsed)
    return parsed.takeError();
  const llvm::json::Object *content = &*parsed;
  const llvm::json::Array *types = content->getArray("types");
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
  if (content->getString("sha256") != StringRef(sha256Of(bytes)))
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

void CheckpointFolder::makeRoom() {
  retain(1, {});
  const std::vector<int64_t> whole = steps();
  std::vector<std::string> leftOver;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(path, error), end; it != end && !error;
       it.increment(error)) {
    StringRef name = llvm::sys::path::filename(it->path());
    int64_t step;
    if (name.consume_front("step-") && !name.consumeInteger(10, step) &&
        (name.ends_with(".tmp") || !llvm::is_contained(whole, step)))
      leftOver.push_back(it->path());
  }
  for (const std::string &file : leftOver)
    ::unlink(file.c_str());
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
  return sha256Of(formatSafetensors(arrays));
}
