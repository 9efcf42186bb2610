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
      {"monitor", text(options.monitor)},
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

/// Options of the modes that run a program to learn something of it.
static Handlers searchOptions(RunOptions &options) {
  return {
      {"break-on",
       [&options](StringRef value) -> llvm::Error {
         auto condition = BreakCondition::parse(value);
         if (!condition)
           return condition.takeError();
         options.breakOn = *condition;
         return llvm::Error::success();
       }},
      {"keep",
       [&options](StringRef value) -> llvm::Error {
         auto keep = KeepCriterion::parse(value);
         if (!keep)
           return keep.takeError();
         options.keep = std::move(*keep);
         return llvm::Error::success();
       }},
      {"sensitivity", text(options.sensitivity)},
      {"ab",
       [&options](StringRef value) -> llvm::Error {
         auto [a, b] = value.split(',');
         options.recipeA = a.str();
         options.recipeB = b.str();
         return a.empty() || b.empty() || b.contains(',')
                    ? bad("ab", value, "two policies, as A.json,B.json or inference,training")
                    : llvm::Error::success();
       }},
      {"margin",
       [&options](StringRef v) -> llvm::Error {
         return v.getAsDouble(options.paired.margin) || !(options.paired.margin > 0)
                    ? bad("margin", v, "a positive difference of losses that does not matter")
                    : llvm::Error::success();
       }},
      {"assign", text(options.assign)},
      {"policy-out", text(options.policyOut)},
      {"formats",
       [&options](StringRef value) -> llvm::Error {
         options.formats.clear();
         SmallVector<StringRef> names;
         value.split(names, ',', -1, /*KeepEmpty=*/false);
         for (StringRef name : names)
           options.formats.push_back(name.str());
         return names.empty() ? bad("formats", value, "formats with commas, as bf16,f16,e4m3")
                              : llvm::Error::success();
       }},
      {"draws",
       [&options](StringRef v) { return parseInteger<int64_t>("draws", v, 1, options.draws); }},
      {"max-runs",
       [&options](StringRef v) { return parseInteger<size_t>("max-runs", v, 2, options.maxRuns); }},
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
/// The modes that learn something of a program exclude each other, and comparisons.
static llvm::Error checkSearches(const RunOptions &options) {
  const std::pair<bool, StringRef> modes[] = {{options.breakOn.has_value(), "--break-on"},
                                              {options.bisects, "--bisect"},
                                              {!options.sensitivity.empty(), "--sensitivity"},
                                              {!options.recipeA.empty(), "--ab"}};
  StringRef mode;
  for (auto [isAsked, name] : modes) {
    if (!isAsked)
      continue;
    if (!mode.empty())
      return createStringError(mode + " and " + name + " exclude each other: give one");
    mode = name;
  }
  if (!mode.empty() && (options.device != "cpu" || !options.compare.empty() ||
                        !options.monitor.empty() || options.calibrates))
    return createStringError(mode + " runs on the CPU and goes without --compare, --monitor and "
                                    "--calibrate");
  const bool converts = options.bisects || !options.sensitivity.empty() || !options.recipeA.empty();
  if (converts && options.assign.empty())
    return createStringError(mode + " converts the program: expected --assign=OPTIONS, those of "
                                    "mp-mixed-precision or, with --steps, of mp-train-step");
  if (!converts && !options.assign.empty())
    return createStringError("--assign is of --bisect, --sensitivity and --ab");
  if (!options.recipeA.empty() && options.steps < 2)
    return createStringError("--ab compares trainings: expected --steps of at least 2");
  if (options.bisects && options.keep.text.empty())
    return createStringError("--bisect needs --keep=finite, error:X or script:COMMAND");
  if (!options.bisects && (!options.keep.text.empty() || !options.policyOut.empty()))
    return createStringError("--keep and --policy-out are of --bisect");
  return llvm::Error::success();
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
  llvm::append_range(valued, searchOptions(options));
  std::pair<StringRef, bool *> flags[] = {{"per-op", &options.perOp},
                                          {"check-ranges", &options.checkRanges},
                                          {"check-errors", &options.checkErrors},
                                          {"bisect", &options.bisects},
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
