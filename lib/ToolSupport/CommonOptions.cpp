// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the options that every tool has, and counts operations and elements.

#include "mp/ToolSupport/CommonOptions.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Operation.h"
#include "mp/Support/ErrorCode.h"
#include "mp/Support/Memory.h"
#include "mp/Support/Progress.h"

#include <cmath>
#include <functional>

using namespace mlir;
using namespace mlir::mp;
using namespace mpcore::support;

StringRef mlir::mp::commonHelp() {
  return R"(  --max-memory=SIZE     bytes the tool may hold, with K, M, G or T behind (powers of 1024); it ends where it needs more
  --max-seconds=N       wall-clock time after which it ends
  --max-ops=N           operations that a module may have
  --max-elements=N      elements that one tensor, vector or buffer may have
  -q, --quiet           errors, warnings and results alone: no tables, notes, remarks or progress
  -v, --verbose         each stage as it begins
  --werror              warnings are errors
)";
}

/// "512M", in bytes.
static bool readSize(StringRef text, uint64_t &bytes) {
  auto read = mpcore::support::parseBytes(text);
  bytes = read.value_or(0);
  return read.has_value();
}

static bool readCount(StringRef text, int64_t &count) {
  return !text.getAsInteger(10, count) && count > 0;
}

static bool readSeconds(StringRef text, double &seconds) {
  return !text.getAsDouble(seconds) && std::isfinite(seconds) && seconds > 0;
}

llvm::Expected<CommonOptions>
mlir::mp::takeCommonOptions(llvm::SmallVectorImpl<char *> &arguments) {
  CommonOptions options;
  const std::pair<StringRef, bool *> flags[] = {{"-q", &options.quiet},
                                                {"--quiet", &options.quiet},
                                                {"-v", &options.verbose},
                                                {"--verbose", &options.verbose},
                                                {"--werror", &options.warningsAreErrors}};
  const std::tuple<StringRef, std::function<bool(StringRef)>, StringRef> values[] = {
      {"max-memory", [&](StringRef text) { return readSize(text, options.maxMemory); },
       "bytes, as in 4000000000 or 4G"},
      {"max-seconds", [&](StringRef text) { return readSeconds(text, options.maxSeconds); },
       "a number above 0"},
      {"max-ops", [&](StringRef text) { return readCount(text, options.maxOps); },
       "a number of operations above 0"},
      {"max-elements", [&](StringRef text) { return readCount(text, options.maxElements); },
       "a number of elements above 0"}};
  llvm::SmallVector<char *> rest;
  for (char *argument : arguments) {
    StringRef word = argument;
    auto flag = llvm::find_if(flags, [&](auto &known) { return known.first == word; });
    if (flag != std::end(flags)) {
      *flag->second = true;
      continue;
    }
    auto [name, value] = word.ltrim('-').split('=');
    bool isLimit = false;
    for (auto &[option, read, expected] : values) {
      if (!word.starts_with("-") || name != option)
        continue;
      isLimit = true;
      if (!read(value))
        return error(ErrorCode::BadOption, "--" + option + "=" + value + ": expected " + expected);
    }
    if (!isLimit)
      rest.push_back(argument);
  }
  arguments = std::move(rest);
  return options;
}

void mlir::mp::hushRemarks(MLIRContext &context) {
  if (verbosity() == Verbosity::Quiet)
    context.getDiagEngine().registerHandler([](Diagnostic &diagnostic) {
      return success(diagnostic.getSeverity() == DiagnosticSeverity::Remark);
    });
}

/// Elements of a type of known size, the largest number where 64 bits do not hold them.
static uint64_t countElements(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return 1;
  uint64_t count = 1;
  for (int64_t size : shaped.getShape())
    count = ShapedType::isDynamic(size) ? count : llvm::SaturatingMultiply<uint64_t>(count, size);
  return count;
}

/// "model.mlir:5:10: ", nothing where it is not known.
static std::string placeOf(Location where) {
  auto known = where->findInstanceOf<FileLineColLoc>();
  return known ? known.getFilename().str() + ":" + std::to_string(known.getLine()) + ":" +
                     std::to_string(known.getColumn()) + ": "
               : "";
}

llvm::Error mlir::mp::checkModuleSize(Operation *module, const CommonOptions &options) {
  if (options.maxOps == 0 && options.maxElements == 0)
    return llvm::Error::success();
  int64_t ops = 0;
  std::string problem;
  auto check = [&](Type type, Location where) {
    uint64_t elements = countElements(type);
    if (options.maxElements == 0 || elements <= uint64_t(options.maxElements))
      return WalkResult::advance();
    llvm::raw_string_ostream(problem)
        << placeOf(where) << "a value of type " << type << " has "
        << (elements == ~uint64_t(0) ? "2^64 or more" : std::to_string(elements))
        << " elements, more than --max-elements=" << options.maxElements;
    return WalkResult::interrupt();
  };
  WalkResult walked = module->walk([&](Operation *op) {
    ++ops;
    for (Type type : op->getResultTypes())
      if (check(type, op->getLoc()).wasInterrupted())
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (check(argument.getType(), argument.getLoc()).wasInterrupted())
            return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return error(ErrorCode::LimitOfSize, problem);
  if (options.maxOps != 0 && ops > options.maxOps)
    return error(ErrorCode::LimitOfSize,
                 "the module has " + llvm::Twine(ops) +
                     " operations, more than --max-ops=" + llvm::Twine(options.maxOps));
  return llvm::Error::success();
}
