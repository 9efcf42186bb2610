// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws the scalars of trainings as SVG plots in one HTML page.

#include "TrainingPage.h"
#include "mp/Watch/Numbers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir::mp;
using mpcore::watch::shortNumber;

namespace {
constexpr int kWidth = 640, kHeight = 220, kLeft = 70, kBottom = 24, kTop = 8;
constexpr llvm::StringLiteral kColours[] = {"#d9480f", "#2f6fb7"};

constexpr llvm::StringLiteral kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>mp training</title><style>
:root { --bg: #f6f7f9; --card: #fff; --ink: #1b1f24; --soft: #626b76; --line: #dfe3e8; }
@media (prefers-color-scheme: dark) { :root { --bg: #14171b; --card: #1d2127; --ink: #e7eaee; --soft: #98a2ae; --line: #323840; } }
body { margin: 0 auto; max-width: 1400px; padding: 16px 24px; background: var(--bg); color: var(--ink); font: 14px/1.45 system-ui, sans-serif; }
main { display: flex; flex-wrap: wrap; gap: 16px; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 12px 16px; }
h1 { font-size: 20px; } h2 { font-size: 15px; margin: 0 0 4px; }
td, th { padding: 2px 14px 2px 0; text-align: left; font-weight: normal; } th { color: var(--soft); }
text { fill: var(--soft); font-size: 11px; } path { fill: none; stroke-width: 1.5; }
</style></head><body>
)";

/// The values of one scalar in each training; NaN where it was no number.
struct Series {
  std::vector<std::vector<double>> values;
};

/// The range of values along one axis of a plot.
struct Axis {
  double low = INFINITY, high = -INFINITY;
  bool logarithmic = false;

  explicit Axis(const Series &series) {
    for (const std::vector<double> &values : series.values)
      for (double value : values)
        if (std::isfinite(value)) {
          low = std::min(low, value);
          high = std::max(high, value);
        }
    // Scales and losses that fall by orders of magnitude.
    logarithmic = low > 0 && high / low > 50;
    if (!(low < high)) {
      low = std::isfinite(low) ? low - 1 : 0;
      high = low + 2;
    }
  }
  double at(double value) const {
    double part =
        logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return kTop + (1 - part) * (kHeight - kTop - kBottom);
  }
};
} // namespace

static std::string escaped(llvm::StringRef text) {
  std::string safe;
  for (char c : text) {
    if (c == '<')
      safe += "&lt;";
    else if (c == '&')
      safe += "&amp;";
    else
      safe += c;
  }
  return safe;
}

/// A line broken where a step gave no number.
static std::string curve(llvm::ArrayRef<double> values, const Axis &axis, llvm::StringRef colour) {
  std::string path;
  bool drawing = false;
  for (auto [step, value] : llvm::enumerate(values)) {
    if (!std::isfinite(value)) {
      drawing = false;
      continue;
    }
    double x = kLeft + double(kWidth - kLeft - 10) * step / std::max<size_t>(1, values.size() - 1);
    path += llvm::formatv("{0}{1} {2} ", drawing ? "L" : "M", llvm::format("%.1f", x),
                          llvm::format("%.1f", axis.at(value)));
    drawing = true;
  }
  return llvm::formatv("<path d=\"{0}\" stroke=\"{1}\"/>\n", path, colour);
}

static std::string plot(llvm::StringRef title, const Series &series) {
  Axis axis(series);
  size_t steps = 0;
  std::string curves;
  for (auto [index, values] : llvm::enumerate(series.values)) {
    steps = std::max(steps, values.size());
    curves += curve(values, axis, kColours[index % std::size(kColours)]);
  }
  std::string labels;
  for (double value : {axis.low, axis.high})
    labels += llvm::formatv("<text x=\"{0}\" y=\"{1}\" text-anchor=\"end\">{2}</text>\n", kLeft - 6,
                            llvm::format("%.1f", axis.at(value) + 4), shortNumber(value));
  return llvm::formatv("<section><h2>{0}{1}</h2>\n<svg width=\"{2}\" height=\"{3}\" role=\"img\">\n"
                       "{4}{5}<text x=\"{6}\" y=\"{7}\">step 0</text>\n"
                       "<text x=\"{2}\" y=\"{7}\" text-anchor=\"end\">step {8}</text>\n"
                       "</svg></section>\n",
                       escaped(title), axis.logarithmic ? " (logarithmic)" : "", kWidth, kHeight,
                       labels, curves, kLeft, kHeight - 6, steps ? steps - 1 : 0);
}

/// Alerts, newest first, and the figures.
static std::string watchedSections(const WatchedRun &watched) {
  std::string page = llvm::formatv("<section><h2>{0} steps, {1}</h2><table>\n", watched.steps,
                                   watched.isRunning ? "running" : "ended");
  for (const auto &[name, text] : watched.figures)
    page += llvm::formatv("<tr><th>{0}</th><td>{1}</td></tr>\n", escaped(name), escaped(text));
  page += "</table></section>\n<section><h2>Alerts</h2><table>\n";
  if (watched.alerts.empty())
    page += "<tr><td>none</td></tr>\n";
  for (const watch::Alert &alert : llvm::reverse(watched.alerts))
    page += llvm::formatv(
        "<tr><td>{0}</td><td>step {1}</td><td>{2} {3}</td><td>{4}</td><td>{5}</td></tr>\n",
        alert.grade == watch::Grade::Alarm ? "alarm" : "note", alert.step, escaped(alert.rule),
        escaped(alert.place), escaped(alert.reason), escaped(alert.advice));
  return page + "</table></section>\n";
}

std::string mlir::mp::trainingPage(llvm::ArrayRef<TrainingCurves> trainings,
                                   const WatchedRun *watched) {
  llvm::MapVector<llvm::StringRef, Series> all;
  for (auto [index, training] : llvm::enumerate(trainings))
    for (const auto &[name, list] : *training.scalars) {
      Series &series = all[name];
      series.values.resize(trainings.size());
      for (const llvm::json::Value &value : *list.getAsArray())
        series.values[index].push_back(value.getAsNumber().value_or(NAN));
    }
  // Results without a name first (the loss is one), then state by name.
  auto entries = all.takeVector();
  llvm::stable_sort(entries, [](auto &a, auto &b) {
    return std::pair(!a.first.starts_with("result "), a.first) <
           std::pair(!b.first.starts_with("result "), b.first);
  });
  std::string page = kHead.str();
  if (watched && watched->isRunning)
    page += "<meta http-equiv=\"refresh\" content=\"2\">\n";
  page += "<h1>Training</h1>\n<section><table>\n"
          "<tr><th></th><th>seconds</th><th>peak bytes</th></tr>\n";
  for (auto [index, training] : llvm::enumerate(trainings))
    page += llvm::formatv("<tr><td style=\"color:{0}\">{1}</td><td>{2}</td><td>{3}</td></tr>\n",
                          kColours[index % std::size(kColours)], escaped(training.label),
                          shortNumber(training.seconds), training.peakBytes);
  page += "</table></section>\n";
  if (watched)
    page += watchedSections(*watched);
  page += "<main>\n";
  for (const auto &[name, series] : entries)
    page += plot(name, series);
  return page + "</main></body></html>\n";
}
