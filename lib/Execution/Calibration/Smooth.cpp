// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds tensors that constant weights multiply, and how large their channels get.

#include "Smooth.h"
#include "ChannelPowers.h"
#include "ChannelReaders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

/// The largest magnitude of each channel of a tensor.
static void enterMagnitudes(std::vector<float> &largest, ArrayRef<int64_t> shape, unsigned dim,
                            ArrayRef<float> elements) {
  forEachInChannel(shape, dim, elements, [&](int64_t channel, float element) {
    if (std::isfinite(element)) // weights may be otherwise
      largest[channel] = std::max(largest[channel], std::fabs(element));
  });
}

static std::vector<float> magnitudesOf(const ChannelReader &reader) {
  DenseElementsAttr constant;
  (void)matchPattern(reader.weight->get(), m_Constant(&constant));
  auto type = cast<RankedTensorType>(constant.getType());
  std::vector<float> elements(constant.value_begin<float>(), constant.value_end<float>()),
      largest(type.getDimSize(reader.weightDim));
  enterMagnitudes(largest, type.getShape(), reader.weightDim, elements);
  return largest;
}

/// Largest over median, of channels that are not all zero.
static double spreadOf(std::vector<float> magnitudes) {
  llvm::erase(magnitudes, 0.0f);
  if (magnitudes.empty())
    return 1;
  llvm::sort(magnitudes);
  return double(magnitudes.back()) / magnitudes[(magnitudes.size() - 1) / 2];
}

namespace {
/// A tensor and all that reads it.
struct Smoothing {
  SmallVector<ChannelReader> readers;
  std::vector<float> seen; ///< largest magnitudes of its channels
  double share;

  std::vector<int> powers() const {
    std::vector<float> weights(seen.size());
    for (const ChannelReader &reader : readers)
      for (auto [largest, own] : llvm::zip_equal(weights, magnitudesOf(reader)))
        largest = std::max(largest, own);
    std::vector<int> powers;
    for (auto [x, w] : llvm::zip_equal(seen, weights))
      powers.push_back(x > 0 && w > 0
                           ? int(std::nearbyint(share * std::log2(x) - (1 - share) * std::log2(w)))
                           : 0);
    return powers;
  }

  SmoothedTensor run() {
    Value value = tensor();
    SmoothedTensor done{readers[0].place.function.getName().str(),
                        readers[0].place.factor.contraction, "", spreadOf(seen), spreadOf(seen)};
    bool haveEqualDims = llvm::all_of(
        readers, [&](const ChannelReader &reader) { return reader.dim == readers[0].dim; });
    size_t reads = llvm::range_size(value.getUses());
    if (!haveEqualDims || reads != readers.size()) {
      done.whyNot = "something else reads it";
      return done;
    }
    std::vector<int> ups = powers(), downs;
    for (int up : ups)
      downs.push_back(-up);
    ChannelPowers changes;
    bool fits = changes.multiply(value, readers[0].dim, downs);
    for (ChannelReader &reader : readers)
      fits = fits && changes.multiply(*reader.weight, reader.weightDim, ups);
    if (!fits) {
      done.whyNot = "what it is computed from is not multiplied exactly";
      return done;
    }
    changes.apply();
    std::vector<float> now(seen);
    for (auto [magnitude, down] : llvm::zip_equal(now, downs))
      magnitude = std::ldexp(magnitude, down);
    done.after = spreadOf(now);
    return done;
  }

  Value tensor() const {
    const ContractionFactor &factor = readers[0].place.factor;
    return factor.op->getOperand(factor.operand);
  }
};
} // namespace

llvm::Expected<std::vector<SmoothedTensor>> mlir::mp::smoothChannels(ModuleOp module,
                                                                     StringRef entry,
                                                                     const InputOptions &inputs,
                                                                     double share) {
  unpackConstants(module);
  auto observed = observeFactors(module, entry);
  if (!observed)
    return observed.takeError();
  llvm::MapVector<Value, Smoothing> tensors;
  std::map<int64_t, Value> firstPlaces; ///< that are watched
  for (auto [number, place] : llvm::enumerate(observed->places))
    if (auto reader = findChannelReader(place)) {
      Value value = place.factor.op->getOperand(place.factor.operand);
      auto type = reader->tensor();
      Smoothing &smoothing = tensors[value];
      if (smoothing.readers.empty()) {
        smoothing.seen.resize(type.getDimSize(reader->dim));
        smoothing.share = share;
        firstPlaces[int64_t(number)] = value;
      }
      smoothing.readers.push_back(*reader);
    }
  if (tensors.empty())
    return createStringError(
        "--smooth: expected a contraction with a constant weight of f32, found "
        "none; weights that are arguments stay");
  FiniteCheck finite("--smooth");
  auto see = [&](int64_t place, ArrayRef<float> elements) {
    auto found = firstPlaces.find(place);
    if (found == firstPlaces.end())
      return;
    finite.see(place, elements);
    Smoothing &smoothing = tensors[found->second];
    enterMagnitudes(smoothing.seen, cast<RankedTensorType>(found->second.getType()).getShape(),
                    smoothing.readers[0].dim, elements);
  };
  auto count = runBatches(*observed, entry, inputs, see, /*finish=*/nullptr, &finite);
  if (!count)
    return count.takeError();
  std::vector<SmoothedTensor> done;
  for (auto &[value, smoothing] : tensors)
    done.push_back(smoothing.run());
  return done;
}

void mlir::mp::printSmoothed(llvm::raw_ostream &os, ArrayRef<SmoothedTensor> tensors) {
  for (const SmoothedTensor &tensor : tensors) {
    os << "@" << tensor.function << ", contraction " << tensor.contraction << ": ";
    if (tensor.whyNot.empty())
      os << "largest channel " << llvm::format("%.3g", tensor.before) << " times the median, now "
         << llvm::format("%.3g", tensor.after) << "\n";
    else
      os << "stays, largest channel " << llvm::format("%.3g", tensor.before)
         << " times the median: " << tensor.whyNot << "\n";
  }
}
