// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A manifest says of every array where its parts lie: file, name, and from where to where along one
// dimension. Files are safetensors, of one process each.

#include "ShardedState.h"

#include "Durable.h"
#include "mp/Dialect/Comm/CommDialect.h"
#include "mp/Execution/Files.h"
#include "mp/Support/Files.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;
using llvm::json::Object;

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

namespace {
/// From `begin` up to `end` along a dimension; all of the array where there is none.
struct Box {
  std::optional<int64_t> dim;
  int64_t begin = 0, end = 0;
};
} // namespace

/// Finds what process `process` writes of array `index`; nothing if another one does.
static std::optional<Box> boxOf(const StateArray &array, size_t index, int process, int processes) {
  if (!array.dim) {
    if (int(index % size_t(processes)) != process)
      return std::nullopt;
    return Box{};
  }
  int64_t size = array.whole.shape[size_t(*array.dim)];
  return Box{array.dim, size * process / processes, size * (process + 1) / processes};
}

/// Calls `copy(byte in the whole, byte in the part, bytes)` for each run of the box.
template <typename Copy> static void forEachRun(const Array &whole, const Box &box, Copy copy) {
  if (!box.dim)
    return copy(size_t(0), size_t(0), whole.data.size());
  int64_t outer = 1, inner = whole.type.bytes();
  for (auto [i, extent] : llvm::enumerate(whole.shape))
    if (int64_t(i) < *box.dim)
      outer *= extent;
    else if (int64_t(i) > *box.dim)
      inner *= extent;
  int64_t size = whole.shape[size_t(*box.dim)], own = (box.end - box.begin) * inner;
  for (int64_t i = 0; i < outer; ++i)
    copy(size_t((i * size + box.begin) * inner), size_t(i * own), size_t(own));
}

static Array cut(const Array &whole, const Box &box) {
  SmallVector<int64_t> shape(whole.shape);
  if (box.dim)
    shape[size_t(*box.dim)] = box.end - box.begin;
  Array part(whole.type, shape);
  forEachRun(whole, box, [&](size_t from, size_t to, size_t bytes) {
    std::memcpy(part.data.data() + to, whole.data.data() + from, bytes);
  });
  return part;
}

static std::string nameOfFile(int64_t step, StringRef rest) {
  return llvm::formatv("step-{0,0+9}{1}", step, rest);
}
static std::string shardOf(int64_t step, int process, int processes) {
  return nameOfFile(step, llvm::formatv(".{0}-of-{1}.safetensors", process, processes).str());
}
static std::string pathIn(StringRef folder, StringRef name) {
  SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// A process tells the others of its shard: "fine BYTES HASH", or the error.
static constexpr size_t kReport = 512;

static std::string reportOf(llvm::Error error, StringRef bytes) {
  std::string text = error ? llvm::toString(std::move(error))
                           : llvm::formatv("fine {0} {1}", bytes.size(), sha256Of(bytes)).str();
  text.resize(kReport, '\0');
  return text;
}

static Object manifestOf(int64_t step, ArrayRef<StateArray> arrays, int processes,
                         llvm::json::Array files) {
  std::vector<int> counts(static_cast<size_t>(processes), 0);
  llvm::json::Array tensors;
  for (auto [i, array] : llvm::enumerate(arrays)) {
    llvm::json::Array parts, shape;
    for (int process = 0; process < processes; ++process)
      if (auto box = boxOf(array, i, process, processes))
        parts.push_back(Object{{"file", process},
                               {"name", llvm::formatv("{0,0+4}", counts[size_t(process)]++).str()},
                               {"dim", box->dim.value_or(-1)},
                               {"begin", box->begin},
                               {"end", box->end}});
    for (int64_t size : array.whole.shape)
      shape.push_back(size);
    tensors.push_back(Object{{"role", array.role},
                             {"type", array.whole.type.str()},
                             {"shape", std::move(shape)},
                             {"parts", std::move(parts)}});
  }
  return Object{{"mp_shards", 1},
                {"step", step},
                {"files", std::move(files)},
                {"tensors", std::move(tensors)}};
}

llvm::Error mlir::mp::saveState(StringRef folder, int64_t step, ArrayRef<StateArray> arrays,
                                const StateWriters &writers) {
  std::vector<Array> own;
  for (auto [i, array] : llvm::enumerate(arrays))
    if (auto box = boxOf(array, i, writers.process, writers.processes))
      own.push_back(cut(array.whole, *box));
  const std::string bytes = formatSafetensors(own);
  llvm::Error error = support::makeFolder(folder, ("--save-state=" + folder).str());
  if (!error)
    error = writeDurably(pathIn(folder, shardOf(step, writers.process, writers.processes)), bytes);
  auto reports = writers.gather(reportOf(std::move(error), bytes));
  if (!reports)
    return reports.takeError();
  llvm::json::Array files;
  for (int process = 0; process < writers.processes; ++process) {
    StringRef report = StringRef(*reports).substr(size_t(process) * kReport, kReport).rtrim('\0');
    auto [word, rest] = report.split(' ');
    auto [size, hash] = rest.split(' ');
    int64_t count = 0;
    if (word != "fine" || size.getAsInteger(10, count))
      return createStringError(llvm::formatv("process {0}: {1}", process, report).str());
    files.push_back(Object{
        {"name", shardOf(step, process, writers.processes)}, {"bytes", count}, {"sha256", hash}});
  }
  error = llvm::Error::success();
  if (writers.process == 0)
    error = writeManifest(pathIn(folder, nameOfFile(step, ".json")),
                          manifestOf(step, arrays, writers.processes, std::move(files)));
  // Nobody goes on, and ends, before the state counts.
  auto written = writers.gather(reportOf(std::move(error), ""));
  if (!written)
    return written.takeError();
  StringRef first = StringRef(*written).take_front(kReport).rtrim('\0');
  return first.starts_with("fine ") ? llvm::Error::success() : createStringError(first);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static llvm::Expected<std::string> findManifest(StringRef path) {
  if (!llvm::sys::fs::is_directory(path))
    return path.str();
  std::string newest;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(path, error), end; it != end && !error;
       it.increment(error)) {
    StringRef name = llvm::sys::path::filename(it->path());
    if (name.starts_with("step-") && name.ends_with(".json"))
      newest = std::max(newest, name.str()); // numbers have nine digits
  }
  if (newest.empty())
    return createStringError("--load-state: '" + path +
                             "' has no state: expected a manifest "
                             "step-*.json");
  return pathIn(path, newest);
}

static llvm::Expected<Safetensors> readShard(StringRef folder, const Object &file) {
  const std::string name = file.getString("name").value_or("").str(), path = pathIn(folder, name);
  const int64_t size = file.getInteger("bytes").value_or(-1);
  auto data = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!data)
    return createStringError(
        llvm::formatv("shard '{0}' of {1} bytes: {2}", name, size, data.getError().message())
            .str());
  StringRef bytes = (*data)->getBuffer();
  if (int64_t(bytes.size()) != size)
    return createStringError(
        llvm::formatv("shard '{0}' has {1} bytes, expected {2}", name, bytes.size(), size).str());
  const std::string found = sha256Of(bytes), expected = file.getString("sha256").value_or("").str();
  if (found != expected)
    return createStringError(llvm::formatv("shard '{0}' has the checksum {1}, expected {2}", name,
                                           found.substr(0, 16), expected.substr(0, 16))
                                 .str());
  return Safetensors::parse(std::move(*data));
}

/// The box of a part, within an array of these sizes; nothing if the manifest does not say one.
static std::optional<Box> readBox(const Object &part, ArrayRef<int64_t> sizes) {
  const int64_t dim = part.getInteger("dim").value_or(-1);
  if (dim < 0)
    return Box{};
  const int64_t begin = part.getInteger("begin").value_or(-1),
                end = part.getInteger("end").value_or(-1);
  if (dim >= int64_t(sizes.size()) || begin < 0 || end < begin || end > sizes[size_t(dim)])
    return std::nullopt;
  return Box{dim, begin, end};
}

/// Copies a part to where it belongs, and returns its bytes.
static llvm::Expected<size_t> place(const llvm::json::Value &entry, ArrayRef<Safetensors> files,
                                    Array &whole) {
  const Object *part = entry.getAsObject();
  const int64_t file = part ? part->getInteger("file").value_or(-1) : -1;
  std::optional<Box> box = part ? readBox(*part, whole.shape) : std::nullopt;
  if (file < 0 || file >= int64_t(files.size()) || !box)
    return createStringError(llvm::formatv("its manifest puts a part of {0} in shard {1}, "
                                           "expected a range of it in one of {2} shards",
                                           typeString(whole.shape, whole.type), file, files.size())
                                 .str());
  StringRef name = part->getString("name").value_or("");
  if (!files[size_t(file)].contains(name))
    return createStringError("a shard lacks array " + name);
  const Array stored = files[size_t(file)].get(name);
  size_t expected = 0;
  forEachRun(whole, *box, [&](size_t, size_t, size_t bytes) { expected += bytes; });
  if (stored.data.size() != expected)
    return createStringError(llvm::formatv("array {0} of a shard has {1} bytes, expected {2}", name,
                                           stored.data.size(), expected)
                                 .str());
  forEachRun(whole, *box, [&](size_t to, size_t from, size_t bytes) {
    std::memcpy(whole.data.data() + to, stored.data.data() + from, bytes);
  });
  return expected;
}

/// Puts an array together from its parts. `most`: bytes of all shards, which it cannot exceed.
static llvm::Expected<StateArray> assemble(const llvm::json::Value &entry,
                                           ArrayRef<Safetensors> files, uint64_t most) {
  const Object *tensor = entry.getAsObject();
  auto type = ElementType::parse(tensor ? tensor->getString("type").value_or("") : "");
  const llvm::json::Array *shape = tensor ? tensor->getArray("shape") : nullptr,
                          *parts = tensor ? tensor->getArray("parts") : nullptr;
  if (!type || !shape || !parts)
    return createStringError("its manifest lacks the type, shape or parts of an array");
  SmallVector<int64_t> sizes;
  uint64_t bytes = uint64_t(type->bytes());
  for (const llvm::json::Value &size : *shape) {
    sizes.push_back(size.getAsInteger().value_or(-1));
    bytes = llvm::SaturatingMultiply<uint64_t>(bytes, uint64_t(std::max<int64_t>(sizes.back(), 0)));
  }
  if (bytes > most || llvm::any_of(sizes, [](int64_t size) { return size < 0; }))
    return createStringError(llvm::formatv("its manifest has an array of {0}, expected sizes of 0 "
                                           "or more, and the {1} bytes of all shards at most",
                                           typeString(sizes, *type), most)
                                 .str());
  StateArray array{tensor->getString("role").value_or("").str(), std::nullopt, Array(*type, sizes)};
  size_t covered = 0;
  for (const llvm::json::Value &part : *parts) {
    auto placed = place(part, files, array.whole);
    if (!placed)
      return placed.takeError();
    covered += *placed;
  }
  if (covered != array.whole.data.size())
    return createStringError(llvm::formatv("parts of an array have {0} bytes, expected {1}",
                                           covered, array.whole.data.size())
                                 .str());
  return array;
}

static llvm::Expected<std::vector<StateArray>> readAll(StringRef manifest, int64_t &step) {
  auto content = readManifest(manifest);
  if (!content)
    return content.takeError();
  const llvm::json::Array *list = content->getArray("files"),
                          *tensors = content->getArray("tensors");
  auto number = content->getInteger("step");
  if (content->getInteger("mp_shards") != 1 || !list || !tensors || !number)
    return createStringError("its manifest is not one of --save-state");
  step = *number;
  std::vector<Safetensors> files;
  uint64_t bytes = 0;
  for (const llvm::json::Value &entry : *list) {
    const Object *file = entry.getAsObject();
    if (!file)
      return createStringError("its manifest lists a file that is no object");
    auto read = readShard(llvm::sys::path::parent_path(manifest), *file);
    if (!read)
      return read.takeError();
    files.push_back(std::move(*read));
    bytes += uint64_t(file->getInteger("bytes").value_or(0)); // as many as were read
  }
  std::vector<StateArray> arrays;
  for (const llvm::json::Value &tensor : *tensors) {
    auto array = assemble(tensor, files, bytes);
    if (!array)
      return array.takeError();
    arrays.push_back(std::move(*array));
  }
  return arrays;
}

//===----------------------------------------------------------------------===//
// Another number of ranks
//===----------------------------------------------------------------------===//

static bool isResidual(const StateArray &array) {
  return array.role == comm::kRoleGradientResidual;
}

/// Rank 0 takes over what all ranks were short of; what lies behind the gradients is zeros.
static void takeOver(const Array &saved, Array &own) {
  std::fill(own.data.begin(), own.data.end(), 0);
  const int64_t rows = saved.shape.size() > 1 ? saved.shape[0] : 1;
  const int64_t width = saved.size() / rows;
  const int64_t kept = std::min(width, own.shape.back());
  for (int64_t i = 0; i < kept; ++i) {
    float sum = 0;
    for (int64_t row = 0; row < rows; ++row)
      sum += float(saved.value(row * width + i));
    std::memcpy(own.data.data() + size_t(i) * sizeof(float), &sum, sizeof(float));
  }
}

static llvm::Error give(MutableArrayRef<StateArray> own, std::vector<StateArray> saved) {
  auto residuals = llvm::count_if(saved, isResidual);
  auto wanted = llvm::count_if(own, isResidual);
  if (saved.size() - size_t(residuals) != own.size() - size_t(wanted) ||
      (residuals != wanted && residuals != 0 && wanted != 0))
    return createStringError(llvm::formatv("it has {0} arrays, {1} of them residuals of gradients; "
                                           "expected {2} and {3}",
                                           saved.size(), residuals, own.size(), wanted)
                                 .str());
  if (residuals && !wanted)
    return createStringError("it has residuals of gradients, which this step would lose; expected "
                             "a step of mp-narrow-gradients");
  auto next = saved.begin();
  for (auto [i, array] : llvm::enumerate(own)) {
    if (isResidual(array) && !residuals)
      continue; // they begin as zeros
    StateArray &found = *next++;
    bool fits = found.role == array.role && found.whole.type.str() == array.whole.type.str();
    if (fits && isResidual(array) && found.whole.shape != array.whole.shape)
      takeOver(found.whole, array.whole);
    else if (fits && found.whole.shape == array.whole.shape)
      array.whole = std::move(found.whole);
    else
      return createStringError(
          llvm::formatv("array {0} is {1} '{2}', expected {3} '{4}'", i,
                        typeString(found.whole.shape, found.whole.type), found.role,
                        typeString(array.whole.shape, array.whole.type), array.role)
              .str());
  }
  return llvm::Error::success();
}

llvm::Expected<int64_t> mlir::mp::loadState(StringRef path, MutableArrayRef<StateArray> arrays) {
  auto manifest = findManifest(path);
  if (!manifest)
    return manifest.takeError();
  int64_t step = 0;
  auto saved = readAll(*manifest, step);
  llvm::Error error = saved ? give(arrays, std::move(*saved)) : saved.takeError();
  if (error)
    return createStringError("--load-state: the state '" + *manifest +
                             "': " + llvm::toString(std::move(error)));
  return step;
}
