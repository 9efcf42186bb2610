// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses the command line of mp-run and checks options against each other.

#include "RunOptions.h"

#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Execution/KernelEstimates.h"
#include "mp/Support/Words.h"
#include "mp/Target/Targets.h"
#include "llvm/ADT/StringSet.h"

#include <functional>

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

StringRef mlir::mp::runHelp() {
  return R"(mp-run FILE.mlir [options]: run a function on the CPU and say how far it is from a reference

  --entry=NAME          function to run (default: main, or the only public one)
  --input=VALUE         once per argument, in order: @x.npy, @w.safetensors:NAME, 2x3xf32=1.5,
                        "2x3xf32=[1 2 3][4 5 6]", i32:7, 4xf32=uniform:SEED,SCALE,OFFSET,
                        4xi64=integers:SEED,LOW,HIGH, seed; arguments without one are seeded.
                        Integer files of the same width are taken as patterns of narrow floats
  --params=F.safetensors  arguments by name (of the location), before --input is counted
  --seed=N              of seeded arguments (default 0): weights have variance 1 / fan-in
  --dim=N               size of dynamic dimensions of seeded arguments (default: mp.dim, else 128)
  --output=@y.npy       once per result, in order; - is standard output
  --input-dir=DIR       write all arguments, as DIR/input-000.npy and so on
  --output-dir=DIR      all results, as DIR/result-000.npy and so on
  --device=cpu|emulator|cuda  where to run: compiled for the host, or lowered to GPU kernels that run in
                        the emulator or on a GPU (a file that mp-to-nvvm lowered is taken as it is)
  --chip=sm_80          the GPU that kernels are made for, and that the emulator follows (default: sm_80;
                        with --device=cuda native, the installed one)
  --numerics=ieee|sm_70|sm_75|sm_80|sm_89|sm_90|sm_100|sm_120
                        arithmetic of contractions on the CPU: IEEE, or a GPU's Tensor Cores bit for
                        bit; with other devices, of the reference that --compare=FILE runs
  --math=libm|exact     functions from the C library, or as kernels compute them, bit for bit
  --compare=f64|FILE    against the same graph computed in f64, or against another file
  --max-rel=X           fail if an error exceeds X times the reference's largest magnitude
  --per-op              compare the values inside the function too (they become results, which keeps
                        them from being fused); of kernels print what each did and the memory it took
  --check-ranges        check that all values inside lie where mp-annotate-ranges proves them to, given
                        the ranges of the arguments of this run; prints how tight the proofs are
  --check-errors        run in f64, too, and check that no value inside is further off than its certified
                        bound (docs/concepts/Ranges.md), given the same ranges; prints how tight the
                        bounds are
  --json=R.json         the comparison for programs
  --estimate=H100       of --device=emulator or PTX: the time that each kernel would take on that GPU, and what
                        binds it, modelled from what the emulator counts (docs/concepts/Performance.md);
                        without --chip, kernels are made for that GPU
  --sample-blocks=N     with --estimate: run about N blocks of each launch, evenly spread, and scale what they
                        count; results mean nothing and are not printed
  --html=R.html         with --steps: a page that plots every scalar, step by step
  --steps=N             repeat; a result replaces the argument whose mp.state names it, or,
                        without mp.state, leading results replace leading arguments. State that
                        mp appended starts as an --input for it or @NAME_init says;
                        --input=batches:@x.npy gives each step the next rows. With --compare=FILE both are trained, and how far their
                        state drifts apart is printed
  --log-every=N         print the scalars of every N-th step only
  --calibrate=@x.npy    run once per batch of these rows (as --input=batches:@x.npy, once per input) and
                        choose a magnitude for each operand of a contraction, for scales=FILE of
                        mp-mixed-precision; --json=FILE is where to
  --calibrator=absmax|percentile[:SHARE]|mse[:e4m3|e5m2|int8]|entropy
  --emit-llvm           print the LLVM IR instead of running
  --help, --version

Of PTX files, which run in the emulator: mp-run KERNEL.ptx --kernel=K --grid=X,Y,Z --block=X,Y,Z
  --smem=BYTES          dynamic shared memory
  --chip=sm_80          whose Tensor Cores (default: the file's target)
  --input=VALUE         once per parameter: arrays become device memory, i32:7 is passed by value, and so is
                        a tensor map, as JSON or @map.json: {"array": "64x96xf16=0", "box": [64, 32]},
                        with "dims", "strides", "type", "swizzle": "128B", "outside": "nan" on demand;
                        "array" may be the number of an earlier --input; im2col: "pixels" and "channels" for the
                        box, "lower", "upper" and "elementStrides" on demand; a structure is its fields in
                        parentheses, laid out as C does: (8xf32=0; i32:7; (i8:1; i64:2))
  --output=@y.npy       the last arrays, after the launch
  --expect=VALUE        what the last arrays have to hold then (as --input; --max-rel=X allows differences). Of
                        the first element that differs it is said which instruction of which thread wrote it, and
                        what that thread read last from shared memory
  --reverse             blocks, warps and lanes in reverse order (also with --device=emulator)
  --max-instructions=N  warp instructions, each block counted as 1000 more, after which the launch is stopped
                        (default 10000000000)
  --refused-ptx         print the instructions that assemblers take and the emulator refuses, and why (no file)
  Counts of instructions, memory transactions and bank conflicts are printed, and written to --json=R.json;
  faults of the kernel (bounds, races, deadlocks and so on) name instruction, thread and lane.

Exit status: 0 done, 1 a comparison or a check of the program failed, or a limit was reached, 2 wrong usage or
input, 70 an internal error, 77 something optional is missing (a driver).

  mp-run model.mlir --compare=f64
  mp-opt model.mlir --mp-mixed-precision -o mixed.mlir && mp-run mixed.mlir --compare=model.mlir --max-rel=1e-2
  mp-run layer.mlir --input=@x.npy --params=weights.safetensors --output=@y.npy
)";
}

static llvm::Error bad(StringRef option, StringRef value, const Twine &expected) {
  return createStringError("--" + option + "=" + value + ": expected " + expected);
}

static llvm::Error parseDevice(RunOptions &options, StringRef value) {
  if (value.equals_insensitive("gpu"))
    return bad("device", value, "cpu, emulator or cuda; a GPU is cuda");
  if (value != "cpu" && value != "emulator" && value != "cuda")
    return bad("device", value,
               "cpu, emulator or cuda" + support::didYouMean(value, {"cpu", "emulator", "cuda"}));
  options.device = value.str();
  return llvm::Error::success();
}

static llvm::Error parseMath(RunOptions &options, StringRef value) {
  options.exactMath = value == "exact";
  if (value == "exact" || value == "libm")
    return llvm::Error::success();
  return bad("math", value, "libm or exact" + support::didYouMean(value, {"libm", "exact"}));
}

static llvm::Error parseNumerics(RunOptions &options, StringRef value) {
  options.numericsName = value.str();
  if (value == "ieee")
    return llvm::Error::success();
  options.numerics = numerics::parseArchitecture(value);
  if (options.numerics)
    return llvm::Error::success();
  const StringRef known[] = {"ieee",  "sm_70", "sm_75",  "sm_80",
                             "sm_89", "sm_90", "sm_100", "sm_120"};
  return bad("numerics", value,
             "ieee or a GPU with a Tensor Core model" + support::suggestWord(value, known));
}

template <typename T>
static llvm::Error parseInteger(StringRef option, StringRef value, T least, T &result) {
  if (value.getAsInteger(10, result) || result < least)
    return bad(option, value, "an integer of at least " + Twine(least));
  return llvm::Error::success();
}

/// X, X,Y or X,Y,Z.
static llvm::Error parseExtent(StringRef option, StringRef value, std::array<uint32_t, 3> &extent) {
  SmallVector<StringRef> parts;
  value.split(parts, ',');
  for (auto [i, part] : llvm::enumerate(parts))
    if (i >= 3 || part.getAsInteger(10, extent[i]) || extent[i] < 1)
      return bad(option, value, "one to three positive numbers, as in 4,2,1");
  return llvm::Error::success();
}

/// Kernels for a chip run on the part only where its instructions are known.
static llvm::Error checkChip(StringRef chip, const performance::Part &part) {
  auto target = target::lookupTarget(chip);
  if (!target)
    return target.takeError();
  const bool runs = target->isArchSpecific()
                        ? target->name == part.specific->name
                        : target->computeCapability <= part.specific->computeCapability;
  if (runs)
    return llvm::Error::success();
  return createStringError("--estimate=" + part.name + ": kernels for --chip=" + chip +
                           " do not run on this GPU, which is " + part.specific->name);
}

static llvm::Error checkEstimate(RunOptions &options) {
  const bool isPtx = StringRef(options.file).ends_with(".ptx");
  if (options.sampleBlocks && options.estimate.empty())
    return createStringError("--sample-blocks needs --estimate");
  if (options.estimate.empty())
    return llvm::Error::success();
  if (!isPtx && options.device != "emulator")
    return createStringError("--estimate is of counts of the emulator: --device=emulator, or a PTX "
                             "file");
  auto part = performance::findPart(options.estimate);
  if (!part)
    return createStringError("--estimate: " + llvm::toString(part.takeError()));
  options.estimate = part->name.str();
  if (!options.chip.empty()) {
    if (llvm::Error error = checkChip(options.chip, *part))
      return error;
  } else if (!isPtx) {
    options.chip = part->specific->name.str();
  }
  const bool usesResults = !options.compare.empty() || !options.outputs.empty() ||
                           !options.outputDir.empty() || !options.expected.empty() ||
                           options.steps > 1;
  if (options.sampleBlocks && usesResults)
    return createStringError("--sample-blocks leaves results wrong: it goes without --compare, "
                             "--output, --output-dir, --expect and --steps");
  return llvm::Error::success();
}

using Handler = std::function<llvm::Error(StringRef)>;
using Handlers = std::vector<std::pair<StringRef, Handler>>;

static Handler text(std::string &target) {
  return [&target](StringRef value) -> llvm::Error {
    target = value.str();
    return llvm::Error::success();
  };
}

/// Options that name data and files.
static Handlers dataOptions(RunOptions &options) {
  return {
      {"entry", text(options.entry)},
      {"params", text(options.inputs.params)},
      {"compare", text(options.compare)},
      {"json", text(options.json)},
      {"html", text(options.html)},
      {"input-dir", text(options.inputDir)},
      {"output-dir", text(options.outputDir)},
      {"input",
       [&options](StringRef value) -> llvm::Error {
         options.inputs.inputs.push_back(value.str());
         return llvm::Error::success();
       }},
      {"calibrate",
       [&options](StringRef value) -> llvm::Error {
         options.calibrates = true;
         options.inputs.inputs.push_back("batches:" + value.str());
         return llvm::Error::success();
       }},
      {"calibrator",
       [&options](StringRef value) -> llvm::Error {
         auto calibration = parseCalibration(value);
         if (!calibration)
           return calibration.takeError();
         options.calibration = std::move(*calibration);
         return llvm::Error::success();
       }},
      {"output",
       [&options](StringRef value) -> llvm::Error {
         value.consume_front("@");
         options.outputs.push_back(value.str());
         return value.empty() ? bad("output", value, "@FILE.npy or -") : llvm::Error::success();
       }},
      {"expect",
       [&options](StringRef value) -> llvm::Error {
         options.expected.push_back(value.str());
         return value.empty() ? bad("expect", value, "an array, as --input takes it")
                              : llvm::Error::success();
       }},
  };
}

/// Options that say how to run.
static Handlers executionOptions(RunOptions &options) {
  return {
      {"seed",
       [&options](StringRef v) {
         return parseInteger<uint64_t>("seed", v, 0, options.inputs.seed);
       }},
      {"dim",
       [&options](StringRef v) {
         return parseInteger<int64_t>("dim", v, 1, options.inputs.dynamicSize);
       }},
      {"steps",
       [&options](StringRef v) { return parseInteger<int64_t>("steps", v, 1, options.steps); }},
      {"log-every",
       [&options](StringRef v) {
         return parseInteger<int64_t>("log-every", v, 1, options.logEvery);
       }},
      {"kernel", text(options.kernel)},
      {"chip", text(options.chip)},
      {"grid", [&options](StringRef v) { return parseExtent("grid", v, options.grid); }},
      {"block", [&options](StringRef v) { return parseExtent("block", v, options.block); }},
      {"smem",
       [&options](StringRef v) {
         return parseInteger<uint32_t>("smem", v, 0, options.sharedBytes);
       }},
      {"max-instructions",
       [&options](StringRef v) {
         return parseInteger<uint64_t>("max-instructions", v, 1, options.maxInstructions);
       }},
      {"device", [&options](StringRef v) { return parseDevice(options, v); }},
      {"numerics", [&options](StringRef v) { return parseNumerics(options, v); }},
      {"math", [&options](StringRef v) { return parseMath(options, v); }},
      {"estimate",
       [&options](StringRef v) -> llvm::Error {
         options.estimate = v.str();
         return v.empty() ? bad("estimate", v, "a GPU, such as H100") : llvm::Error::success();
       }},
      {"sample-blocks",
       [&options](StringRef v) {
         return parseInteger<uint64_t>("sample-blocks", v, 1, options.sampleBlocks);
       }},
      {"max-rel",
       [&options](StringRef v) -> llvm::Error {
         double limit;
         if (v.getAsDouble(limit) || !(limit >= 0))
           return bad("max-rel", v, "a number of at least 0");
         options.maxRelative = limit;
         return llvm::Error::success();
       }},
  };
}
/// Checks options against each other, and sets those that others imply.
static llvm::Error settle(RunOptions &options) {
  if (options.file.empty() && !options.help && !options.version && !options.refusedPtx)
    return createStringError("expected a file to run; see --help");
  if (options.maxRelative && options.compare.empty() && options.expected.empty())
    return createStringError("--max-rel needs --compare or, of PTX, --expect");
  if (!options.html.empty() && options.steps < 2)
    return createStringError("--html needs --steps of at least 2, found " +
                             llvm::Twine(options.steps));
  bool onDevice = options.device != "cpu";
  if (!options.chip.empty() && !onDevice && !StringRef(options.file).ends_with(".ptx"))
    return createStringError("--chip=" + options.chip +
                             " is of --device=emulator and --device=cuda; on the CPU, "
                             "--numerics=" +
                             options.chip + " computes contractions as that GPU does");
  if (!options.expected.empty() && !StringRef(options.file).ends_with(".ptx"))
    return createStringError("--expect is of PTX files; functions are compared by --compare");
  if (llvm::Error error = checkEstimate(options))
    return error;
  if (options.reverse && options.device != "emulator" && !StringRef(options.file).ends_with(".ptx"))
    return createStringError(
        "--reverse is of the emulator's threads: --device=emulator, or a PTX file");
  if (options.calibrates && (options.json.empty() || onDevice || !options.compare.empty()))
    return createStringError(
        "--calibrate writes its scales to --json=FILE, runs on the CPU, and compares nothing");
  if (options.checkErrors) {
    if (onDevice || !options.compare.empty() || options.checkRanges || options.steps > 1)
      return createStringError(
          "--check-errors is of one run on the CPU beside f64, without --device, --compare, "
          "--check-ranges and --steps");
    options.compare = "f64";
    options.perOp = true;
  }
  if (options.perOp && options.compare.empty() && !onDevice)
    return createStringError("--per-op needs --compare or --device=emulator");
  if (options.checkRanges && (onDevice || !options.compare.empty() || options.steps > 1))
    return createStringError(
        "--check-ranges is of one run on the CPU, without --device, --compare and --steps");
  if (onDevice && options.numerics && (options.compare.empty() || options.compare == "f64"))
    return createStringError(
        "--numerics=" + options.numericsName + " with --device=" + options.device +
        " is the arithmetic of the reference and needs --compare=FILE; the GPU is --chip");
  if (onDevice && options.emitLLVM)
    return createStringError(
        "--emit-llvm is of --device=cpu; mp-opt --mp-to-nvvm shows the kernels");
  return llvm::Error::success();
}

llvm::Expected<RunOptions> mlir::mp::parseRunOptions(ArrayRef<StringRef> arguments) {
  RunOptions options;
  Handlers valued = dataOptions(options);
  llvm::append_range(valued, executionOptions(options));
  std::pair<StringRef, bool *> flags[] = {{"per-op", &options.perOp},
                                          {"check-ranges", &options.checkRanges},
                                          {"check-errors", &options.checkErrors},
                                          {"emit-llvm", &options.emitLLVM},
                                          {"reverse", &options.reverse},
                                          {"help", &options.help},
                                          {"version", &options.version},
                                          {"refused-ptx", &options.refusedPtx}};

  const StringRef repeatable[] = {"input", "output", "expect", "calibrate"};
  llvm::StringSet<> given;
  for (size_t i = 0; i < arguments.size(); ++i) {
    StringRef argument = arguments[i];
    if (argument == "-" || !argument.starts_with("-")) {
      if (!options.file.empty())
        return createStringError("expected one file, found '" + options.file + "' and '" +
                                 argument + "'");
      options.file = argument.str();
      continue;
    }
    auto [name, value] = argument.drop_front(argument.starts_with("--") ? 2 : 1).split('=');
    bool hasValue = argument.contains('=');
    auto flag = llvm::find_if(flags, [&](auto &entry) { return entry.first == name; });
    if (flag != std::end(flags)) {
      if (hasValue)
        return createStringError("--" + name + " takes no value");
      *flag->second = true;
      continue;
    }
    auto option = llvm::find_if(valued, [&](auto &entry) { return entry.first == name; });
    if (option == valued.end()) {
      SmallVector<StringRef> names;
      for (auto &entry : valued)
        names.push_back(entry.first);
      for (auto &entry : flags)
        names.push_back(entry.first);
      std::string meant = support::didYouMean(name, names, "--");
      return createStringError("unknown option '" + argument.split('=').first + "'" +
                               (meant.empty() ? "; see --help" : meant));
    }
    if (!given.insert(name).second && !llvm::is_contained(repeatable, name))
      return createStringError("--" + name + " is given twice");
    if (!hasValue) {
      if (++i == arguments.size())
        return createStringError("--" + name + " needs a value");
      value = arguments[i];
    }
    if (llvm::Error error = option->second(value))
      return std::move(error);
  }
  if (llvm::Error error = settle(options))
    return std::move(error);
  return options;
}
