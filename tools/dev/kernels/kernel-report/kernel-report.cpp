// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints what the machine code of kernels says about their speed, and holds kernels against the
// gates of gates.json. docs/reference/KernelReport.md explains the figures.

#include "Gates.h"
#include "mp/Support/ErrorCode.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace kernelreport;
using namespace mpcore::cubin;
namespace cl = llvm::cl;
using llvm::StringRef;

static cl::list<std::string> paths(cl::Positional, cl::OneOrMore,
                                   cl::desc("FILE.cubin, FILE.ptx or folders of them"));
static cl::opt<std::string> kernelName("kernel", cl::desc("Only kernels whose name contains this"));
static cl::opt<bool> json("json", cl::desc("Print JSON"));
static cl::opt<unsigned> threads("block",
                                 cl::desc("Threads per block, where the kernel does not say"));
static cl::opt<unsigned> dynamicShared("dynamic-shared",
                                       cl::desc("Bytes of dynamic shared memory per block"));
static cl::opt<double> elementBytes("element-bytes",
                                    cl::desc("Size of an element, for figures per element"));
static cl::opt<std::string> ptxas("ptxas", cl::desc("Assembler for PTX (default: found)"));
static cl::opt<std::string>
    disassembler("disassembler", cl::init("built-in"),
                 cl::desc("Who reads instructions: built-in, nvdisasm (found), or a path to it"));
static cl::opt<bool> gates("gates", cl::desc("Hold the kernels of one folder against the gates"));
static cl::opt<std::string>
    gateFile("gate-file", cl::init(MP_SOURCE_DIR "/tools/dev/kernels/kernel-report/gates.json"),
             cl::desc("Gates to use (default: those of the tree)"));
static cl::list<std::string> required("require", cl::CommaSeparated,
                                      cl::desc("Families whose kernels must all be there"));

static void printTally(StringRef name, const Tally &t) {
  llvm::outs() << "  " << name << ": " << t.instructions << " instructions =";
  for (unsigned k = 0; k < kKinds; ++k)
    if (t.byKind[k])
      llvm::outs() << " " << t.byKind[k] << " " << toString(Kind(k));
  llvm::outs() << "\n";
  for (auto &[product, count] : t.products)
    llvm::outs() << "    " << count << " " << product << "\n";
}

static void printKernel(const LoadedFile &file, const FunctionStatistics &s) {
  const Function &f = *s.function;
  llvm::outs() << f.name << " (sm_" << s.sm << ", " << file.path << ")\n";
  printTally("all", s.whole);
  for (auto [k, loop] : llvm::enumerate(s.loops)) {
    std::string name = "loop at 0x" + llvm::utohexstr(loop.begin, /*LowerCase=*/true);
    if (s.mainLoop == k)
      name = "main " + name;
    else if (s.producerLoop == k)
      name = "producer " + name;
    printTally(name, loop.hot);
    if (loop.rare)
      llvm::outs() << "    and " << loop.rare << " that not every iteration executes\n";
  }
  for (auto &[name, value] : metricsOf(file, s, {threads, dynamicShared, elementBytes}))
    llvm::outs() << "  " << llvm::left_justify(name, 36) << llvm::format("%.4g\n", value);
  for (const std::string &note : file.notes)
    llvm::outs() << "  ptxas: " << note << "\n";
}

static int printReports(const LoadOptions &options, llvm::ExitOnError &exitOnError) {
  llvm::json::Array array;
  unsigned shown = 0;
  for (const std::string &path : exitOnError(listFiles(paths))) {
    LoadedFile file = exitOnError(loadFile(path, options));
    for (const FunctionStatistics &s : file.kernels) {
      if (!StringRef(s.function->name).contains(kernelName))
        continue;
      ++shown;
      if (!json) {
        printKernel(file, s);
        continue;
      }
      llvm::json::Object object = toJSON(s);
      llvm::json::Object metrics;
      for (auto &[name, value] : metricsOf(file, s, {threads, dynamicShared, elementBytes}))
        metrics[name] = value;
      object["file"] = file.path;
      object["metrics"] = std::move(metrics);
      object["notes"] = llvm::json::Array(file.notes);
      array.push_back(std::move(object));
    }
  }
  if (!shown)
    exitOnError(llvm::createStringError(
        "no kernel" +
        (kernelName.empty() ? std::string() : " with '" + kernelName + "' in its name") +
        " in what was given"));
  if (json)
    llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(array)));
  return 0;
}

static int printGates(const LoadOptions &options, llvm::ExitOnError &exitOnError) {
  if (paths.size() != 1)
    exitOnError(llvm::createStringError("--gates takes one folder, " +
                                        std::to_string(paths.size()) + " are given"));
  auto text = llvm::MemoryBuffer::getFile(gateFile, /*IsText=*/true);
  if (!text)
    exitOnError(
        llvm::createStringError("cannot read " + gateFile + ": " + text.getError().message()));
  const std::vector<Gate> all = exitOnError(readGates((*text)->getBuffer()));
  for (const std::string &family : required)
    if (llvm::none_of(all, [&](const Gate &g) { return g.family == family; }))
      exitOnError(llvm::createStringError("--require: no gate is about family '" + family + "'"));
  unsigned count[3] = {}, missing = 0;
  for (const Result &result : exitOnError(checkGates(all, paths.front(), options))) {
    ++count[unsigned(result.outcome)];
    const bool needed = llvm::is_contained(required, result.gate->family);
    missing += needed && result.outcome == Outcome::NotEmitted;
    static constexpr StringRef names[] = {"passed     ", "MISSED     ", "not emitted"};
    llvm::outs() << names[unsigned(result.outcome)] << " "
                 << llvm::left_justify(result.gate->id, 43) << result.gate->what << "\n";
    for (const std::string &line : result.lines)
      llvm::outs() << "              " << line << "\n";
  }
  llvm::outs() << count[0] << " passed, " << count[1] << " missed, " << count[2] << " not emitted";
  if (missing)
    llvm::outs() << ", " << missing << " of them of families that --require names";
  llvm::outs() << "\n";
  return count[1] || missing ? 1 : 0;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "Reports on the machine code of GPU kernels\n");
  llvm::ExitOnError exitOnError("kernel-report: error: ");
  exitOnError.setExitCodeMapper([](const llvm::Error &error) {
    auto code = mpcore::support::findCode(llvm::toStringWithoutConsuming(error));
    return int(code ? mpcore::support::statusOf(*code) : mpcore::support::ExitStatus::BadInput);
  });
  LoadOptions options{ptxas, ""};
  if (disassembler == "nvdisasm")
    options.nvdisasm = exitOnError(findCudaTool("nvdisasm"));
  else if (disassembler != "built-in")
    options.nvdisasm = disassembler;
  return gates ? printGates(options, exitOnError) : printReports(options, exitOnError);
}
