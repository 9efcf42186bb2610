// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formats comparisons as a table and as JSON.

#include "mp/Execution/Compare/Comparison.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;
using llvm::format;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

double ErrorReport::relativeToLargest() const {
  if (stats.nonFiniteMismatches)
    return kInfinity;
  if (stats.maxAbsolute == 0)
    return 0;
  return largestReference > 0 ? stats.maxAbsolute / largestReference : kInfinity;
}

double ErrorReport::sqnr() const {
  if (stats.nonFiniteMismatches)
    return -kInfinity;
  if (stats.sumSquaredError == 0)
    return kInfinity;
  return 10 * std::log10(stats.sumSquaredReference / stats.sumSquaredError);
}

/// JSON has no infinities.
static llvm::json::Value number(double value) {
  if (std::isfinite(value))
    return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

llvm::json::Object ErrorReport::toJSON() const {
  return llvm::json::Object{
      {"label", label},
      {"type", type},
      {"elements", int64_t(stats.count)},
      {"different", int64_t(stats.different)},
      {"max_abs", number(stats.maxAbsolute)},
      {"mean_abs", number(meanAbsolute)},
      {"max_abs_over_largest", number(relativeToLargest())},
      {"largest_reference", number(largestReference)},
      {"max_rel", number(stats.maxRelative)},
      {"relative_norm", number(stats.relativeNorm())},
      {"max_ulp", number(stats.maxUlp)},
      {"sqnr_db", number(sqnr())},
      {"nan", llvm::json::Object{{"result", int64_t(stats.nanResult)},
                                 {"reference", int64_t(stats.nanReference)}}},
      {"inf", llvm::json::Object{{"result", int64_t(stats.infResult)},
                                 {"reference", int64_t(stats.infReference)}}},
      {"flushed", int64_t(flushed)},
      {"non_finite_mismatches", int64_t(stats.nonFiniteMismatches)},
      {"worst", llvm::json::Object{{"index", int64_t(stats.worstIndex)},
                                   {"result", number(stats.worstResult)},
                                   {"reference", number(stats.worstReference)}}}};
}

llvm::Expected<ErrorReport> mlir::mp::compareArrays(const Array &result, const Array &reference,
                                                    StringRef label,
                                                    std::optional<numerics::Format> storedAs) {
  if (result.shape != reference.shape)
    return createStringError(label + ": " + result.typeStr() + " cannot be compared with " +
                             reference.typeStr());
  if (result.type.isFloat != reference.type.isFloat)
    return createStringError(label + ": floats and integers cannot be compared: " +
                             result.typeStr() + ", " + reference.typeStr());
  ErrorReport report;
  report.label = label.str();
  report.type = result.typeStr();
  report.storedAs = storedAs;
  // Values that f32 itself holds as zero were not flushed here.
  bool mayFlush = storedAs && numerics::info(*storedAs).minNormal >
                                  numerics::info(numerics::Format::F32).minNormal;
  double vanishing = mayFlush ? numerics::info(*storedAs).underflowUnit : 0;
  report.isFloat = result.type.isFloat;
  report.stats = numerics::Comparison(report.isFloat ? result.type.format : numerics::Format::F64);
  double sum = 0;
  size_t finite = 0;
  for (int64_t i = 0, e = result.size(); i < e; ++i) {
    double x = result.value(i), y = reference.value(i);
    report.stats.add(x, y);
    report.flushed += mayFlush && y != 0 && std::fabs(x) <= vanishing;
    if (std::isfinite(y))
      report.largestReference = std::max(report.largestReference, std::fabs(y));
    if (std::isfinite(x) && std::isfinite(y)) {
      sum += std::fabs(x - y);
      ++finite;
    }
  }
  report.meanAbsolute = finite ? sum / double(finite) : 0;
  return report;
}

/// "[1, 0, 7]" of a row-major index.
static std::string position(size_t index, ArrayRef<int64_t> shape) {
  std::string text = "]";
  int64_t rest = int64_t(index);
  for (size_t dim = shape.size(); dim-- > 0;) {
    text = std::to_string(rest % std::max<int64_t>(shape[dim], 1)) + text;
    rest /= std::max<int64_t>(shape[dim], 1);
    if (dim)
      text = ", " + text;
  }
  return "[" + text;
}

void mlir::mp::printReport(raw_ostream &os, const ErrorReport &report, const Array &result) {
  const numerics::Comparison &stats = report.stats;
  os << report.label << ": " << report.type << ", ";
  if (stats.equal()) {
    os << "equal to the reference";
  } else {
    os << stats.different << " of " << stats.count << " elements differ\n"
       << format("  absolute  max %.3g  mean %.3g\n", stats.maxAbsolute, report.meanAbsolute)
       << format("  relative  to largest magnitude (%.3g) %.3g  in norm %.3g  worst element %.3g\n",
                 report.largestReference, report.relativeToLargest(), stats.relativeNorm(),
                 stats.maxRelative);
    if (report.isFloat)
      os << format("  ULP       max %.6g (of %s)   SQNR %.1f dB\n", stats.maxUlp,
                   numerics::toString(stats.format).data(), report.sqnr());
    os << format("  worst     %s: %.9g, reference %.9g",
                 position(stats.worstIndex, result.shape).c_str(), stats.worstResult,
                 stats.worstReference);
  }
  if (stats.nanResult || stats.nanReference || stats.infResult || stats.infReference)
    os << "\n  NaN " << stats.nanResult << " (reference " << stats.nanReference << ")   Inf "
       << stats.infResult << " (reference " << stats.infReference << ")   mismatched "
       << stats.nonFiniteMismatches;
  os << "\n";
}

void mlir::mp::printTable(raw_ostream &os, ArrayRef<ErrorReport> reports) {
  size_t width = 10;
  for (const ErrorReport &report : reports)
    width = std::max(width, std::min<size_t>(report.label.size(), 60));
  os << llvm::left_justify("value", width)
     << format("  %10s  %10s  %10s  %8s  %5s  %s\n", "max abs", "rel.", "max ULP", "SQNR dB",
               "n.f.", "type");
  for (const ErrorReport &report : reports)
    os << llvm::left_justify(StringRef(report.label).take_front(60), width)
       << format("  %10.3g  %10.3g  %10.4g  %8.1f  %5zu  %s\n", report.stats.maxAbsolute,
                 report.relativeToLargest(), report.stats.maxUlp, report.sqnr(),
                 report.stats.nonFiniteMismatches, report.type.c_str());
}

void mlir::mp::printFlushed(raw_ostream &os, ArrayRef<ErrorReport> reports) {
  constexpr size_t shown = 5;
  constexpr double tolerated = 0.01;
  size_t count = 0;
  for (const ErrorReport &report : reports) {
    double share = report.stats.count ? double(report.flushed) / double(report.stats.count) : 0;
    if (share <= tolerated || ++count > shown)
      continue;
    const numerics::FormatInfo &stored = numerics::info(*report.storedAs);
    os << "mp-run: warning: " << stored.name
       << format(" flushes %.3g %% of the values of '%s' to zero; the reference reaches %.3g, the "
                 "format down to %.3g\n",
                 100 * share, report.label.c_str(), report.largestReference, stored.minSubnormal);
  }
  if (count > shown)
    os << "mp-run: warning: and so of " << count - shown << " more\n";
}

void mlir::mp::printArray(raw_ostream &os, StringRef label, const Array &array) {
  os << label << ": " << array.typeStr() << " = ";
  int64_t size = array.size();
  bool exact = !array.type.isFloat && array.type.width > 1 && !array.type.isUnsigned;
  if (size <= 16) {
    os << "[";
    for (int64_t i = 0; i < size; ++i) {
      os << (i ? " " : "");
      if (exact)
        os << llvm::SignExtend64(array.pattern(i), array.type.width);
      else
        os << format("%.9g", array.value(i));
    }
    os << "]\n";
    return;
  }
  double low = kInfinity, high = -kInfinity, sum = 0;
  int64_t nans = 0, infinities = 0;
  for (int64_t i = 0; i < size; ++i) {
    double value = array.value(i);
    nans += std::isnan(value);
    infinities += std::isinf(value);
    if (!std::isfinite(value))
      continue;
    low = std::min(low, value);
    high = std::max(high, value);
    sum += value;
  }
  os << format("min %.9g  max %.9g  mean %.9g", low, high, sum / double(size));
  if (nans || infinities)
    os << "  NaN " << nans << "  Inf " << infinities;
  os << "\n";
}
