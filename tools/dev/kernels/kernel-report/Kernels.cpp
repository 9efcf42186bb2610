// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Kernels.h"

#include "mp/Performance/Schedule.h"
#include "mp/Support/ScratchFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <cmath>

using namespace kernelreport;
using namespace mpcore::cubin;
using mpcore::support::ScratchFile;
namespace performance = mpcore::performance;
using llvm::StringRef;
using llvm::Twine;

/// The word behind .target.
static StringRef targetOf(StringRef ptx) {
  for (llvm::SmallVector<StringRef, 0> lines; lines.empty();) {
    ptx.split(lines, '\n');
    for (StringRef line : lines)
      if ((line = line.trim()).consume_front(".target"))
        return line.ltrim().take_until([](char c) { return llvm::isSpace(c) || c == ','; });
    lines.push_back(""); // no such line
  }
  return "";
}

/// Lines such as "ptxas info    : (C7510) Potential Performance Loss: ...".
static std::vector<std::string> speedNotes(StringRef output) {
  llvm::SmallVector<StringRef, 0> lines;
  output.split(lines, '\n');
  std::vector<std::string> notes;
  for (StringRef line : lines)
    if (auto at = line.find("(C75"); at != StringRef::npos)
      notes.push_back(line.drop_front(at).trim().str());
  return notes;
}

/// Assembles a PTX file into `cubin` and returns what ptxas remarked.
static llvm::Expected<std::vector<std::string>> assemble(StringRef path, StringRef cubin,
                                                         const LoadOptions &options) {
  auto text = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!text)
    return llvm::createStringError("cannot read " + path + ": " + text.getError().message());
  const std::string target = targetOf((*text)->getBuffer()).str();
  if (target.empty())
    return llvm::createStringError(path + ": no .target line; is it PTX?");
  std::string ptxas = options.ptxas;
  if (ptxas.empty()) {
    llvm::Expected<std::string> found = findCudaTool("ptxas");
    if (!found)
      return found.takeError();
    ptxas = *found;
  }
  auto log = ScratchFile::create("mp-ptxas", "txt");
  if (!log)
    return log.takeError();
  const std::string arch = "-arch=" + target;
  const StringRef arguments[] = {ptxas, arch, "-v", path, "-o", cubin};
  const std::optional<StringRef> redirects[] = {StringRef(), log->path(), log->path()};
  std::string message;
  const int status =
      llvm::sys::ExecuteAndWait(ptxas, arguments, std::nullopt, redirects, 0, 0, &message);
  const std::string output = log->read();
  const StringRef said = output;
  if (status)
    return llvm::createStringError(
        path + ": ptxas fails: " + (message.empty() ? said.trim().take_front(500).str() : message));
  return speedNotes(said);
}

llvm::Expected<LoadedFile> kernelreport::loadFile(StringRef path, const LoadOptions &options) {
  LoadedFile loaded;
  loaded.path = path.str();
  std::string cubinPath = path.str();
  std::optional<ScratchFile> made;
  if (path.ends_with(".ptx")) {
    auto file = ScratchFile::create("mp-kernel", "cubin");
    if (!file)
      return file.takeError();
    cubinPath = made.emplace(std::move(*file)).path().str();
    auto notes = assemble(path, cubinPath, options);
    if (!notes)
      return notes.takeError();
    loaded.notes = std::move(*notes);
  }
  auto bytes = llvm::MemoryBuffer::getFile(cubinPath);
  if (!bytes)
    return llvm::createStringError("cannot read " + path + ": " + bytes.getError().message());
  llvm::Expected<Cubin> cubin = options.nvdisasm.empty()
                                    ? readCubin((*bytes)->getBuffer())
                                    : readCubinWithNvdisasm(cubinPath, options.nvdisasm);
  if (!cubin)
    return llvm::createStringError(path + ": " + llvm::toString(cubin.takeError()));
  loaded.cubin = std::make_unique<Cubin>(std::move(*cubin));
  for (const Function &function : loaded.cubin->functions)
    loaded.kernels.push_back(statisticsOf(function, loaded.cubin->sm));
  return loaded;
}

llvm::Expected<std::vector<std::string>>
kernelreport::listFiles(llvm::ArrayRef<std::string> paths) {
  std::vector<std::string> files;
  for (const std::string &path : paths) {
    if (!llvm::sys::fs::exists(path))
      return llvm::createStringError("no file or folder " + path);
    if (!llvm::sys::fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    std::error_code error;
    for (llvm::sys::fs::directory_iterator it(path, error), end; it != end && !error;
         it.increment(error))
      if (StringRef(it->path()).ends_with(".ptx") || StringRef(it->path()).ends_with(".cubin"))
        found.push_back(it->path());
    if (error)
      return llvm::createStringError("cannot read folder " + path + ": " + error.message());
    llvm::sort(found);
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

const performance::Part *kernelreport::partFor(unsigned sm) {
  for (const performance::Part &part : performance::allParts())
    if (part.plain->computeCapability == sm)
      return &part;
  return nullptr;
}

/// Cycles of one of the four parts of a multiprocessor, for one iteration of one warp (or of the
/// one that issues tcgen05): each resource alone, over those of the matrix unit.
static void addPressures(std::map<std::string, double> &metrics, const Tally &t,
                         const performance::Part &part) {
  const bool wholeBlock = t.units.count(ProductUnit::Tcgen05);
  // Data sheets round; the unit multiplies a power of two.
  const double peak = part.multiplyAddsPerCycle(*part.bestUnit("f16"), "f16");
  const double rate = std::exp2(std::round(std::log2(peak)));
  const double matrix = t.f16MultiplyAdds / (wholeBlock ? rate : rate / 4);
  if (matrix == 0)
    return;
  const double share = wholeBlock ? 1 : 4;
  const double fill = t.asyncCopied * share / 128;
  metrics["matrix_cycles"] = matrix;
  metrics["shared_per_matrix_time"] =
      ((t.matrixOperands + t.sharedLoaded + t.sharedStored) * share / 128 + fill) / matrix;
  metrics["issue_per_matrix_time"] = t.instructions / matrix;
  metrics["alu_per_matrix_time"] = t.aluCycles / matrix;
  metrics["fma_per_matrix_time"] = t.fmaCycles / matrix;
  metrics["special_per_matrix_time"] = 8.0 * t[Kind::Special] / matrix;
}

static void addLoop(std::map<std::string, double> &metrics, const LoopStatistics &loop,
                    const performance::Part *part) {
  const Tally &t = loop.hot;
  metrics["loop_instructions"] = t.instructions;
  metrics["loop_products"] = t[Kind::Matrix];
  auto bar = t.opcodes.find("BAR");
  metrics["loop_barriers"] = bar == t.opcodes.end() ? 0 : bar->second;
  metrics["loop_waits"] = t.waits;
  metrics["loop_spills"] = t[Kind::Spill];
  if (t.multiplyAdds) {
    metrics["non_mma_per_mma16816"] = t.nonMatrixPerMma16816();
    metrics["non_mma_without_nops_per_mma16816"] =
        t.nonMatrixPerMma16816() - t[Kind::Nop] / t.mma16816();
    metrics["shared_bytes_per_mma16816"] = t.sharedBytesPerMma16816();
    // As attention counts: one iteration's instructions for 128 products of m16n8k16.
    metrics["instructions_per_128_mma16816"] = t.instructions / t.mma16816() * 128;
    metrics["without_nops_per_128_mma16816"] = (t.instructions - t[Kind::Nop]) / t.mma16816() * 128;
  }
  if (part)
    addPressures(metrics, t, *part);
}

/// The loop with most multiplications and additions of floats, if those are most of it: products on
/// the scalar units.
static void addScalarLoop(std::map<std::string, double> &metrics,
                          llvm::ArrayRef<LoopStatistics> loops) {
  auto countOf = [](const Tally &t, const char *opcode) {
    auto found = t.opcodes.find(opcode);
    return found == t.opcodes.end() ? 0 : found->second;
  };
  const Tally *most = nullptr;
  unsigned arithmetic = 0;
  for (const LoopStatistics &loop : loops) {
    const Tally &t = loop.own;
    const unsigned floats = countOf(t, "FFMA") + countOf(t, "FMUL") + countOf(t, "FADD");
    if (floats > arithmetic && 2 * floats > t.instructions) {
      most = &t;
      arithmetic = floats;
    }
  }
  if (!most)
    return;
  metrics["loop_instructions"] = most->instructions;
  metrics["loop_barriers"] = countOf(*most, "BAR");
  metrics["loop_instructions_per_float_arithmetic"] = double(most->instructions) / arithmetic;
}

std::map<std::string, double> kernelreport::metricsOf(const LoadedFile &file,
                                                      const FunctionStatistics &kernel,
                                                      const LaunchFacts &facts) {
  const Function &f = *kernel.function;
  const performance::Part *part = partFor(kernel.sm);
  std::map<std::string, double> metrics = {{"registers", f.registers},
                                           {"stack_bytes", f.stackBytes},
                                           {"static_shared_bytes", f.sharedBytes},
                                           {"code_bytes", f.codeBytes},
                                           {"instructions", kernel.whole.instructions},
                                           {"spill_instructions", kernel.spills()},
                                           {"barriers", kernel.barriers()},
                                           {"speed_notes", double(file.notes.size())},
                                           {"loops", double(kernel.loops.size())},
                                           {"unknown_instructions", kernel.unknown}};
  const unsigned threads = facts.threads ? facts.threads : f.threads;
  if (threads && part) {
    const unsigned blocks = performance::residentBlocks(*part->specific, threads, f.registers,
                                                        f.sharedBytes + facts.dynamicShared);
    const unsigned warps = (threads + 31) / 32;
    metrics["blocks_per_multiprocessor"] = blocks;
    metrics["occupancy"] = double(blocks * warps) / (part->limits().threadsPerMultiprocessor / 32);
    metrics["bytes_in_flight_per_multiprocessor"] = double(kernel.bytesInFlight) * threads * blocks;
  }
  const Tally &whole = kernel.whole;
  // Access widths: 1 where every access of global memory moves 16 bytes a lane.
  unsigned narrow = 0;
  for (auto &[name, count] : whole.widths)
    if ((StringRef(name).starts_with("LDG.") || StringRef(name).starts_with("STG.")) &&
        !StringRef(name).ends_with(".128") && !StringRef(name).ends_with(".256"))
      narrow += count;
  metrics["narrow_global_accesses"] = narrow;
  // The loop that loads most counts, or the whole kernel if it has none that loads.
  const LoopStatistics *most = nullptr;
  for (const LoopStatistics &loop : kernel.loops)
    if (loop.own.globalLoaded && (!most || loop.own.globalLoaded > most->own.globalLoaded))
      most = &loop;
  const Tally &work = most ? most->own : whole;
  if (facts.elementBytes && !kernel.mainLoop) {
    if (work.globalLoaded)
      metrics["instructions_per_loaded_element"] =
          work.instructions * facts.elementBytes / work.globalLoaded;
    if (work.globalStored)
      metrics["instructions_per_stored_element"] =
          work.instructions * facts.elementBytes / work.globalStored;
  }
  if (work.globalLoaded && !kernel.mainLoop)
    metrics["instructions_per_16_loaded_bytes"] = work.instructions * 16.0 / work.globalLoaded;
  if (kernel.mainLoop)
    addLoop(metrics, kernel.loops[*kernel.mainLoop], part);
  else
    addScalarLoop(metrics, kernel.loops);
  if (kernel.producerLoop)
    metrics["producer_instructions"] = kernel.loops[*kernel.producerLoop].hot.instructions;
  return metrics;
}
