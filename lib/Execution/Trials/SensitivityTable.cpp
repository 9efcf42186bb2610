// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints what was measured, by format, the worst first, and how far single draws agree.

#include "Sensitivity.h"

#include "WeightScores.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <numeric>
#include <set>

using namespace mlir;
using namespace mlir::mp;

namespace {
struct TableRow {
  std::string format;
  const assignment::MeasuredError *error;
  std::string what;      ///< contraction or layer
  bool isOpened = false; ///< a layer whose contractions have rows of their own
};
} // namespace

static std::string metricText(StringRef metric, const assignment::MeasuredError &error) {
  if (error.metrics.empty())
    return "";
  const double mean = 100 * assignment::meanOf(error.metrics);
  return llvm::formatv(metric == "loss" ? ", the loss off by {0} %"
                                        : ", {0} % of rows with another largest element",
                       llvm::format("%.2g", mean))
      .str();
}

/// Ranks by size, from 0 on.
static std::vector<double> ranksOf(ArrayRef<double> numbers) {
  std::vector<size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::stable_sort(order, [&](size_t i, size_t j) { return numbers[i] < numbers[j]; });
  std::vector<double> ranks(numbers.size());
  for (auto [rank, i] : llvm::enumerate(order))
    ranks[i] = double(rank);
  return ranks;
}

/// The least correlation (Spearman's) of a single draw's ranking of contractions with that of the
/// mean of draws; none below three contractions or two draws.
static std::optional<double> rankStability(ArrayRef<TableRow> rows) {
  if (rows.size() < 3 || rows.front().error->draws.size() < 2)
    return std::nullopt;
  const double n = double(rows.size());
  auto ranked = [&](llvm::function_ref<double(const assignment::MeasuredError &)> number) {
    std::vector<double> numbers;
    for (const TableRow &row : rows)
      numbers.push_back(number(*row.error));
    return ranksOf(numbers);
  };
  const std::vector<double> mean = ranked([](auto &error) { return error.mean(); });
  double least = 1;
  for (size_t draw = 0; draw < rows.front().error->draws.size(); ++draw) {
    const std::vector<double> one = ranked([&](auto &error) { return error.draws[draw]; });
    double apart = 0;
    for (auto [x, y] : llvm::zip_equal(one, mean))
      apart += (x - y) * (x - y);
    least = std::min(least, 1 - 6 * apart / (n * (n * n - 1)));
  }
  return least;
}

/// Recommends to keep the worst wide: the fewest that make nine tenths of the error, if they are at
/// most half of all.
static void printRecommendation(llvm::raw_ostream &os, StringRef format,
                                ArrayRef<TableRow> ranked) {
  double all = 0;
  for (const TableRow &row : ranked)
    all += row.error->mean();
  if (ranked.size() < 2 || all == 0)
    return;
  double rest = all;
  size_t few = 0;
  for (; few < ranked.size() && (!std::isfinite(rest) || rest > 0.1 * all); ++few) {
    rest = 0;
    for (const TableRow &row : ranked.drop_front(few + 1))
      rest += row.error->mean();
  }
  os << format << ": recommended: ";
  if (2 * few > ranked.size()) {
    os << "all or none: no half of them has nine tenths of the error\n";
    return;
  }
  os << "keep wide, error " << llvm::format("%.3g", std::sqrt(all)) << " to "
     << llvm::format("%.3g", std::sqrt(rest)) << ": ";
  llvm::interleave(ranked.take_front(few), os, [&](const TableRow &row) { os << row.what; }, "; ");
  os << "\n";
}

static std::string describeSet(const assignment::MeasuredSet &set, bool isOpened) {
  return llvm::formatv("layer {0} of {1} contractions{2}", set.name, set.ordinals.size(),
                       isOpened ? ", measured one by one, too" : "");
}

/// Rows of layers and of contractions that were measured alone, the worst of a format first.
static std::vector<TableRow> rowsOf(const assignment::MeasuredFunction &function) {
  std::vector<TableRow> rows;
  std::set<std::pair<std::string, std::string>> shared; // formats and sets
  for (const assignment::MeasuredContraction &contraction : function.contractions)
    for (const auto &[format, error] : contraction.formats)
      if (!error.set.empty())
        shared.insert({format, error.set});
      else
        rows.push_back({format, &error,
                        llvm::formatv("contraction {0}, {1} at {2}", contraction.ordinal,
                                      contraction.op, contraction.location)});
  for (const assignment::MeasuredSet &set : function.sets)
    for (const auto &[format, error] : set.formats) {
      const bool isOpened = !shared.count({format, set.name});
      rows.push_back({format, &error, describeSet(set, isOpened), isOpened});
    }
  return rows;
}

static void printRow(llvm::raw_ostream &os, StringRef metric, const TableRow &row) {
  const double mean = row.error->mean();
  os << row.format << ": error " << llvm::format("%.3g", std::sqrt(mean)) << ", worst draw "
     << llvm::format("%.3g", std::sqrt(row.error->worst())) << ", deviation "
     << llvm::format("%.2g", mean > 0 && std::isfinite(mean) ? row.error->deviation() / mean : 0.0)
     << " of the mean square" << metricText(metric, *row.error) << ": " << row.what << "\n";
}

void mlir::mp::printSensitivity(llvm::raw_ostream &os, const SensitivityReport &report) {
  std::vector<TableRow> rows;
  for (const assignment::MeasuredFunction &function : report.errors.functions)
    llvm::append_range(rows, rowsOf(function));
  llvm::stable_sort(rows, [](const TableRow &x, const TableRow &y) {
    return std::pair(x.format, -x.error->mean()) < std::pair(y.format, -y.error->mean());
  });
  std::map<std::string, std::vector<TableRow>> byFormat; // what decisions are about
  for (const TableRow &row : rows) {
    printRow(os, report.errors.metric, row);
    if (!row.isOpened)
      byFormat[row.format].push_back(row);
  }
  for (const auto &[format, ranked] : byFormat) {
    if (auto stability = rankStability(ranked))
      os << format << ": ranks in a single draw correlate with those of the mean by "
         << llvm::format("%.2f", *stability) << " or more\n";
    printRecommendation(os, format, ranked);
  }
  if (!report.errors.weightsKey.empty())
    printWeights(os, report.errors.weights);
  os << report.runs << " runs, " << report.reused << " numbers from the file there was";
  if (report.errors.additiveWithin > 0)
    os << "; errors of random sets are sums within "
       << llvm::format("%.2f", report.errors.additiveWithin);
  os << "\n";
  if (report.lacksLayers)
    os << "note: no two contractions have names (of locations, such as blocks.1.attention.query) "
          "with the same path; each was measured by itself\n";
  for (const std::string &format : report.notAdditive)
    os << "note: " << format
       << ": a contraction alone makes what is no number; decide by ranges before errors\n";
}
