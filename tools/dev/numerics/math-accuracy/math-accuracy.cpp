// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints how far math functions are from the exact value, in units in the last
// place of the result, on every path that computes them: the C library
// (mp-to-cpu), polynomials (math=exact) and approximate instructions
// (mp-to-nvvm, math=approximate) on the emulator, on the plain route and, where
// subnormals of f32 may be zeros, in dispatches. f16 and bf16 take every pattern, f32 and f64
// samples over the range and over all exponents. The third opinion is MPFR where CMake found it,
// else the C library in long double, 11 bits more than f64. How far apart these two are is printed
// as well.
//
// Each maximum stands beside its bound. Exit status 1 if one is exceeded, if
// polynomials give other bits on the emulator than on the CPU, or if the two
// opinions differ by more than a hundredth of f64's last place.

#include "Reference.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mp/Execution/DeviceProgram.h"
#include "mp/Execution/Host/Program.h"
#include "mp/InitAll.h"
#include "mp/Numerics/Cast.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Format.h"

#include <cfloat>
#include <cmath>
#include <random>

using namespace mlir;
using namespace mlir::mp;
using numerics::Format;

namespace {

struct Function {
  const char *op;
  double low, high; ///< the arguments the bounds speak of
  /// Largest error in ULP: the C library's in f32 and f64 (what glibc's manual
  /// lists as known, which counts from the rounded exact value, plus one half;
  /// rsqrt: a rounded root and a rounded division), ours in both, and with the
  /// GPU's instructions if the emulator rounds those correctly (0: none).
  double library, polynomial, approximate;
  double widePolynomial = 0; ///< ours in f64 where it is another
};

// exp by ex2 loses what rounding x * log2(e) loses: half a last place of up to 127.
const Function functions[] = {
    {"exp", -104, 89, 1.5, 1.2, 100},   {"exp2", -150, 128, 1.5, 1.2, 0.5},
    {"expm1", -20, 88, 1.5, 2, 0},      {"log", 0, 1e38, 1.5, 1.2, 2},
    {"log2", 0, 1e38, 1.5, 1.5, 0.5},   {"log10", 0, 1e38, 2.5, 1.5, 2},
    {"log1p", -0.999, 1e38, 1.5, 2, 0}, {"tanh", -10, 10, 2.5, 2, 0.5},
    {"erf", -5, 5, 1.5, 1.5, 0, 2.5},   {"rsqrt", 0, 1e38, 1.5, 1.5, 0.5},
    {"sqrt", 0, 1e38, 0.5, 0.5, 0},     {"sin", -1e5, 1e5, 1.5, 1.7, 0},
    {"cos", -1e5, 1e5, 1.5, 1.7, 0},    {"sinh", -89, 89, 2.5, 4, 0},
    {"asinh", -1e6, 1e6, 2.5, 3, 0},    {"atanh", -0.9999, 0.9999, 2.5, 3, 0},
    {"atan", -20, 20, 1.5, 2, 0},       {"asin", -1, 1, 1.5, 3, 0},
    {"acos", -1, 1, 1.5, 3, 0},         {"cbrt", -1e38, 1e38, 4.5, 1.5, 0},
};

/// Flushed: approximate instructions in kernels of dispatches, where subnormals of f32 may be
/// zeros.
enum class Path { Library, Polynomial, EmulatedPolynomial, Approximate, Flushed };

bool isApproximate(Path path) { return path == Path::Approximate || path == Path::Flushed; }

const char *name(Path path) {
  switch (path) {
  case Path::Library: return "libm";
  case Path::Polynomial:
  case Path::EmulatedPolynomial: return "exact";
  case Path::Approximate: return "approximate";
  case Path::Flushed: return "flushed";
  }
  return "";
}

/// A bound in ULP of `format`. Narrow formats compute in f32 and round once;
/// their result's last place may lie in the binade below.
double boundOf(const Function &function, Path path, Format format) {
  double wide = path == Path::Library ? function.library
                : isApproximate(path) ? function.approximate
                                      : function.polynomial;
  if (format == Format::F64 && path != Path::Library && function.widePolynomial != 0)
    return function.widePolynomial;
  if (format == Format::F32 || format == Format::F64)
    return wide;
  return 0.5 + 2 * wide * std::ldexp(1.0, int(numerics::info(format).precision) - 24);
}

/// |found - exact| in units of the last place of `exact` in `format`; infinity
/// counts as the number that would follow the largest.
double ulpError(uint64_t found, Precise exact, Format format) {
  const numerics::FormatInfo &f = numerics::info(format);
  long double value = numerics::decode(found, format);
  if (std::isnan(value) || std::isnan(exact.value))
    return std::isnan(value) && std::isnan(exact.value) ? 0 : HUGE_VAL;
  long double beyond = std::ldexp(1.0L, f.maxExponent + 1);
  value = std::min(std::max(value, -beyond), beyond);
  if (std::abs(exact.value) > beyond)
    exact = {std::copysign(beyond, exact.value), 0};
  int exponent =
      exact.value == 0 ? f.minExponent : std::max(std::ilogb(exact.value), f.minExponent);
  exponent = std::min(exponent, f.maxExponent);
  return double(std::abs(value - exact.value - exact.rest) /
                std::ldexp(1.0L, exponent - int(f.fractionBits)));
}

/// Arguments of `function`: all patterns of narrow formats; of wide ones the special values and
/// `count` samples in all, half of them uniform, half over the exponents.
Array samplesOf(const Function &function, Format format, size_t count) {
  const numerics::FormatInfo &f = numerics::info(format);
  std::vector<uint64_t> patterns;
  uint64_t step = f.bits <= 16 ? std::max<uint64_t>(1, (uint64_t(1) << f.bits) / count) : 0;
  for (uint64_t bits = 0; step && bits < uint64_t(1) << f.bits; bits += step)
    patterns.push_back(bits);
  std::mt19937_64 random(7);
  if (!step)
    for (double special : {0.0, -0.0, 1.0, -1.0, HUGE_VAL, -HUGE_VAL, std::nan(""), f.minSubnormal,
                           -f.minSubnormal, f.minNormal, function.low, function.high})
      patterns.push_back(numerics::encode(special, format));
  std::uniform_real_distribution<double> uniform(function.low, std::min(function.high, 100.0 * 89));
  while (!step && patterns.size() < count) {
    if (patterns.size() % 2)
      patterns.push_back(random() >> (64 - f.bits));
    else
      patterns.push_back(numerics::encode(uniform(random), format));
  }
  Array array(ElementType::floating(format), {int64_t(patterns.size())});
  for (auto [i, bits] : llvm::enumerate(patterns))
    array.setPattern(int64_t(i), bits);
  return array;
}

/// @f with one argument and one result for each function.
std::string programText(Format format, int64_t count) {
  std::string type =
      "tensor<" + std::to_string(count) + "x" + numerics::toString(format).str() + ">";
  std::string arguments, body, results, types;
  for (auto [i, function] : llvm::enumerate(functions)) {
    std::string n = std::to_string(i), comma = i ? ", " : "";
    arguments += comma + "%x" + n + ": " + type;
    body += "  %r" + n + " = math." + function.op + " %x" + n + " : " + type + "\n";
    results += comma + "%r" + n;
    types += comma + type;
  }
  return "func.func @f(" + arguments + ") -> (" + types + ") {\n" + body + "  return " + results +
         " : " + types + "\n}\n";
}

class Measurement {
public:
  explicit Measurement(size_t samples) : samples(samples) {
    mlir::registerAllDialects(registry);
    mlir::registerAllExtensions(registry);
    mlir::mp::registerAllDialects(registry);
    mlir::mp::registerExecution(registry);
  }

  int run();

private:
  static constexpr Format formats[] = {Format::F16, Format::BF16, Format::F32, Format::F64};

  /// Computes `format` on `path`; empty if the path has no such functions.
  std::vector<Array> compute(Path path, Format format);
  double worstOf(const Function &function, const Array &arguments, const Array &results, Path path);
  /// Between long double and MPFR, in ULP of f64; 0 without MPFR.
  double distanceOfReferences();
  void printRow(const Function &function, size_t index, Path path);

  DialectRegistry registry;
  size_t samples;
  std::map<Format, std::vector<Array>> arguments;
  std::map<std::pair<Path, Format>, std::vector<Array>> results;
  bool withinBounds = true;
};

template <typename T> T orExit(llvm::Expected<T> value) {
  if (value)
    return std::move(*value);
  llvm::errs() << "math-accuracy: error: " << llvm::toString(value.takeError()) << "\n";
  std::exit(2);
}

std::vector<Array> Measurement::compute(Path path, Format format) {
  if (isApproximate(path) && format == Format::F64)
    return {};
  MLIRContext context(registry);
  const std::vector<Array> &inputs = arguments[format];
  auto module = parseSourceString<ModuleOp>(programText(format, inputs[0].size()), &context);
  if (path == Path::Library || path == Path::Polynomial) {
    ProgramOptions options;
    options.exactMath = path == Path::Polynomial;
    return orExit(orExit(Program::compile(*module, "f", options))->run(inputs));
  }
  PassManager passes(&context);
  NVVMPipelineOptions options;
  options.math = isApproximate(path) ? MathChoice::Approximate : MathChoice::Exact;
  options.dispatches = path != Path::Approximate;
  buildNVVMPipeline(passes, options);
  if (failed(passes.run(*module)))
    std::exit(2);
  return orExit(orExit(DeviceProgram::compile(*module, "f"))->run(inputs));
}

double Measurement::worstOf(const Function &function, const Array &arguments, const Array &results,
                            Path path) {
  Format format = arguments.type.format;
  const Reference &exact = referenceFor(function.op);
  double worst = 0;
  for (int64_t i = 0; i < arguments.size(); ++i) {
    double x = arguments.value(i);
    if ((x < function.low || x > function.high) && std::isfinite(x))
      continue;
    double error = ulpError(results.pattern(i), exact(x), format);
    if (path == Path::Flushed) { // as some instructions do
      const bool isFlushed = std::abs(double(exact(x).value)) < FLT_MIN && results.value(i) == 0;
      Precise ofZero = std::abs(x) < FLT_MIN ? exact(std::copysign(0.0, x)) : exact(x);
      error = isFlushed ? 0 : std::min(error, ulpError(results.pattern(i), ofZero, format));
    }
    worst = std::max(worst, error);
  }
  return worst;
}

void Measurement::printRow(const Function &function, size_t index, Path path) {
  llvm::outs() << llvm::left_justify(function.op, 8) << llvm::left_justify(name(path), 12);
  for (Format format : formats) {
    const std::vector<Array> &found = results[{path, format}];
    if (found.empty() || (isApproximate(path) && function.approximate == 0)) {
      llvm::outs() << llvm::right_justify("-", 18);
      continue;
    }
    double worst = worstOf(function, arguments[format][index], found[index], path);
    double bound = boundOf(function, path, format);
    bool within = worst <= bound;
    withinBounds &= within;
    llvm::outs() << llvm::format("%8.3f <= %-5.4g%s", worst, bound, within ? " " : "!");
  }
  llvm::outs() << "\n";
}

double Measurement::distanceOfReferences() {
  double worst = 0;
  for (auto [i, function] : llvm::enumerate(functions)) {
    const Reference &reference = referenceFor(function.op);
    const Array &samples = arguments[Format::F64][i];
    for (int64_t n = 0; reference.multiple && n < samples.size(); ++n) {
      double x = samples.value(n);
      Precise exact = reference(x);
      if (x < function.low || x > function.high || !std::isnormal(double(exact.value)))
        continue;
      int lastPlace = std::ilogb(exact.value) - int(numerics::info(Format::F64).fractionBits);
      worst = std::max(worst, double(std::abs(reference.extended(x) - exact.value - exact.rest) /
                                     std::ldexp(1.0L, lastPlace)));
    }
  }
  return worst;
}

int Measurement::run() {
  for (Format format : formats) {
    for (const Function &function : functions)
      arguments[format].push_back(samplesOf(function, format, samples));
    for (Path path : {Path::Library, Path::Polynomial, Path::EmulatedPolynomial, Path::Approximate,
                      Path::Flushed})
      results[{path, format}] = compute(path, format);
  }
  llvm::outs() << "Largest error <= bound in ULP of the result; f16 and bf16: "
               << arguments[Format::F16][0].size()
               << " patterns, f32 and f64: " << arguments[Format::F32][0].size()
               << " samples; exact: " << referenceName() << "\n"
               << llvm::left_justify("", 20);
  for (Format format : formats)
    llvm::outs() << llvm::center_justify(numerics::toString(format), 18);
  llvm::outs() << "\n";
  for (auto [i, function] : llvm::enumerate(functions))
    for (Path path : {Path::Library, Path::Polynomial, Path::Approximate, Path::Flushed})
      if (!isApproximate(path) || function.approximate != 0)
        printRow(function, i, path);

  size_t compared = 0, different = 0;
  for (Format format : formats)
    for (auto [host, device] : llvm::zip_equal(results[{Path::Polynomial, format}],
                                               results[{Path::EmulatedPolynomial, format}]))
      for (int64_t i = 0; i < host.size(); ++i, ++compared) {
        bool bothNaN =
            numerics::isNaN(host.pattern(i), format) && numerics::isNaN(device.pattern(i), format);
        different += !bothNaN && host.pattern(i) != device.pattern(i);
      }
  double distance = distanceOfReferences();
  llvm::outs() << llvm::format("long double is within %.5f ULP of f64 of the exact values\n",
                               distance);
  llvm::outs() << "exact: " << compared << " results, " << different
               << " differ between CPU and emulator\n"
               << (withinBounds ? "Every error is within its bound.\n"
                                : "An error exceeds its bound.\n");
  return withinBounds && different == 0 && distance < 0.01 ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  size_t samples = 1 << 16;
  for (StringRef argument : ArrayRef(argv + 1, size_t(argc - 1)))
    if (!argument.consume_front("--samples=") || argument.getAsInteger(10, samples) ||
        samples < 16) {
      llvm::errs() << "usage: math-accuracy [--samples=N], N at least 16, default 65536\n";
      return 2;
    }
  return Measurement(samples).run();
}
