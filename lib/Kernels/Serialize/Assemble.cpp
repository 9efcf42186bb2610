// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs ptxas and fatbinary on PTX text and reads the resources they report.

#include "PTX.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::mp;

/// Looks for a tool of the CUDA toolkit.
static FailureOr<std::string> findTool(StringRef name, Location loc) {
  if (auto found = llvm::sys::findProgramByName(name))
    return *found;
  for (StringRef variable : {"CUDA_ROOT", "CUDA_HOME", "CUDA_PATH"})
    if (auto root = llvm::sys::Process::GetEnv(variable)) {
      SmallString<128> bin(*root);
      llvm::sys::path::append(bin, "bin");
      if (auto found = llvm::sys::findProgramByName(name, {bin.str()}))
        return *found;
    }
  return emitError(loc) << "'" << name << "' was not found in PATH, CUDA_ROOT, CUDA_HOME or "
                        << "CUDA_PATH: install the CUDA toolkit, or use emit=ptx, which needs none",
         failure();
}

namespace {

/// A file that goes away with this object.
class ScratchFile {
public:
  explicit ScratchFile(StringRef suffix) {
    if (llvm::sys::fs::createTemporaryFile("mp", suffix, path))
      path.clear();
    remover.setFile(path);
  }
  bool valid() const { return !path.empty(); }
  StringRef name() const { return path; }
  bool write(StringRef content) {
    std::error_code error;
    llvm::raw_fd_ostream stream(path, error);
    if (error)
      return false;
    stream << content;
    stream.close();
    return !stream.has_error();
  }
  std::string read() const {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  }

private:
  SmallString<128> path;
  llvm::FileRemover remover;
};

} // namespace

/// Runs `command`, the tool first; returns what it wrote to both streams.
static FailureOr<std::string> runTool(ArrayRef<StringRef> command, Location loc) {
  ScratchFile log("log");
  std::optional<StringRef> redirects[] = {std::nullopt, log.name(), log.name()};
  std::string error;
  int status =
      llvm::sys::ExecuteAndWait(command[0], command, std::nullopt, redirects, 0, 0, &error);
  std::string output = log.read();
  if (status == 0)
    return output;
  return emitError(loc) << llvm::sys::path::filename(command[0]) << " failed"
                        << (error.empty() ? "" : ": " + error) << "\n"
                        << StringRef(output).take_front(4000),
         failure();
}

/// The number before `unit` in `line`; zero if absent.
static unsigned numberBefore(StringRef line, StringRef unit) {
  size_t at = line.find(unit);
  if (at == StringRef::npos)
    return 0;
  StringRef head = line.take_front(at).rtrim();
  unsigned value = 0;
  head.substr(head.find_last_not_of("0123456789") + 1).getAsInteger(10, value);
  return value;
}

static void parseReport(StringRef report, SmallVectorImpl<KernelResources> &resources) {
  SmallVector<StringRef> lines;
  report.split(lines, '\n');
  for (StringRef line : lines) {
    if (line.contains("Compiling entry function")) {
      resources.emplace_back();
      resources.back().name = line.split('\'').second.split('\'').first.str();
    }
    if (resources.empty())
      continue;
    resources.back().spillBytes += numberBefore(line, " bytes spill stores");
    if (unsigned registers = numberBefore(line, " registers"))
      resources.back().registers = registers;
    if (unsigned shared = numberBefore(line, " bytes smem"))
      resources.back().sharedBytes = shared;
  }
}

/// Says what ptxas remarks about speed: wgmma that it serialises (C7510, C7511, C7514), setmaxnreg
/// that it ignores (C7508), and its warnings.
static void warnOfSlowness(StringRef report, Location loc) {
  SmallVector<StringRef> lines;
  report.split(lines, '\n');
  for (StringRef line : lines)
    if (line.contains("warning") || line.contains("(C75"))
      emitWarning(loc) << "ptxas: " << line.split("ptxas ").second.trim();
}

FailureOr<std::string> mlir::mp::assemble(StringRef ptx, const target::TargetModel &model,
                                          Location loc,
                                          SmallVectorImpl<KernelResources> &resources) {
  FailureOr<std::string> ptxas = findTool("ptxas", loc);
  if (failed(ptxas))
    return failure();
  if (!model.assembles)
    return emitError(loc) << "ptxas of CUDA 13 no longer assembles for " << model.name
                          << ": use emit=ptx, which the driver compiles",
           failure();
  ScratchFile input("ptx"), output("cubin");
  if (!input.valid() || !output.valid() || !input.write(ptx))
    return emitError(loc) << "cannot write a temporary file for ptxas", failure();
  std::string arch = ("-arch=" + model.name).str();
  FailureOr<std::string> report =
      runTool({*ptxas, arch, "-v", input.name(), "-o", output.name()}, loc);
  if (failed(report))
    return failure();
  parseReport(*report, resources);
  warnOfSlowness(*report, loc);
  return output.read();
}

FailureOr<std::string> mlir::mp::makeFatBinary(StringRef ptx, StringRef cubin,
                                               const target::TargetModel &model, Location loc) {
  FailureOr<std::string> tool = findTool("fatbinary", loc);
  if (failed(tool))
    return failure();
  ScratchFile ptxFile("ptx"), cubinFile("cubin"), output("fatbin");
  if (!ptxFile.write(ptx) || !cubinFile.write(cubin))
    return emitError(loc) << "cannot write a temporary file for fatbinary", failure();
  StringRef number = model.name.drop_front(3);
  std::string ptxImage = ("--image3=kind=ptx,sm=" + number + ",file=" + ptxFile.name()).str();
  std::string cubinImage = ("--image3=kind=elf,sm=" + number + ",file=" + cubinFile.name()).str();
  std::string create = ("--create=" + output.name()).str();
  if (failed(runTool({*tool, "--64", cubinImage, ptxImage, create}, loc)))
    return failure();
  return output.read();
}
