// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that a run reads and writes: no output replaces an input or another output, and each
// appears whole or not at all.

#ifndef MP_SUPPORT_FILES_H
#define MP_SUPPORT_FILES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <string>
#include <system_error>

namespace mpcore::support {

/// Remembers that `path` is read. `option` is what the user wrote, such as "policy=p.json", and is
/// quoted in messages. Errors where an output of this process that is not in place yet is the same
/// file, also by another name. Standard input ("-") and what is no regular file is nobody's.
/// With `mayBeReplaced`, an output that asks for it (OutputFile::InPlace) may be this file.
llvm::Error noteInput(llvm::StringRef path, llvm::StringRef option, bool mayBeReplaced = false);

/// Called with each path that noteInput gets, from the thread that reads; null for none.
void setInputListener(void (*listener)(llvm::StringRef path));

/// Reads a whole file, or standard input for "-", after noteInput. Errors name the path once and
/// the system's reason.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readFile(llvm::StringRef path, llvm::StringRef option, bool isText = true);

/// Makes a folder with those above it, as the umask allows. Errors name it and the reason, also
/// where the folder exists and takes no new files, or is a file.
llvm::Error makeFolder(llvm::StringRef path, llvm::StringRef option);

/// Writes go to a temporary file beside the destination; `commit` renames it. Destroyed without
/// commit, or when a signal ends the process, the temporary is removed and an existing destination
/// stays as it was. "-" is standard output; devices and pipes are written directly.
class OutputFile {
public:
  enum Mode { New, InPlace };

  /// Errors name `option` where `path` is a file that is read or that another output writes, and
  /// else the path and the system's reason. InPlace: the main input may be replaced.
  static llvm::Expected<std::unique_ptr<OutputFile>> open(llvm::StringRef path,
                                                          llvm::StringRef option, Mode mode = New);
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;
  ~OutputFile();

  llvm::raw_ostream &os() { return *stream; }

  /// Flushes and puts the file in place, or hands it to the FilesOfRun there is; an error of any
  /// earlier write (disk full) comes up here.
  llvm::Error commit();

private:
  friend class FilesOfRun;
  OutputFile() = default;
  llvm::Error rename();

  std::string shown;     ///< destination as the user wrote it
  std::string path;      ///< the same, symbolic links resolved
  std::string temporary; ///< empty when writing directly
  std::unique_ptr<llvm::raw_fd_ostream> owned;
  llvm::raw_fd_ostream *stream = nullptr;
};

/// An output that is opened before the work and written behind it, so that what cannot be written
/// is known in time. A copy, as of the pass that has it, has the name but no file open.
class LateOutput {
public:
  LateOutput() = default;
  LateOutput(const LateOutput &other) : path(other.path), option(other.option) {}
  LateOutput(LateOutput &&) = default;
  LateOutput &operator=(const LateOutput &) = delete;

  /// Opens `path`, unless it is empty or open already; `option` is as for OutputFile.
  llvm::Error open(llvm::StringRef path, llvm::StringRef option);

  /// Lets `write` write the file; one that an earlier call has written is opened again. Nothing
  /// happens where no path was given.
  llvm::Error write(llvm::function_ref<void(llvm::raw_ostream &)> write);

private:
  std::string path, option;
  std::unique_ptr<OutputFile> file;
};

/// The name of a file that others follow while it is written, such as a log: there is no temporary
/// one. While this lives, the name is taken as that of an OutputFile is.
class FollowedFile {
public:
  FollowedFile() = default;
  FollowedFile(const FollowedFile &) = delete;
  FollowedFile &operator=(const FollowedFile &) = delete;
  ~FollowedFile();

  /// Takes `path`, unless it is empty. Errors are those of OutputFile::open; nothing is written.
  llvm::Error claim(llvm::StringRef path, llvm::StringRef option);

private:
  std::string path; ///< symbolic links resolved; empty where nothing is taken
};

/// An output cannot be opened or written.
llvm::Error cannotWrite(llvm::StringRef path, std::error_code code);

/// Opens a file and writes it, where nothing is to be known in time.
llvm::Error writeFile(llvm::StringRef path, llvm::StringRef option,
                      llvm::function_ref<void(llvm::raw_ostream &)> write);

/// The files of one run of a tool. While it lives, inputs are remembered, and outputs that are
/// committed wait: all are put in place together, or none is. At most one at a time; without one,
/// as in programs that embed the passes, each output is put in place when it is committed.
class FilesOfRun {
public:
  FilesOfRun();
  FilesOfRun(const FilesOfRun &) = delete;
  FilesOfRun &operator=(const FilesOfRun &) = delete;
  ~FilesOfRun();

  /// Puts the outputs in place, in the order of their commits. After an error the rest is not.
  llvm::Error commit();
};

/// Asked by whoever would end the process and say that nothing was written. False where
/// FilesOfRun::commit has begun to put outputs in place; once it is true, no commit begins.
bool claimEnd();

/// The number of outputs that wait for being complete; may be asked in a signal handler.
unsigned pendingOutputs();

} // namespace mpcore::support

#endif // MP_SUPPORT_FILES_H
