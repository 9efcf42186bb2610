// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs ptxas and fatbinary on PTX text and reads the resources they report.

#include "PTX.h"

#include "mlir/IR/Diagnostics.h"
#include "mp/Support/ErrorCode.h"
#include "mp/Support/ScratchFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::mp;
using mpcore::support::ScratchFile;

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
                        << "CUDA_PATH: install the CUDA toolkit, or use emit=ptx, which needs none"
                        << support::tag(support::ErrorCode::NotInstalled),
         failure();
}

/// An empty temporary file, or one with `content`.
static FailureOr<ScratchFile> scratch(StringRef suffix, Location loc, StringRef content = "") {
  auto file = ScratchFile::create("mp", suffix, [&](raw_ostream &os) { os << content; });
  if (!file)
    return emitError(loc) << llvm::toString(file.takeError()), failure();
  return std::move(*file);
}

/// Runs `command`, the tool first; returns what it wrote to both streams.
static FailureOr<std::string> runTool(ArrayRef<StringRef> command, Location loc) {
  FailureOr<ScratchFile> log = scratch("log", loc);
  if (failed(log))
    return failure();
  std::optional<StringRef> redirects[] = {std::nullopt, log->path(), log->path()};
  std::string error;
  int status =
      llvm::sys::ExecuteAndWait(command[0], command, std::nullopt, redirects, 0, 0, &error);
  std::string output = log->read();
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
  FailureOr<ScratchFile> input = scratch("ptx", loc, ptx), output = scratch("cubin", loc);
  if (failed(input) || failed(output))
    return failure();
  std::string arch = ("-arch=" + model.name).str();
  FailureOr<std::string> report =
      runTool({*ptxas, arch, "-v", input->path(), "-o", output->path()}, loc);
  if (failed(report))
    return failure();
  parseReport(*report, resources);
  warnOfSlowness(*report, loc);
  return output->read();
}

FailureOr<std::string> mlir::mp::makeFatBinary(StringRef ptx, StringRef cubin,
                                               const target::TargetModel &model, Location loc) {
  FailureOr<std::string> tool = findTool("fatbinary", loc);
  if (failed(tool))
    return failure();
  FailureOr<ScratchFile> ptxFile = scratch("ptx", loc, ptx);
  FailureOr<ScratchFile> cubinFile = scratch("cubin", loc, cubin), output = scratch("fatbin", loc);
  if (failed(ptxFile) || failed(cubinFile) || failed(output))
    return failure();
  StringRef number = model.name.drop_front(3);
  std::string ptxImage = ("--image3=kind=ptx,sm=" + number + ",file=" + ptxFile->path()).str();
  std::string cubinImage = ("--image3=kind=elf,sm=" + number + ",file=" + cubinFile->path()).str();
  std::string create = ("--create=" + output->path()).str();
  if (failed(runTool({*tool, "--64", cubinImage, ptxImage, create}, loc)))
    return failure();
  return output->read();
}
