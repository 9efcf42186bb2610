// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays written on the command line, and seeded ones.

#include "mp/Execution/Files.h"
#include "mp/Execution/Inputs.h"
#include "mp/Numerics/ArrayCast.h"
#include "mp/Support/Memory.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

static uint64_t splitmix64(uint64_t seed, uint64_t index) {
  uint64_t z = (index + (seed << 32)) * 0x9E3779B97F4A7C15 + 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

Array mlir::mp::uniformArray(const ElementType &type, ArrayRef<int64_t> shape, uint64_t seed,
                             double scale, double offset) {
  Array array(type, shape);
  bool isF64 = type.format == numerics::Format::F64;
  std::vector<float> rounded(isF64 ? 0 : size_t(array.size()));
  for (int64_t i = 0, e = array.size(); i < e; ++i) {
    double u = double(splitmix64(seed, uint64_t(i)) >> 40) / 16777216.0;
    double value = offset + scale * (2 * u - 1);
    if (isF64)
      array.setPattern(i, llvm::bit_cast<uint64_t>(value));
    else
      rounded[size_t(i)] = float(value);
  }
  if (!isF64)
    numerics::convertArray(rounded.data(), numerics::Format::F32, array.data.data(), type.format,
                           rounded.size());
  return array;
}

static Array integerArray(const ElementType &type, ArrayRef<int64_t> shape, uint64_t seed,
                          int64_t low, int64_t high) {
  Array array(type, shape);
  uint64_t mask = llvm::maskTrailingOnes<uint64_t>(type.width);
  for (int64_t i = 0, e = array.size(); i < e; ++i)
    array.setPattern(i,
                     (uint64_t(low) + splitmix64(seed, uint64_t(i)) % uint64_t(high - low)) & mask);
  return array;
}

static llvm::Error badLiteral(StringRef text, const Twine &why) {
  return createStringError("'" + text + "': " + why);
}

/// A number as a pattern of the type; 0x… is the pattern itself.
static std::optional<uint64_t> parseElement(StringRef text, const ElementType &type) {
  uint64_t mask = llvm::maskTrailingOnes<uint64_t>(type.bits());
  if (text.starts_with("0x")) {
    uint64_t bits;
    return text.getAsInteger(0, bits) || bits > mask ? std::nullopt : std::optional(bits);
  }
  if (type.isFloat) {
    double value;
    if (text == "nan" || text == "-nan")
      value = std::numeric_limits<double>::quiet_NaN();
    else if (text == "inf" || text == "-inf")
      value = (text.front() == '-' ? -1 : 1) * std::numeric_limits<double>::infinity();
    else if (text.getAsDouble(value))
      return std::nullopt;
    return numerics::encode(value, type.format);
  }
  if (text == "true" || text == "false")
    return uint64_t(text == "true");
  llvm::APInt value;
  bool negative = text.consume_front("-");
  uint64_t magnitude;
  if (text.getAsInteger(10, magnitude))
    return std::nullopt;
  bool isSigned = !type.isUnsigned && type.width > 1;
  uint64_t limit = isSigned ? (mask >> 1) + negative : negative ? 0 : mask;
  if (magnitude > limit)
    return std::nullopt;
  return (negative ? -magnitude : magnitude) & mask;
}

/// The three numbers of `uniform:` and `integers:`.
template <typename T> static bool parseThree(StringRef text, uint64_t &seed, T &second, T &third) {
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  auto bad = [](StringRef part, auto &value) {
    if constexpr (std::is_same_v<T, double>)
      return part.trim().getAsDouble(value);
    else
      return part.trim().getAsInteger(10, value);
  };
  return parts.size() == 3 && !parts[0].trim().getAsInteger(10, seed) && !bad(parts[1], second) &&
         !bad(parts[2], third);
}

/// Brackets group values as a person likes, but each is closed.
static bool bracketsMatch(StringRef text) {
  int64_t open = 0;
  for (char c : text)
    if ((open += (c == '[') - (c == ']')) < 0)
      return false;
  return open == 0;
}

static llvm::Expected<Array> parseValues(StringRef whole, StringRef text, const ElementType &type,
                                         ArrayRef<int64_t> shape) {
  uint64_t seed;
  if (text.consume_front("uniform:")) {
    double scale, offset;
    if (!type.isFloat || !parseThree(text, seed, scale, offset))
      return badLiteral(whole, "expected uniform:SEED,SCALE,OFFSET with a float type");
    return uniformArray(type, shape, seed, scale, offset);
  }
  if (text.consume_front("integers:")) {
    int64_t low, high;
    if (type.isFloat || !parseThree(text, seed, low, high) || high <= low)
      return badLiteral(whole,
                        "expected integers:SEED,LOW,HIGH with an integer type and LOW < HIGH");
    return integerArray(type, shape, seed, low, high);
  }
  if (!bracketsMatch(text))
    return badLiteral(whole, "a bracket is not closed, or not opened");
  SmallVector<uint64_t> patterns;
  while (!(text = text.ltrim(" ,[]")).empty()) {
    StringRef word = text.take_until([](char c) { return StringRef(" ,[]").contains(c); });
    text = text.drop_front(word.size());
    auto element = parseElement(word, type);
    if (!element)
      return badLiteral(whole, "'" + word + "' is not a value of " + type.str());
    patterns.push_back(*element);
  }
  // The array takes memory once it is known that the values fill it.
  const int64_t size = *elementCount(shape), found = patterns.size();
  if (found != 1 && found != size)
    return badLiteral(whole,
                      llvm::formatv("expected 1 or {0} values, found {1}", size, found).str());
  Array array(type, shape);
  for (int64_t i = 0; i < size; ++i)
    array.setPattern(i, patterns[found == 1 ? 0 : i]);
  return array;
}

llvm::Expected<Array> mlir::mp::parseLiteral(StringRef text) {
  size_t end = text.find_first_of("=:");
  if (end == StringRef::npos)
    return badLiteral(text,
                      "expected @FILE, SHAPExTYPE=VALUES such as 2x3xf32=1.5, TYPE:VALUE such "
                      "as i32:7, or seed");
  SmallVector<StringRef> parts;
  text.take_front(end).split(parts, 'x');
  auto type = ElementType::parse(parts.pop_back_val());
  if (!type)
    return badLiteral(text, "unknown element type; expected one like f32, bf16, f8E4M3FN, i64, i1");
  SmallVector<int64_t> shape;
  for (StringRef part : parts)
    if (part.getAsInteger(10, shape.emplace_back()) || shape.back() < 0)
      return badLiteral(text, "'" + part + "' is not a size");
  if (llvm::Error error = support::checkMemory(byteSize(*type, shape), "'" + text + "'"))
    return std::move(error);
  if (!elementCount(shape)) // a size of 0 leaves no bytes
    return badLiteral(text, "its sizes multiply to more than 2^62");
  return parseValues(text, text.drop_front(end + 1), *type, shape);
}

//===----------------------------------------------------------------------===//
// Defaults
//===----------------------------------------------------------------------===//

/// The shape of an argument that nothing is given for.
static SmallVector<int64_t> seededShape(const Parameter &parameter, int64_t dynamicSize) {
  SmallVector<int64_t> shape(parameter.shape);
  for (size_t dim = 0; dim < shape.size(); ++dim)
    if (shape[dim] < 0)
      shape[dim] = dim < parameter.likelyShape.size() && parameter.likelyShape[dim] >= 0
                       ? parameter.likelyShape[dim]
                       : dynamicSize;
  return shape;
}

static Array seededArray(const Parameter &parameter, ArrayRef<int64_t> shape, uint64_t seed) {
  const ElementType &type = parameter.type;
  if (!parameter.range &&
      (parameter.role == "optimizer_state" || (parameter.role == "statistic" && shape.empty())))
    return Array(type, shape);
  if (!type.isFloat) {
    int64_t low = 0, high = type.width == 1 ? 2 : 8;
    if (parameter.indexBound && *parameter.indexBound > 0)
      high = std::min(high, *parameter.indexBound);
    if (parameter.range && parameter.range->second >= parameter.range->first) {
      low = int64_t(parameter.range->first);
      high = int64_t(parameter.range->second) + 1;
    }
    return integerArray(type, shape, seed, low, high);
  }
  if (parameter.range)
    return uniformArray(type, shape, seed, (parameter.range->second - parameter.range->first) / 2,
                        (parameter.range->second + parameter.range->first) / 2);
  if (shape.size() < 2)
    return uniformArray(type, shape, seed, 0.5, 1.0);
  double fanIn = 1, largest = 1;
  for (int64_t size : shape) {
    fanIn *= double(std::max<int64_t>(size, 1));
    largest = std::max(largest, double(size));
  }
  return uniformArray(type, shape, seed, std::sqrt(3 * largest / fanIn), 0);
}

llvm::Expected<Array> mlir::mp::readInput(StringRef text) {
  if (!text.consume_front("@"))
    return parseLiteral(text);
  size_t at = text.rfind(".safetensors:");
  if (at == StringRef::npos)
    return readNpy(text);
  StringRef path = text.take_front(at + strlen(".safetensors"));
  StringRef name = text.drop_front(path.size() + 1);
  auto file = Safetensors::open(path);
  if (!file)
    return file.takeError();
  if (!file->contains(name))
    return createStringError("'" + path + "' has no array '" + name + "'");
  return file->get(name);
}

/// Converts where that makes sense, and checks.
static llvm::Expected<Array> fit(Array array, const Parameter &parameter, const Twine &what,
                                 std::vector<std::string> &notes) {
  if (array.type.isFloat && parameter.type.isFloat && !(array.type == parameter.type))
    notes.push_back(
        (what + ": " + array.type.str() + " converted to " + parameter.type.str()).str());
  auto converted = convertTo(std::move(array), parameter.type);
  if (!converted)
    return createStringError(what + ": " + llvm::toString(converted.takeError()));
  if (llvm::Error error = checkArgument(*converted, parameter, what))
    return std::move(error);
  return converted;
}

/// Fills arguments whose names the file has; an error if it has none of them.
static llvm::Error fillByName(const Signature &signature, StringRef path,
                              std::vector<std::optional<Array>> &arguments,
                              std::vector<std::string> &notes) {
  auto file = Safetensors::open(path);
  if (!file)
    return file.takeError();
  bool any = false;
  for (auto [parameter, argument] : llvm::zip(signature.arguments, arguments)) {
    if (parameter.name.empty() || !file->contains(parameter.name))
      continue;
    any = true;
    auto array =
        fit(file->get(parameter.name), parameter, "parameter '" + parameter.name + "'", notes);
    if (!array)
      return array.takeError();
    argument = std::move(*array);
  }
  if (any)
    return llvm::Error::success();
  std::string have, want;
  for (const Parameter &parameter : signature.arguments)
    if (!parameter.name.empty() && want.size() < 200)
      want += " " + parameter.name;
  for (const std::string &name : file->names())
    if (have.size() < 200)
      have += " " + name;
  return createStringError("--params: no argument of the function is named like an array of '" +
                           path + "'; arguments:" + (want.empty() ? " unnamed" : want) +
                           "; arrays:" + have);
}

Array BatchedInput::at(int64_t step, ArrayRef<int64_t> shape) const {
  Array batch(rows.type, shape);
  int64_t count = rows.shape[0] / shape[0];
  std::memcpy(batch.data.data(), rows.data.data() + (step % count) * batch.data.size(),
              batch.data.size());
  return batch;
}

/// Reads the rows of an input that is given in batches, and returns the first.
static llvm::Expected<Array> fitBatches(StringRef text, const Parameter &parameter, size_t index,
                                        const std::string &what, std::vector<std::string> &notes,
                                        std::vector<BatchedInput> *batches) {
  auto rows = readInput(text);
  if (!rows)
    return createStringError(what + ": " + llvm::toString(rows.takeError()));
  if (!batches)
    return createStringError(what + ": batches are for --steps");
  bool fits = !parameter.shape.empty() && rows->shape.size() == parameter.shape.size() &&
              parameter.shape[0] > 0 && rows->shape[0] >= parameter.shape[0];
  if (!fits)
    return createStringError(what + ": expected at least the rows of " + parameter.typeStr() +
                             ", found " + rows->typeStr());
  Parameter whole = parameter;
  whole.shape[0] = rows->shape[0];
  auto fitted = fit(std::move(*rows), whole, what, notes);
  if (!fitted)
    return fitted.takeError();
  batches->push_back({index, std::move(*fitted)});
  return batches->back().at(0, parameter.shape);
}

/// Compares what all seeded arguments take with the memory there is.
static llvm::Error checkSeeded(const Signature &signature, int64_t dynamicSize,
                               ArrayRef<std::optional<Array>> arguments) {
  uint64_t bytes = 0, largest = 0;
  std::string what;
  for (auto [index, parameter] : llvm::enumerate(signature.arguments)) {
    if (arguments[index])
      continue;
    SmallVector<int64_t> shape = seededShape(parameter, dynamicSize);
    uint64_t own = byteSize(parameter.type, shape);
    bytes = llvm::SaturatingAdd(bytes, own);
    if (own <= largest)
      continue;
    largest = own;
    what = "argument " + std::to_string(index) + ", " + typeString(shape, parameter.type);
  }
  return support::checkMemory(bytes, "what is seeded (most of it " + what + ")");
}

llvm::Expected<std::vector<Array>> mlir::mp::makeInputs(const Signature &signature,
                                                        const InputOptions &options,
                                                        std::vector<std::string> &notes,
                                                        std::vector<BatchedInput> *batches) {
  std::vector<std::optional<Array>> arguments(signature.arguments.size());
  if (!options.params.empty())
    if (llvm::Error error = fillByName(signature, options.params, arguments, notes))
      return std::move(error);
  size_t next = 0;
  for (auto [number, text] : llvm::enumerate(options.inputs)) {
    while (next < arguments.size() && arguments[next])
      ++next;
    if (next == arguments.size())
      return createStringError(
          llvm::formatv("--input given {0} times, but the function has {1} "
                        "arguments{2}",
                        options.inputs.size(), arguments.size(),
                        options.params.empty() ? "" : " with those of --params"));
    size_t index = next++;
    if (text == "seed")
      continue;
    std::string what = llvm::formatv("--input {0} (argument {1})", number, index);
    StringRef rows = text;
    if (rows.consume_front("batches:")) {
      auto first = fitBatches(rows, signature.arguments[index], index, what, notes, batches);
      if (!first)
        return first.takeError();
      arguments[index] = std::move(*first);
      continue;
    }
    auto array = readInput(text);
    if (!array)
      return createStringError(llvm::formatv("--input {0}: ", number) +
                               llvm::toString(array.takeError()));
    auto fitted = fit(std::move(*array), signature.arguments[index], what, notes);
    if (!fitted)
      return fitted.takeError();
    arguments[index] = std::move(*fitted);
  }
  if (llvm::Error error = checkSeeded(signature, options.dynamicSize, arguments))
    return std::move(error);
  std::vector<Array> result;
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    if (argument) {
      result.push_back(std::move(*argument));
      continue;
    }
    // 32 bits, so that no two arguments share numbers.
    uint64_t seed = splitmix64(options.seed, index) >> 32;
    const Parameter &parameter = signature.arguments[index];
    result.push_back(seededArray(parameter, seededShape(parameter, options.dynamicSize), seed));
  }
  return result;
}
