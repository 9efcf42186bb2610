// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fits the constants of the performance model to measurements by others, and says how well it
// predicts what it did not see. docs/concepts/Performance.md shows what it prints.

#include "Fit.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace fitmodel;
using namespace mpcore::performance;
namespace cl = llvm::cl;

static cl::list<std::string> files(cl::Positional, cl::desc("[FILE ...]"));
static cl::opt<unsigned> folds("folds", cl::init(5),
                               cl::desc("Parts that are predicted from the others"));
static cl::opt<bool> check("check",
                           cl::desc("Predict with the built-in constants only; fit nothing"));
static cl::opt<std::string> only("group", cl::desc("Only groups whose title contains this"));
static cl::opt<double>
    atMost("at-most", cl::desc("Exit with 1 where the mean error of the built-in constants, "
                               "or of folds not seen, is above so many percent"));
static cl::opt<bool> worst("worst", cl::desc("List the ten worst predictions of each group"));

/// Points of one kind of problem, unit and format on one part are fitted together.
struct Group {
  const Part *part;
  std::optional<MatrixUnit> unit;
  std::string kind, format;
  auto key() const { return std::tuple(part, unit, kind, format); }
  bool operator<(const Group &other) const { return key() < other.key(); }
};

static Group groupOf(const Point &point) {
  const std::string text = toString(point.problem);
  Group g{point.part, std::nullopt, text.substr(0, text.find(' ')), ""};
  auto multiplies = [&](const std::string &format) {
    g.unit = point.part->bestUnit(format);
    g.format = format;
  };
  if (auto *p = std::get_if<MatmulProblem>(&point.problem)) {
    multiplies(p->format);
    if (point.schedule)
      if (auto *s = std::get_if<MatmulSchedule>(&*point.schedule))
        g.unit = s->unit;
  } else if (auto *p = std::get_if<AttentionProblem>(&point.problem))
    multiplies(p->format);
  else
    g.kind = "streaming";
  return g;
}

/// The constants that measurements of a kind say something about.
static llvm::SmallVector<Constant> freeConstants(const Group &group) {
  if (group.kind == "attention")
    return {Constant::ExposedSoftmax, Constant::AttentionCycles};
  if (group.kind == "streaming")
    return {Constant::Launch, Constant::MemoryShare};
  return {Constant::Launch,           Constant::TensorShare,
          Constant::L2Share,          Constant::StoreBytesPerCycle,
          Constant::ExposedStores,    Constant::MemoryShare,
          Constant::SplitMicroseconds};
}

static const Calibration &builtIn(const Group &group) {
  return calibrationFor(*group.part, group.unit.value_or(MatrixUnit::Fma), group.format);
}

static void printErrors(llvm::StringRef what, const Errors &e) {
  llvm::outs() << llvm::format(
      "  %-28s mean %5.1f %%  median %5.1f %%  p90 %5.1f %%  bias %+5.1f %%\n", what.str().c_str(),
      100 * e.mean, 100 * e.median, 100 * e.p90, 100 * e.bias);
}

static std::vector<double> errorsOf(llvm::ArrayRef<Sample> samples, const Calibration &c) {
  std::vector<double> errors;
  for (const Sample &sample : samples)
    errors.push_back(logError(sample, c));
  return errors;
}

static void printWorst(llvm::ArrayRef<Sample> samples, const Calibration &c) {
  std::vector<std::pair<double, const Sample *>> all;
  for (const Sample &sample : samples)
    all.push_back({logError(sample, c), &sample});
  llvm::sort(all, [](auto &a, auto &b) { return std::abs(a.first) > std::abs(b.first); });
  for (auto [error, sample] : llvm::ArrayRef(all).take_front(10))
    llvm::outs() << llvm::format("    %+6.1f %%  %8.2f us  ", 100 * error,
                                 sample->point->microseconds)
                 << toString(sample->point->problem) << "\n";
}

/// The share of choices that stay within 10 % of the best when any one constant is a fifth larger
/// or smaller, and the most that is lost.
static void printRobustness(llvm::ArrayRef<Sample> samples, const Calibration &c) {
  unsigned robust = 0;
  double most = 0;
  for (const Sample &sample : samples) {
    const double lost =
        chooseRobustly(sample.point->problem, sample.menu, *sample.point->part, c).second;
    robust += lost <= 0.1;
    most = std::max(most, lost);
  }
  llvm::outs() << llvm::format("  choice within 10 %% of the best when a constant moves by 20 %%: "
                               "%u of %zu, at worst %.1f %% slower\n",
                               robust, samples.size(), 100 * most);
}

static void printConstants(const Calibration &c) {
  llvm::outs() << "  {";
  for (unsigned k = 0; k < kConstants; ++k)
    llvm::outs() << (k ? ", " : "") << llvm::format("%.4g", c.values[k]);
  llvm::outs() << "}\n";
}

static std::string titleOf(const Group &group) {
  std::string title = (group.part->name + ", " + group.kind).str();
  if (group.unit)
    title += " of " + group.format + " by " + toString(*group.unit).str();
  return title;
}

/// Prints errors; true unless they are larger than --at-most allows.
static llvm::Expected<bool> report(const Group &group, llvm::ArrayRef<const Point *> points) {
  llvm::Expected<std::vector<Sample>> samples = prepare(points);
  if (!samples)
    return samples.takeError();
  llvm::outs() << titleOf(group) << ": " << samples->size() << " points\n";
  const Calibration &known = builtIn(group);
  const Evidence &evidence = group.kind == "attention" ? known.attention : known.evidence;
  llvm::outs() << "  built in: " << evidence.text() << "\n";
  double mean = summarize(errorsOf(*samples, known)).mean;
  printErrors("built in", summarize(errorsOf(*samples, known)));
  const llvm::SmallVector<Constant> free = freeConstants(group);
  Calibration shown = known;
  // A fit with fewer points than twice its constants would say nothing.
  if (!check && samples->size() >= 2 * free.size()) {
    std::vector<const Sample *> all;
    for (const Sample &sample : *samples)
      all.push_back(&sample);
    shown = fit(all, free, known);
    printErrors("fitted on all of them", summarize(errorsOf(*samples, shown)));
    const Errors unseen = summarize(crossValidate(*samples, free, known, folds));
    printErrors(std::to_string(folds) + " folds, on shapes not seen", unseen);
    mean = unseen.mean;
    printConstants(shown);
  }
  if (group.kind == "matmul")
    printRobustness(*samples, shown);
  if (worst)
    printWorst(*samples, shown);
  if (!atMost.getNumOccurrences() || 100 * mean <= atMost)
    return true;
  llvm::outs() << "  more than the " << llvm::format("%g", double(atMost)) << " % allowed\n";
  return false;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "Fits the performance model to published measurements\n");
  if (files.empty())
    files.push_back(MP_SOURCE_DIR "/tools/dev/kernels/fit-model/published.csv");
  llvm::ExitOnError exitOnError("fit-model: error: ");
  exitOnError.setExitCodeMapper([](const llvm::Error &) { return 2; });
  if (folds < 2)
    exitOnError(llvm::createStringError("--folds is " + std::to_string(folds) + ", at least 2"));
  std::vector<Point> points;
  for (const std::string &file : files)
    for (Point &point : exitOnError(readPoints(file)))
      points.push_back(std::move(point));
  std::vector<std::pair<Group, std::vector<const Point *>>> groups;
  for (const Point &point : points) {
    const Group group = groupOf(point);
    auto known = llvm::find_if(groups, [&](auto &g) { return g.first.key() == group.key(); });
    (known == groups.end() ? groups.emplace_back(group, std::vector<const Point *>()) : *known)
        .second.push_back(&point);
  }
  bool allowed = true, any = false;
  for (auto &[group, members] : groups)
    if (titleOf(group).find(only) != std::string::npos) {
      any = true;
      allowed &= exitOnError(report(group, members));
    }
  if (!any)
    exitOnError(llvm::createStringError("no group has '" + only + "' in its title"));
  return allowed ? 0 : 1;
}
