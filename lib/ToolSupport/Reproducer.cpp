// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Texts and names are rendered while all is well; a crash only copies bytes.

#include "Reproducer.h"
#include "mp/Support/Files.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <atomic>
#include <cstdlib>
#include <fcntl.h>
#include <mutex>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using llvm::StringRef;

namespace {

/// A file to copy or a text to write, rendered. Records are never freed.
struct Record {
  std::string target; ///< where to write it
  std::string source; ///< a file to copy; empty: `text`
  std::string text;
  StringRef content;               ///< instead of `text`, where it lives elsewhere
  std::atomic<bool> isValid{true}; ///< of texts that a later one replaces
  Record *next = nullptr;
};

struct Reproducer {
  std::mutex lock;
  std::string folder, program;
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>>
      copies; ///< path as it was given, name of its copy
  std::atomic<Record *> first{nullptr};
  std::atomic<Record *> script{nullptr};
  std::string message;
};

} // namespace

static Reproducer *prepared = nullptr;

static void add(Record *record) {
  record->next = prepared->first.load();
  prepared->first.store(record);
}

/// A word as the shell reads it back.
static std::string quote(StringRef word) {
  if (!word.empty() && llvm::all_of(word, [](char c) {
        return llvm::isAlnum(c) || StringRef("-_=./:,+@%").contains(c);
      }))
    return word.str();
  std::string quoted = "'";
  for (char c : word)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// `word` with the paths in it replaced by the names of their copies; a path ends where a name
/// does.
static std::string withCopies(StringRef word) {
  std::string text = word.str();
  auto isName = [](char c) { return llvm::isAlnum(c) || StringRef("-_./").contains(c); };
  for (const auto &[path, copy] : prepared->copies)
    for (size_t at = 0; (at = text.find(path, at)) != std::string::npos; at += copy.size()) {
      bool starts = at == 0 || !isName(text[at - 1]);
      bool ends = at + path.size() == text.size() || !isName(text[at + path.size()]);
      if (starts && ends)
        text.replace(at, path.size(), copy);
    }
  return text;
}

/// Renders the script anew; the one before it is not written any more.
static void renderScript() {
  std::string text =
      "#!/bin/sh\n# Replays a crash: runs the command in this folder, on copies of its "
      "files.\n# Another build: sh replay.sh PROGRAM\ncd \"$(dirname \"$0\")\" && exec \"${1:-" +
      prepared->program + "}\"";
  bool readsStandardInput = false;
  for (const std::string &argument : prepared->arguments)
    text += " " + quote(withCopies(argument));
  for (const auto &[path, copy] : prepared->copies)
    readsStandardInput |= path == "-";
  text += readsStandardInput ? " < standard-input\n" : "\n";
  auto *record = new Record();
  record->target = prepared->folder + "/replay.sh";
  record->text = std::move(text);
  if (Record *before = prepared->script.exchange(record))
    before->isValid = false;
  add(record);
}

/// A name that no other copy has.
static std::string copyName(StringRef path) {
  std::string name = llvm::sys::path::filename(path).str(), free = name;
  auto isTaken = [&](StringRef wanted) {
    return llvm::any_of(prepared->copies, [&](auto &copy) { return copy.second == wanted; });
  };
  for (unsigned number = 2; isTaken(free) || free == "replay.sh"; ++number)
    free = std::to_string(number) + "-" + name;
  return free;
}

static void onInput(StringRef path) {
  std::lock_guard guard(prepared->lock);
  if (llvm::any_of(prepared->copies, [&](auto &copy) { return copy.first == path; }))
    return;
  std::string name = copyName(path);
  llvm::SmallString<256> absolute(path);
  llvm::sys::fs::make_absolute(absolute);
  auto *record = new Record();
  record->source = absolute.str().str();
  record->target = prepared->folder + "/" + name;
  prepared->copies.push_back({path.str(), name});
  add(record);
  renderScript();
}

void mlir::mp::prepareReproducer(StringRef tool, llvm::ArrayRef<const char *> arguments) {
  prepared = new Reproducer();
  const char *folder = "/tmp";
  for (const char *variable : {"TMPDIR", "MP_CRASH_DIR"})
    if (const char *value = getenv(variable); value && *value)
      folder = value;
  llvm::SmallString<256> absolute(folder);
  llvm::sys::fs::make_absolute(absolute);
  prepared->folder = (absolute + "/" + tool + "-crash-" + std::to_string(getpid())).str();
  char self[4096];
  ssize_t length = readlink("/proc/self/exe", self, sizeof(self));
  prepared->program = length > 0 ? std::string(self, size_t(length)) : tool.str();
  prepared->arguments.assign(arguments.begin(), arguments.end());
  prepared->message = "note: what was read, and the command, are in " + prepared->folder +
                      "; replay with: sh " + prepared->folder + "/replay.sh\n";
  renderScript();
  mpcore::support::setInputListener(onInput);
}

void mlir::mp::setReproducedInput(StringRef content) {
  if (!prepared)
    return;
  std::lock_guard guard(prepared->lock);
  auto *record = new Record();
  record->content = content;
  record->target = prepared->folder + "/standard-input";
  prepared->copies.push_back({"-", "-"});
  add(record);
  renderScript();
}

void mlir::mp::setReproducedPipeline(StringRef pipeline) {
  if (!prepared)
    return;
  std::lock_guard guard(prepared->lock);
  auto *record = new Record();
  record->text = pipeline.str() + "\n";
  record->target = prepared->folder + "/pipeline.txt";
  add(record);
}

/// Writes all of `bytes`; what the disk does not take is lost.
static void writeAll(int file, StringRef bytes) {
  while (!bytes.empty()) {
    ssize_t written = write(file, bytes.data(), bytes.size());
    if (written <= 0)
      return;
    bytes = bytes.drop_front(size_t(written));
  }
}

static void copyAll(const char *source, int target) {
  int file = open(source, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return;
  char buffer[1 << 14];
  for (ssize_t length; (length = read(file, buffer, sizeof(buffer))) > 0;)
    writeAll(target, {buffer, size_t(length)});
  close(file);
}

void mlir::mp::writeReproducer() {
  if (!prepared || mkdir(prepared->folder.c_str(), 0777) != 0)
    return;
  for (Record *record = prepared->first.load(); record; record = record->next) {
    if (!record->isValid)
      continue;
    int file = open(record->target.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
      continue;
    if (!record->source.empty())
      copyAll(record->source.c_str(), file);
    else
      writeAll(file, record->text.empty() ? record->content : StringRef(record->text));
    close(file);
  }
  writeAll(STDERR_FILENO, prepared->message);
}
