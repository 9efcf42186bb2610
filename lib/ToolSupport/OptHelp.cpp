// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The help of mp-opt that fits a screen, and the help of one pass.

#include "OptHelp.h"
#include "mlir/Pass/PassRegistry.h"
#include "mp/Support/ErrorCode.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mpcore::support;

static constexpr llvm::StringLiteral kHelp =
    R"(mp-opt: mixed precision for models in MLIR

usage: mp-opt [--import] IN.mlir --PASS="OPTION=VALUE ..." ... [-o OUT.mlir]

  mp-opt model.mlir --mp-mixed-precision="format=bf16 target=sm_90a" -o narrow.mlir
  mp-opt model.mlir --mp-mixed-precision="explain=model.mlir:12" -o /dev/null
  mp-opt narrow.mlir --mp-check-erasure="original=model.mlir" -o /dev/null
  mp-opt narrow.mlir --mp-to-nvvm="target=sm_90a dir=ptx" -o kernels.mlir
  mp-opt step.mlir --mp-train-step="format=f16 loss-scale=torch" -o mixed.mlir

Pipelines, a flag each:
  --mp-mixed-precision  f32 to narrow formats: decides, casts, optimises, reports
  --mp-train-step       the same for a train step, with loss scaling and guarded updates
  --mp-to-nvvm          kernels as PTX, cubin or fat binary
  --mp-host-to-llvm     what launches them; then --mp-emit-object
  --mp-to-cpu           the LLVM dialect for this machine

Options of mp-mixed-precision that are asked for most:
  format=F              bf16 (default), f16, tf32, e4m3, e5m2, bf16x3, ...
  target=T              sm_70 to sm_121, or native; --mp-show-targets lists them
  policy=P              inference, training, a policy file, or an earlier report
  max-rel-error=X       limit of the modelled relative error of the results
  objective=O           time (default), memory or error
  report=R.json         what was decided, for programs; html=, dot= for people
  explain=WHERE         why: FILE:LINE, a layer's name, or @FUNCTION:ORDINAL

Files:
  --import              translate what exporters and older releases of MLIR leave
  -o FILE               result; - or none: standard output
  .tflite, .onnx, .pt2  are imported by the Python package, where python3 has it

  --help-pass=NAME      options of a pass or pipeline     --help-all  every flag
  --mp-show-policy=...  a policy as JSON                  --version, -q, -v, --werror
  --mp-explain-error=N  the page of an error's number     --show-dialects, --list-passes
Exit status: 0 done, 1 failed, 2 wrong usage or input, 70 internal, 77 missing.
)";

/// Prints what registered a pass or pipeline says; false if none is called so.
static bool printHelpOf(StringRef name) {
  name = name.ltrim('-');
  const PassRegistryEntry *entry = PassInfo::lookup(name);
  if (!entry)
    entry = PassPipelineInfo::lookup(name);
  if (!entry)
    return false;
  // Texts stand behind the longest name: upstream fills up to there, and counts without a sign.
  size_t width = std::max(entry->getOptionWidth(), entry->getPassArgument().size() + 4);
  entry->printHelpStr(/*indent=*/0, width + 4);
  return true;
}

std::optional<int> mlir::mp::answerHelp(ToolArguments &given) {
  for (char *&argument : given.arguments) {
    StringRef word(argument);
    if (word == "--help" || word == "-h" || word == "-help") {
      llvm::outs() << kHelp;
      return int(ExitStatus::Done);
    }
    if (word == "--help-all") {
      static char all[] = "--help";
      argument = all; // upstream's
      return std::nullopt;
    }
    if (word.consume_front("--help-pass=")) {
      if (printHelpOf(word))
        return int(ExitStatus::Done);
      llvm::errs() << "mp-opt: error: --help-pass=" << word
                   << ": no such pass or pipeline; --list-passes names them"
                   << tag(ErrorCode::UnknownOption) << "\n";
      return int(ExitStatus::BadInput);
    }
  }
  return std::nullopt;
}
