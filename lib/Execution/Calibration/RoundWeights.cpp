// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums second moments of what multiplies weights, and rounds those by them.

#include "RoundWeights.h"
#include "WeightSites.h"
#include "mp/Numerics/Scaling/SecondOrder.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

/// The words behind the format.
static bool readWord(StringRef word, WeightCodes &codes) {
  if (word == "mse")
    return codes.leastError = true;
  if (word == "layers")
    return codes.layerByLayer = true;
  if (word == "means")
    return codes.keepsMeans = true;
  if (word == "targets")
    return codes.makesUp = codes.layerByLayer = true;
  if (word == "descent")
    return codes.descends = true;
  if (word == "2:4")
    return codes.keepsTwo = true;
  return false;
}

llvm::Expected<WeightCodes> mlir::mp::parseWeightCodes(StringRef text) {
  WeightCodes codes;
  SmallVector<StringRef> words;
  text.split(words, ',');
  auto [format, group] = words[0].split(':');
  bool fine = format.consume_front("i") && !format.getAsInteger(10, codes.bits) &&
              codes.bits >= 2 && codes.bits <= 8;
  if (!group.empty())
    fine &= !group.getAsInteger(10, codes.group) && codes.group >= 1;
  if (!fine)
    return createStringError("--weight-codes=" + text +
                             ": expected iN with N from 2 to 8, or iN:GROUP, as in i4:128");
  for (StringRef word : ArrayRef(words).drop_front())
    if (!readWord(word, codes))
      return createStringError("--weight-codes=" + text +
                               ": expected mse, layers, means, targets, descent or 2:4 behind " +
                               words[0] + ", found '" + word + "'");
  return codes;
}

namespace {
using Moments = std::map<size_t, numerics::SecondMoments>; ///< by number of a place
using Crosses = std::map<size_t, numerics::CrossMoments>;

class Rounder {
public:
  Rounder(ModuleOp module, StringRef entry, const InputOptions &inputs, const WeightCodes &wanted,
          const std::set<size_t> *only)
      : module(module), entry(entry), inputs(inputs), wanted(wanted), only(only) {}

  llvm::Expected<std::vector<RoundedWeight>> run() {
    unpackConstants(module);
    auto first = watch();
    if (!first)
      return first.takeError();
    SmallVector<size_t> order;
    for (const auto &[number, site] : sites)
      order.push_back(number);
    for (size_t begin = 0, end; begin != order.size(); begin = end) {
      // Weights that the same values multiply need these once.
      end = wanted.layerByLayer ? begin + 1 : order.size();
      while (end != order.size() && readsAs(order[begin], order[end]))
        ++end;
      Moments later;
      const Moments *now = &*first;
      roundRows(ArrayRef(order).slice(begin, end - begin));
      if (wanted.activations.bits != 0 || (wanted.layerByLayer && begin != 0)) {
        auto again = watch();
        if (!again)
          return again.takeError();
        later = std::move(*again);
        now = &later;
      }
      for (size_t number : ArrayRef(order).slice(begin, end - begin))
        if (llvm::Error error = round(number, first->at(number), now->at(number)))
          return std::move(error);
    }
    return std::move(rounded);
  }

private:
  bool readsAs(size_t one, size_t other) const {
    return sites.at(one).rows->get() == sites.at(other).rows->get();
  }

  /// Rounds what these weights multiply to the grid of what the f32 network had there.
  void roundRows(ArrayRef<size_t> numbers) {
    const ActivationCodes &codes = wanted.activations;
    if (codes.bits == 0)
      return;
    std::map<void *, Value> done; // what several multiply is rounded once
    for (size_t number : numbers) {
      WeightSite &site = sites.at(number);
      Value value = site.rows->get();
      grids[number] = numerics::fitGrid(seen[number], codes.bits, codes.isUnsigned,
                                        wanted.ends.method, wanted.ends.share);
      Value &onGrid = done[value.getAsOpaquePointer()];
      if (!onGrid)
        onGrid = roundToGrid(site.contraction.factor.op, value, codes, grids[number]);
      site.rows->set(onGrid);
    }
  }

  /// Keeps what multiplied the weight in the f32 network, batch after batch, or pairs it with what
  /// does now.
  void pairRows(size_t number, size_t batch, ArrayRef<float> elements) {
    auto &kept = original[number];
    if (kept.size() == batch) {
      kept.emplace_back(elements.begin(), elements.end());
      return;
    }
    WeightSite &site = sites.at(number);
    crosses.try_emplace(number, site.inputs())
        .first->second.add(site.rowsOf(elements), site.rowsOf(kept[batch]));
  }

  /// Runs the module as it is now; finds the sites where none are known yet.
  llvm::Expected<Moments> watch() {
    auto observed = observeFactors(module, entry);
    if (!observed)
      return observed.takeError();
    if (sites.empty())
      for (auto [number, place] : llvm::enumerate(observed->places))
        if (auto site = WeightSite::find(place, wanted.keepsTwo);
            site && (!only || only->count(number)))
          sites.emplace(number, std::move(*site));
    if (sites.empty())
      return createStringError("--round-weights: expected a contraction with a constant matrix of "
                               "f32, found none; weights that are arguments stay");
    Moments moments;
    const bool isFirst = wanted.activations.bits != 0 && seen.empty();
    crosses.clear();
    std::map<size_t, size_t> batches;
    for (const auto &[number, site] : sites)
      moments.emplace(number, site.inputs());
    FiniteCheck finite("--round-weights");
    auto see = [&](int64_t place, ArrayRef<float> elements) {
      auto found = moments.find(place);
      if (found == moments.end())
        return;
      finite.see(place, elements);
      found->second.add(sites.at(place).rowsOf(elements));
      if (isFirst)
        seen[size_t(place)].add(elements);
      if (wanted.makesUp)
        pairRows(size_t(place), batches[size_t(place)]++, elements);
    };
    auto count = runBatches(*observed, entry, inputs, see, /*finish=*/nullptr, &finite);
    if (!count)
      return count.takeError();
    return moments;
  }

  /// `before` is what multiplied the weight in the f32 network, `now` what does.
  llvm::Error round(size_t number, const numerics::SecondMoments &before,
                    const numerics::SecondMoments &now) {
    WeightSite &site = sites.at(number);
    size_t k = site.inputs(), n = site.outputs();
    size_t group = wanted.group ? size_t(wanted.group) : k;
    auto stepShape = site.stepShape(group);
    while (!stepShape && site.isWindow() && group > 1)
      stepShape = site.stepShape(--group);
    if (!stepShape)
      return createStringError("--weight-codes: expected groups that divide what contraction " +
                               Twine(site.contraction.factor.contraction) + " sums over, " +
                               Twine(k) + ", found " + Twine(group));
    numerics::WeightRounding shape{k, n, group, (1 << (wanted.bits - 1)) - 1};
    shape.keepsZeros = site.hasGroups();
    const std::vector<float> plain = site.matrix();
    auto cross = crosses.find(number);
    const std::vector<float> weights =
        cross == crosses.end() ? plain : numerics::retarget(plain, now, cross->second, shape);
    auto stepsFor = [&](ArrayRef<float> left) {
      return wanted.leastError ? numerics::stepsOfLeastError(left, now, shape)
                               : numerics::stepsOf(left, shape);
    };
    const bool isSparse = shape.keepsZeros;
    std::vector<float> left = isSparse ? numerics::pruneSecondOrder(weights, now, shape) : weights;
    std::vector<float> steps = stepsFor(left);
    std::vector<int8_t> codes = numerics::roundSecondOrder(left, steps, now, shape);
    if (isSparse)
      left = numerics::pruneByMagnitude(weights, shape);
    const std::vector<float> plainSteps = stepsFor(left);
    std::vector<int8_t> nearest = numerics::roundNearest(left, plainSteps, shape);
    double nearestError = numerics::squaredError(weights, nearest, plainSteps, now, shape);
    if (wanted.descends)
      numerics::descend(weights, codes, steps, now, shape);
    rounded.push_back({site.contraction.function.getName().str(),
                       site.contraction.factor.contraction, int64_t(k), int64_t(n), int64_t(group),
                       numerics::squaredError(weights, codes, steps, now, shape), nearestError,
                       gridOf(number), isSparse});
    site.replace(codes, steps, *stepShape, wanted.bits);
    if (wanted.keepsMeans)
      site.subtract(shiftOfMeans(plain, codes, steps, before.means(), now.means(), shape));
    return llvm::Error::success();
  }

  std::optional<numerics::UniformGrid> gridOf(size_t number) const {
    auto found = grids.find(number);
    return found == grids.end() ? std::nullopt : std::optional(found->second);
  }

  /// Returns by how much the mean of each output has moved.
  static std::vector<float> shiftOfMeans(ArrayRef<float> weights, ArrayRef<int8_t> codes,
                                         ArrayRef<float> steps, ArrayRef<double> before,
                                         ArrayRef<double> now,
                                         const numerics::WeightRounding &shape) {
    std::vector<float> shifts;
    for (size_t j = 0; j != shape.outputs; ++j) {
      double shift = 0;
      for (size_t i = 0; i != shape.inputs; ++i) {
        size_t at = i * shape.outputs + j;
        float step = steps[i / shape.group * shape.outputs + j];
        shift += double(float(codes[at]) * step) * now[i] - double(weights[at]) * before[i];
      }
      shifts.push_back(float(shift));
    }
    return shifts;
  }

  ModuleOp module;
  StringRef entry;
  const InputOptions &inputs;
  const WeightCodes &wanted;
  const std::set<size_t> *only;
  std::map<size_t, WeightSite> sites;                         ///< by number of their place
  std::map<size_t, std::vector<std::vector<float>>> original; ///< what multiplied each, by batch
  std::map<size_t, numerics::SignedHistogram> seen;           ///< of the same, in the f32 network
  std::map<size_t, numerics::UniformGrid> grids;
  Crosses crosses; ///< of the last run, if not the first
  std::vector<RoundedWeight> rounded;
};
} // namespace

llvm::Expected<std::vector<RoundedWeight>> mlir::mp::roundWeights(ModuleOp module, StringRef entry,
                                                                  const InputOptions &inputs,
                                                                  const WeightCodes &wanted,
                                                                  const std::set<size_t> *only) {
  return Rounder(module, entry, inputs, wanted, only).run();
}

void mlir::mp::printRounded(llvm::raw_ostream &os, ArrayRef<RoundedWeight> weights) {
  for (const RoundedWeight &weight : weights) {
    os << "@" << weight.function << ", contraction " << weight.contraction << ": " << weight.inputs
       << " x " << weight.outputs << " weights, squared error "
       << llvm::format("%.6g", weight.error) << " (to nearest "
       << llvm::format("%.6g", weight.nearest) << ")"
       << (weight.group == weight.inputs ? "" : ", in groups of " + std::to_string(weight.group));
    if (weight.isSparse)
      os << ", 2 of 4";
    if (weight.rows)
      os << "; values " << llvm::format("%.6g", weight.rows->low()) << " to "
         << llvm::format("%.6g", weight.rows->high()) << " in steps of "
         << llvm::format("%.6g", weight.rows->step);
    os << "\n";
  }
}
