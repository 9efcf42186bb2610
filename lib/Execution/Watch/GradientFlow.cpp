// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Norms of a layer's gradients add up by squares; steps count by their medians.

#include "GradientFlow.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <map>

using namespace mlir::mp;

/// Bits a layer beyond which gradients vanish or explode.
static constexpr double kSteep = 1;

static std::string twoDecimals(double value) {
  return llvm::formatv("{0}", llvm::format("%.2f", value)).str();
}

void GradientFlow::add(const watch::StepReading &reading,
                       llvm::function_ref<size_t(llvm::StringRef parameter)> placeOf) {
  struct Sum {
    size_t place = SIZE_MAX;
    double squares = 0, zeros = 0;
  };
  std::map<std::string, Sum> sums;
  for (const watch::ValueReading &value : reading.values) {
    if (!value.isGradient)
      continue;
    Sum &sum = sums[llvm::StringRef(value.name).rsplit('.').first.str()];
    sum.place = std::min(sum.place, placeOf(value.name));
    sum.squares += value.norm * value.norm;
    sum.zeros = std::max(sum.zeros, value.zeroShare);
  }
  for (const auto &[name, sum] : sums) {
    auto layer = llvm::find_if(layers, [&](const Layer &known) { return known.name == name; });
    if (layer == layers.end()) {
      auto behind =
          llvm::find_if(layers, [&](const Layer &known) { return known.place > sum.place; });
      layer = layers.insert(behind, Layer{name, sum.place, {}, {}});
    }
    if (sum.squares > 0 && std::isfinite(sum.squares))
      layer->bits.push_back(std::log2(sum.squares) / 2);
    layer->zeros.push_back(sum.zeros);
  }
}

std::optional<double> GradientFlow::slope() const {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (auto [depth, layer] : llvm::enumerate(layers)) {
    if (layer.bits.empty())
      continue;
    const double at = double(depth), bits = watch::median(layer.bits);
    n += 1, x += at, y += bits, xx += at * at, xy += at * bits;
  }
  return n >= 3 ? std::optional((n * xy - x * y) / (n * xx - x * x)) : std::nullopt;
}

llvm::StringRef GradientFlow::verdict() const {
  const double bits = slope().value_or(0);
  return bits > kSteep ? "vanish" : bits < -kSteep ? "explode" : "arrive";
}

llvm::StringRef GradientFlow::advice() const {
  const double bits = slope().value_or(0);
  if (bits > kSteep)
    return "larger first weights, norms or residual connections; in f16, a loss scale, since the "
           "first layers flush first";
  if (bits < -kSteep)
    return "smaller first weights, norms, or mp-clip-gradients; in f16, bf16 for the first layers, "
           "which overflow first";
  return "";
}

std::vector<std::pair<std::string, std::string>> GradientFlow::rows() const {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const Layer &layer : layers)
    rows.push_back({"gradient of " + layer.name,
                    layer.bits.empty()
                        ? "zero in every step"
                        : "norm 2^" + twoDecimals(watch::median(layer.bits)) + ", " +
                              twoDecimals(100 * watch::median(layer.zeros)) + " % zeros"});
  if (auto bits = slope()) {
    std::string line = twoDecimals(*bits) + " bits a layer: gradients " + verdict().str();
    if (!advice().empty())
      line += " on their way to the first; try: " + advice().str();
    rows.push_back({"gradient flow", line});
  }
  return rows;
}

llvm::json::Object GradientFlow::toJSON() const {
  llvm::json::Array list;
  for (const Layer &layer : layers)
    list.push_back(llvm::json::Object{
        {"layer", layer.name},
        {"log2_norm", layer.bits.empty() ? llvm::json::Value(nullptr)
                                         : llvm::json::Value(watch::median(layer.bits))},
        {"zeros", watch::median(layer.zeros)}});
  llvm::json::Object object{{"layers", std::move(list)}, {"verdict", verdict()}};
  if (auto bits = slope())
    object["bits_a_layer"] = *bits;
  return object;
}
