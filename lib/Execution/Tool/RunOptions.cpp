// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses the command line of mp-run and checks options against each other.

#include "OptionHandlers.h"

#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Execution/KernelEstimates.h"
#include "mp/Support/Memory.h"
#include "mp/Support/Words.h"
#include "mp/Target/Targets.h"

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

static llvm::Error parseDevice(RunOptions &options, StringRef value) {
  if (value.equals_insensitive("gpu"))
    return badOption("device", value, "cpu, emulator or cuda; a GPU is cuda");
  if (value != "cpu" && value != "emulator" && value != "cuda")
    return badOption("device", value,
                     "cpu, emulator or cuda" +
                         support::didYouMean(value, {"cpu", "emulator", "cuda"}));
  options.device = value.str();
  return llvm::Error::success();
}

static llvm::Error parseThreads(RunOptions &options, StringRef value) {
  constexpr unsigned most = 4096; // work is cut into as many parts before it begins
  if (llvm::Error error = parseInteger<unsigned>("threads", value, 1, options.threads))
    return error;
  return options.threads <= most ? llvm::Error::success()
                                 : badOption("threads", value, "at most " + Twine(most));
}

static llvm::Error parseMath(RunOptions &options, StringRef value) {
  options.exactMath = value == "exact";
  if (value == "exact" || value == "libm")
    return llvm::Error::success();
  return badOption("math", value, "libm or exact" + support::didYouMean(value, {"libm", "exact"}));
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
  return badOption("numerics", value,
                   "ieee or a GPU with a Tensor Core model" + support::suggestWord(value, known));
}

/// X, X,Y or X,Y,Z.
static llvm::Error parseExtent(StringRef option, StringRef value, std::array<uint32_t, 3> &extent) {
  SmallVector<StringRef> parts;
  value.split(parts, ',');
  for (auto [i, part] : llvm::enumerate(parts))
    if (i >= 3 || part.getAsInteger(10, extent[i]) || extent[i] < 1)
      return badOption(option, value, "one to three positive numbers, as in 4,2,1");
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

/// Options that name data and files.
static Handlers dataOptions(RunOptions &options) {
  return {
      {"entry", textOption(options.entry)},
      {"params", textOption(options.inputs.params)},
      {"compare", textOption(options.compare)},
      {"json", textOption(options.json)},
      {"html", textOption(options.html)},
      {"monitor", textOption(options.monitor)},
      {"input-dir", textOption(options.inputDir)},
      {"output-dir", textOption(options.outputDir)},
      {"save-state", textOption(options.saveState)},
      {"load-state", textOption(options.loadState)},
      {"input",
       [&options](StringRef value) -> llvm::Error {
         options.inputs.inputs.push_back(value.str());
         return llvm::Error::success();
       }},
      {"output",
       [&options](StringRef value) -> llvm::Error {
         StringRef path = value;
         path.consume_front("@");
         options.outputs.push_back(path.str());
         return path.empty() ? badOption("output", value, "@FILE.npy or -")
                             : llvm::Error::success();
       }},
      {"expect",
       [&options](StringRef value) -> llvm::Error {
         options.expected.push_back(value.str());
         return value.empty() ? badOption("expect", value, "an array, as --input takes it")
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
      {"kernel", textOption(options.kernel)},
      {"chip", textOption(options.chip)},
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
         return v.empty() ? badOption("estimate", v, "a GPU, such as H100")
                          : llvm::Error::success();
       }},
      {"trace", textOption(options.trace)},
      {"fit-memory",
       [&options](StringRef v) -> llvm::Error {
         auto bytes = mpcore::support::parseBytes(v);
         if (!bytes || *bytes > uint64_t(std::numeric_limits<int64_t>::max()))
           return badOption("fit-memory", v, "bytes, as in 4000000000 or 4G");
         options.maxMemory = int64_t(*bytes);
         return llvm::Error::success();
       }},
      {"threads", [&options](StringRef v) { return parseThreads(options, v); }},
      {"store-narrow",
       [&options](StringRef v) -> llvm::Error {
         auto format = support::findWord<StoredFormat>(v);
         if (!format)
           return badOption("store-narrow", v, "bf16 or f16");
         options.storeNarrow = *format;
         return llvm::Error::success();
       }},
      {"sample-blocks",
       [&options](StringRef v) {
         return parseInteger<uint64_t>("sample-blocks", v, 1, options.sampleBlocks);
       }},
      {"max-rel",
       [&options](StringRef v) -> llvm::Error {
         double limit;
         if (v.getAsDouble(limit) || !(limit >= 0))
           return badOption("max-rel", v, "a number of at least 0");
         options.maxRelative = limit;
         return llvm::Error::success();
       }},
  };
}
/// Checks options against each other, and sets those that others imply.
static llvm::Error settle(RunOptions &options) {
  if (options.file.empty() && !options.help && !options.version && !options.refusedPtx &&
      !options.alarmRules)
    return createStringError("expected a file to run; see --help");
  if (options.maxRelative && options.compare.empty() && options.expected.empty())
    return createStringError("--max-rel needs --compare or, of PTX, --expect");
  if (!options.html.empty() && options.steps < 2)
    return createStringError("--html needs --steps of at least 2, found " +
                             llvm::Twine(options.steps));
  if (!options.monitor.empty() && (options.steps < 2 || !options.compare.empty()))
    return createStringError(
        "--monitor is of one training: it needs --steps of at least 2 and goes "
        "without --compare");
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
  if (llvm::Error error = checkSearches(options))
    return error;
  if (options.reverse && options.device != "emulator" && !StringRef(options.file).ends_with(".ptx"))
    return createStringError(
        "--reverse is of the emulator's threads: --device=emulator, or a PTX file");
  if (llvm::Error error = checkCalibration(options))
    return error;
  if (options.checkErrors) {
    if (onDevice || !options.compare.empty() || options.checkRanges || options.steps > 1)
      return createStringError(
          "--check-errors is of one run on the CPU beside f64, without --device, --compare, "
          "--check-ranges and --steps");
    options.compare = "f64";
    options.perOp = true;
  }
  if (!options.trace.empty() && options.device != "emulator")
    return createStringError("--trace=" + options.trace +
                             " is of launches of kernels: expected --device=emulator");
  if (options.perOp && options.compare.empty() && !onDevice)
    return createStringError("--per-op needs --compare or --device=emulator");
  if (options.checkRanges && (onDevice || !options.compare.empty() || options.steps > 1))
    return createStringError(
        "--check-ranges is of one run on the CPU, without --device, --compare and --steps");
  if (onDevice && options.numerics && (options.compare.empty() || options.compare == "f64"))
    return createStringError(
        "--numerics=" + options.numericsName + " with --device=" + options.device +
        " is the arithmetic of the reference and needs --compare=FILE; the GPU is --chip");
  if (options.maxMemory && (onDevice || StringRef(options.file).ends_with(".ptx")))
    return createStringError("--fit-memory plans what runs on the CPU: expected --device=cpu");
  if (options.storeNarrow && !options.maxMemory)
    return createStringError("--store-narrow=" + options.storeNarrow.spell() +
                             " says how values may be stored under --fit-memory=SIZE");
  if (onDevice && options.emitLLVM)
    return createStringError(
        "--emit-llvm is of --device=cpu; mp-opt --mp-to-nvvm shows the kernels");
  return llvm::Error::success();
}

llvm::Expected<RunOptions> mlir::mp::parseRunOptions(ArrayRef<StringRef> arguments) {
  RunOptions options;
  Handlers valued = dataOptions(options);
  llvm::append_range(valued, calibrationOptions(options));
  llvm::append_range(valued, executionOptions(options));
  llvm::append_range(valued, searchOptions(options));
  std::pair<StringRef, bool *> flags[] = {{"per-op", &options.perOp},
                                          {"check-ranges", &options.checkRanges},
                                          {"check-errors", &options.checkErrors},
                                          {"bisect", &options.bisects},
                                          {"weights", &options.scoresWeights},
                                          {"layers", &options.byLayer},
                                          {"emit-llvm", &options.emitLLVM},
                                          {"reverse", &options.reverse},
                                          {"help", &options.help},
                                          {"help-all", &options.help},
                                          {"version", &options.version},
                                          {"refused-ptx", &options.refusedPtx},
                                          {"alarm-rules", &options.alarmRules}};

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
      given.insert(name);
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
                               (meant.empty() ? "; see --help-all" : meant));
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
  if (llvm::Error error = checkKindOfFile(given, options))
    return std::move(error);
  if (llvm::Error error = settle(options))
    return std::move(error);
  if (llvm::Error error = checkPartners(given, options))
    return std::move(error);
  return options;
}
