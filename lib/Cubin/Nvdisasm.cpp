// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds programs of the CUDA toolkit, and reads nvdisasm's listing.

#include "mp/Cubin/Cubin.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mpcore::cubin;
using llvm::StringRef;

llvm::Expected<std::string> mpcore::cubin::findCudaTool(StringRef name) {
  std::vector<std::string> candidates;
  if (auto file = llvm::sys::Process::GetEnv(name.upper()))
    candidates.push_back(*file);
  auto inFolder = [&](StringRef folder) {
    llvm::SmallString<128> file(folder);
    llvm::sys::path::append(file, "bin", name);
    candidates.push_back(file.str().str());
  };
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"})
    if (auto folder = llvm::sys::Process::GetEnv(variable))
      inFolder(*folder);
  if (auto onPath = llvm::sys::findProgramByName(name))
    candidates.push_back(*onPath);
  inFolder("/usr/local/cuda");
  for (const std::string &candidate : candidates)
    if (llvm::sys::fs::can_execute(candidate))
      return candidate;
  return llvm::createStringError(
      "no " + name + " found; looked at " + llvm::join(candidates, ", ") + " and along PATH. Set " +
      name.upper() + " to the program, which is part of the CUDA toolkit [MP701]");
}

/// Runs the program and returns what it writes.
static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
outputOf(StringRef program, llvm::ArrayRef<StringRef> arguments) {
  llvm::SmallString<128> file;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("mp-disassembly", "txt", file))
    return llvm::createStringError("cannot create a temporary file: " + error.message());
  llvm::CleanupInstaller remover(file); // also when a signal ends the process
  const std::optional<StringRef> redirects[] = {StringRef(), StringRef(file), StringRef(file)};
  std::string message;
  const int status = llvm::sys::ExecuteAndWait(program, arguments, std::nullopt, redirects,
                                               /*SecondsToWait=*/0, /*MemoryLimit=*/0, &message);
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/true);
  if (!buffer)
    return llvm::createStringError("cannot read the output of " + program);
  if (status)
    return llvm::createStringError(
        program +
        " failed: " + (message.empty() ? (*buffer)->getBuffer().take_front(200).str() : message));
  return std::move(*buffer);
}

namespace {
/// Labels and instructions of one function as they come.
struct Listing {
  std::vector<Instruction> instructions;
  llvm::StringMap<uint32_t> labels;
  std::vector<std::pair<size_t, std::string>> branches; ///< instruction and label
  std::vector<std::string> pending;                     ///< labels of the next instruction

  void resolve() {
    for (auto &[index, label] : branches)
      if (auto it = labels.find(label); it != labels.end())
        instructions[index].target = it->second;
  }
};
} // namespace

/// "        /*0010*/   @P0 BRA `(.L_x_1) ;"
static bool parseLine(StringRef line, Listing &listing) {
  line = line.trim();
  if (line.starts_with(".L") && line.ends_with(":")) {
    listing.pending.push_back(line.drop_back().str());
    return true;
  }
  uint32_t address = 0;
  if (!line.consume_front("/*") || line.consumeInteger(16, address) || !line.consume_front("*/"))
    return false;
  StringRef text = line.split(';').first;
  std::optional<Instruction> instruction = parseInstruction(text, address);
  if (!instruction)
    return false;
  for (const std::string &label : listing.pending)
    listing.labels[label] = address;
  listing.pending.clear();
  if (auto at = text.find("`("); at != StringRef::npos)
    listing.branches.push_back(
        {listing.instructions.size(), text.drop_front(at + 2).split(')').first.str()});
  listing.instructions.push_back(*instruction);
  return true;
}

llvm::Expected<Cubin> mpcore::cubin::readCubinWithNvdisasm(StringRef file, StringRef nvdisasm) {
  auto bytes = llvm::MemoryBuffer::getFile(file);
  if (!bytes)
    return llvm::createStringError("cannot read " + file + ": " + bytes.getError().message());
  llvm::Expected<Cubin> cubin = readCubin((*bytes)->getBuffer());
  if (!cubin)
    return cubin.takeError();
  auto text = outputOf(nvdisasm, {nvdisasm, "-c", file});
  if (!text)
    return text.takeError();
  llvm::StringMap<Listing> listings;
  Listing *current = nullptr;
  llvm::SmallVector<StringRef, 0> lines;
  (*text)->getBuffer().split(lines, '\n');
  for (StringRef line : lines) {
    StringRef name = line;
    if (name.consume_front("//") && (name = name.ltrim('-').ltrim()).consume_front(".text."))
      current = &listings[name.take_until([](char c) { return llvm::isSpace(c); })];
    else if (current)
      parseLine(line, *current);
  }
  for (Function &function : cubin->functions) {
    Listing &listing = listings[function.name];
    if (listing.instructions.empty() && !function.instructions.empty())
      return llvm::createStringError(nvdisasm + " lists no instructions of " + function.name);
    listing.resolve();
    function.instructions = std::move(listing.instructions);
  }
  return cubin;
}
