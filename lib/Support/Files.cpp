// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table of the files that are read and written, compared by identity; temporary files and
// renames.

#include "mp/Support/Files.h"
#include "mp/Support/ErrorCode.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"

#include <atomic>
#include <mutex>
#include <unistd.h>
#include <vector>

using namespace llvm;
using namespace mpcore::support;

namespace {

/// A file by its identity where it exists, and by its resolved name.
struct Identity {
  std::string path;
  bool exists = false, isRegular = false, isFolder = false, isDevice = false;
  sys::fs::perms permissions = {};
  sys::fs::UniqueID id;

  bool isSameAs(const Identity &other) const {
    return exists && other.exists ? id == other.id : path == other.path;
  }
};

struct Input {
  Identity file;
  std::string option;
  bool mayBeReplaced;
};

struct Output {
  Identity file;
  std::string option;
  bool isPending; ///< appears whole, or not at all
};

/// Lists what this process reads and writes now.
struct Table {
  std::mutex lock;
  std::vector<Input> inputs;                        ///< of the run, where there is one
  std::vector<Output> outputs;                      ///< that are not in place yet
  std::vector<std::unique_ptr<OutputFile>> waiting; ///< that are complete
  bool isRun = false;
};

} // namespace

static std::atomic<unsigned> pending{0};

/// Outputs are in place or the process ends: one of these comes first.
enum class Phase { Working, Placing, Ending };
static std::atomic<Phase> phase{Phase::Working};

static std::atomic<void (*)(StringRef)> inputListener{nullptr};

void mpcore::support::setInputListener(void (*listener)(StringRef)) { inputListener = listener; }

static Table &table() {
  static Table *known = new Table(); // outlives whatever is destroyed at exit
  return *known;
}

bool mpcore::support::claimEnd() {
  Phase expected = Phase::Working;
  return phase.compare_exchange_strong(expected, Phase::Ending) || expected == Phase::Ending;
}

unsigned mpcore::support::pendingOutputs() { return pending.load(); }

static Identity identify(StringRef path) {
  Identity file;
  SmallString<256> real;
  if (!sys::fs::real_path(path, real)) {
    file.path = real.str().str();
  } else { // its folder may have several names
    SmallString<256> folder(path);
    sys::fs::make_absolute(folder);
    StringRef name = sys::path::filename(path);
    file.path = folder.str().str();
    sys::path::remove_filename(folder);
    if (!sys::fs::real_path(folder, real)) {
      sys::path::append(real, name);
      file.path = real.str().str();
    }
  }
  sys::fs::file_status status;
  file.exists = !sys::fs::status(file.path, status) && sys::fs::exists(status);
  if (!file.exists)
    return file;
  file.isRegular = sys::fs::is_regular_file(status);
  file.isFolder = sys::fs::is_directory(status);
  file.isDevice = status.type() == sys::fs::file_type::character_file ||
                  status.type() == sys::fs::file_type::block_file;
  file.permissions = status.permissions();
  file.id = status.getUniqueID();
  return file;
}

/// True of devices but the empty one and terminals: what reads them all never ends.
static bool isEndless(const Identity &file) {
  StringRef path = file.path;
  return file.isDevice && path != "/dev/null" && !path.starts_with("/dev/pts/") &&
         !path.starts_with("/dev/tty");
}

Error mpcore::support::cannotWrite(StringRef path, std::error_code code) {
  return error(ErrorCode::CannotWrite,
               "cannot write output file '" + path + "': " + code.message());
}

Error mpcore::support::noteInput(StringRef path, StringRef option, bool mayBeReplaced) {
  if (path == "-")
    return Error::success();
  Identity file = identify(path);
  if (isEndless(file))
    return error(ErrorCode::CannotRead,
                 "cannot read '" + path + "': it is a device, expected a file or a pipe");
  if (!file.isRegular)
    return Error::success();
  if (auto listener = inputListener.load())
    listener(path);
  Table &known = table();
  std::lock_guard guard(known.lock);
  for (const Output &output : known.outputs)
    if (file.isSameAs(output.file))
      return error(ErrorCode::OutputIsInput, output.option + " is the file that is read as " +
                                                 option + "; name another output");
  if (known.isRun)
    known.inputs.push_back({std::move(file), option.str(), mayBeReplaced});
  return Error::success();
}

Expected<std::unique_ptr<MemoryBuffer>> mpcore::support::readFile(StringRef path, StringRef option,
                                                                  bool isText) {
  if (Error failed = noteInput(path, option))
    return std::move(failed);
  auto buffer = MemoryBuffer::getFileOrSTDIN(path, isText, /*RequiresNullTerminator=*/isText);
  if (!buffer)
    return error(ErrorCode::CannotRead,
                 "cannot read '" + path + "': " + buffer.getError().message());
  return std::move(*buffer);
}

Error mpcore::support::makeFolder(StringRef path, StringRef option) {
  std::error_code code = sys::fs::create_directories(path, true, sys::fs::all_all);
  if (!code && !sys::fs::is_directory(path))
    code = std::make_error_code(std::errc::not_a_directory);
  if (!code)
    code = sys::fs::access(path, sys::fs::AccessMode::Write);
  if (!code)
    return Error::success();
  return error(ErrorCode::CannotWrite,
               option + ": cannot write into folder '" + path + "': " + code.message());
}

/// Enters an output into the table, or says whose file it is.
static Error claim(const Identity &file, StringRef option, OutputFile::Mode mode,
                   bool isPending = true) {
  Table &known = table();
  std::lock_guard guard(known.lock);
  for (const Output &other : known.outputs)
    if (file.isSameAs(other.file))
      return error(ErrorCode::OutputIsOutput,
                   option == other.option ? option + " would be written twice, as for two parts of "
                                                     "--split-input-file; convert them one by one"
                                          : option + " is the file that " + other.option +
                                                " writes; each output needs a file of its own");
  for (const Input &input : known.inputs)
    if (file.isSameAs(input.file) && !(input.mayBeReplaced && mode == OutputFile::InPlace))
      return error(ErrorCode::OutputIsInput, option + " is the file that is read as " +
                                                 input.option + "; name another output");
  known.outputs.push_back({file, option.str(), isPending});
  pending += isPending;
  return Error::success();
}

static void release(StringRef path) {
  Table &known = table();
  std::lock_guard guard(known.lock);
  auto found = find_if(known.outputs, [&](const Output &o) { return o.file.path == path; });
  if (found == known.outputs.end())
    return;
  pending -= found->isPending;
  known.outputs.erase(found);
}

Expected<std::unique_ptr<OutputFile>> OutputFile::open(StringRef path, StringRef option,
                                                       Mode mode) {
  std::unique_ptr<OutputFile> file(new OutputFile());
  file->shown = file->path = path.str();
  if (path == "-") {
    file->stream = &outs();
    return file;
  }
  Identity known = identify(path);
  file->path = known.path;
  if (known.isFolder)
    return cannotWrite(path, std::make_error_code(std::errc::is_a_directory));

  std::error_code code;
  if (known.exists && !known.isRegular) { // a device or pipe cannot be renamed onto
    file->owned = std::make_unique<raw_fd_ostream>(file->path, code);
    if (code)
      return cannotWrite(path, code);
    file->stream = file->owned.get();
    return file;
  }
  if (known.exists && sys::fs::access(file->path, sys::fs::AccessMode::Write))
    return cannotWrite(path, std::make_error_code(std::errc::permission_denied));
  if (Error taken = claim(known, option, mode))
    return std::move(taken);

  int descriptor = -1;
  SmallString<256> temporary;
  unsigned permissions = known.exists ? known.permissions : sys::fs::all_read | sys::fs::all_write;
  code = sys::fs::createUniqueFile(file->path + ".%%%%%%%%.tmp", descriptor, temporary,
                                   sys::fs::OF_None, permissions);
  if (code) {
    release(file->path);
    return cannotWrite(path, code);
  }
  file->temporary = temporary.str().str();
  sys::RemoveFileOnSignal(file->temporary);
  file->owned = std::make_unique<raw_fd_ostream>(descriptor, /*shouldClose=*/true);
  file->stream = file->owned.get();
  return file;
}

OutputFile::~OutputFile() {
  if (stream && stream->has_error())
    stream->clear_error(); // an uncommitted file may be incomplete; a committed one has reported
  owned.reset();
  if (temporary.empty())
    return;
  sys::fs::remove(temporary);
  sys::DontRemoveFileOnSignal(temporary);
  release(path);
}

Error OutputFile::commit() {
  stream->flush();
  if (owned)
    owned->close();
  if (stream->has_error()) {
    std::error_code code = stream->error();
    // Whoever read standard output has gone, and knows; the tool ends as others do then.
    if (!owned && code == std::errc::broken_pipe)
      return Error::success();
    stream->clear_error();
    return cannotWrite(owned ? StringRef(shown) : "standard output", code);
  }
  if (temporary.empty())
    return Error::success();
  Table &known = table();
  if (!known.isRun)
    return rename();
  std::lock_guard guard(known.lock);
  auto file = std::unique_ptr<OutputFile>(new OutputFile());
  file->shown = shown;
  file->path = path;
  std::swap(file->temporary, temporary);
  known.waiting.push_back(std::move(file));
  return Error::success();
}

Error OutputFile::rename() {
  if (std::error_code code = sys::fs::rename(temporary, path))
    return cannotWrite(shown, code);
  sys::DontRemoveFileOnSignal(temporary);
  temporary.clear();
  release(path);
  return Error::success();
}

Error LateOutput::open(StringRef path, StringRef option) {
  if (path.empty() || file)
    return Error::success();
  this->path = path.str();
  this->option = option.str();
  return OutputFile::open(path, option).moveInto(file);
}

Error LateOutput::write(function_ref<void(raw_ostream &)> write) {
  if (path.empty())
    return Error::success();
  if (Error failed = open(std::string(path), std::string(option)))
    return failed;
  std::unique_ptr<OutputFile> taken = std::move(file);
  write(taken->os());
  return taken->commit();
}

Error FollowedFile::claim(StringRef path, StringRef option) {
  if (path.empty() || path == "-")
    return Error::success();
  Identity known = identify(path);
  std::error_code code;
  if (known.isFolder)
    code = std::make_error_code(std::errc::is_a_directory);
  else if (known.exists)
    code = sys::fs::access(known.path, sys::fs::AccessMode::Write);
  else
    code = sys::fs::access(sys::path::parent_path(known.path), sys::fs::AccessMode::Write);
  if (code)
    return cannotWrite(path, code);
  if (known.exists && !known.isRegular) // a device or pipe is nobody's
    return Error::success();
  if (Error taken = ::claim(known, option, OutputFile::New, /*isPending=*/false))
    return taken;
  this->path = known.path;
  return Error::success();
}

FollowedFile::~FollowedFile() {
  if (!path.empty())
    release(path);
}

Error mpcore::support::writeFile(StringRef path, StringRef option,
                                 function_ref<void(raw_ostream &)> write) {
  LateOutput output;
  if (Error failed = output.open(path, option))
    return failed;
  return output.write(write);
}

FilesOfRun::FilesOfRun() {
  table().isRun = true;
  Phase expected = Phase::Placing; // of a run before
  phase.compare_exchange_strong(expected, Phase::Working);
}

FilesOfRun::~FilesOfRun() {
  Table &known = table();
  known.isRun = false;
  known.waiting.clear();
  known.inputs.clear();
}

Error FilesOfRun::commit() {
  std::vector<std::unique_ptr<OutputFile>> complete;
  std::swap(complete, table().waiting);
  Phase expected = Phase::Working;
  if (!phase.compare_exchange_strong(expected, Phase::Placing) && expected == Phase::Ending)
    for (;;) // another thread ends the process
      pause();
  Error failed = Error::success();
  for (std::unique_ptr<OutputFile> &file : complete)
    if ((failed = file->rename()))
      break;
  return failed;
}
