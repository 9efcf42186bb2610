// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes scales of blocks and converts arrays with them.

#include "mp/Numerics/Scaling/Blocks.h"
#include "mp/Numerics/ArrayCast.h"

#include <cmath>
#include <vector>

using namespace mpcore::numerics;

std::optional<BlockLayout> BlockLayout::get(llvm::ArrayRef<int64_t> shape,
                                            llvm::ArrayRef<int64_t> scaleShape) {
  BlockLayout layout;
  layout.shape.assign(shape.begin(), shape.end());
  if (!scaleShape.empty() && scaleShape.size() != shape.size())
    return std::nullopt;
  layout.strides.resize(shape.size());
  layout.block.resize(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    int64_t scales = scaleShape.empty() ? 1 : scaleShape[i];
    if (scales < 1 || shape[i] % scales)
      return std::nullopt;
    layout.block[i] = shape[i] / scales;
    layout.strides[i] = int64_t(layout.scaleCount);
    layout.scaleCount *= size_t(scales);
    layout.count *= size_t(shape[i]);
  }
  // With one scale for all, the whole array is one run.
  layout.run = layout.scaleCount == 1 ? layout.count
               : shape.empty()        ? 1
                                      : size_t(layout.block.back());
  return layout;
}

void BlockLayout::forEachRun(llvm::function_ref<void(size_t, size_t, size_t)> visit) const {
  if (!count)
    return;
  if (scaleCount == 1)
    return visit(0, count, 0);
  llvm::SmallVector<int64_t> index(shape.size(), 0);
  for (size_t first = 0; first < count; first += run) {
    size_t scale = 0;
    for (size_t i = 0; i < shape.size(); ++i)
      scale += size_t(index[i] / block[i] * strides[i]);
    visit(first, run, scale);
    index.back() += int64_t(run);
    for (size_t i = shape.size(); i-- > 1 && index[i] == shape[i];) {
      index[i] = 0;
      ++index[i - 1];
    }
  }
}

void mpcore::numerics::amaxArray(const float *x, const BlockLayout &layout, float *result,
                                 NaNRule nan) {
  std::fill_n(result, layout.scales(), 0.0f);
  layout.forEachRun([&](size_t first, size_t length, size_t scale) {
    float largest = result[scale];
    for (const float *p = x + first, *end = p + length; p != end; ++p) {
      float magnitude = std::fabs(*p);
      // Comparisons with NaN are false: it is passed over, or stays once there.
      if (magnitude > largest)
        largest = magnitude;
      else if (nan == NaNRule::Propagate && std::isnan(magnitude))
        largest = magnitude;
    }
    result[scale] = largest;
  });
}

void mpcore::numerics::quantizeArray(const float *x, const BlockLayout &layout, const float *encode,
                                     CodeFormat code, uint8_t *codes, Rounding rounding,
                                     Overflow overflow, const uint32_t *randomBits) {
  constexpr size_t chunk = 1024;
  float scaled[chunk];
  layout.forEachRun([&](size_t first, size_t length, size_t scale) {
    for (size_t done = 0; done < length; done += chunk) {
      size_t at = first + done, now = std::min(chunk, length - done);
      for (size_t i = 0; i < now; ++i)
        scaled[i] = x[at + i] * encode[scale];
      const uint32_t *bits = randomBits ? randomBits + at : nullptr;
      if (!code.isInteger()) {
        convertArray(scaled, Format::F32, codes + at, code.floatFormat(), now, rounding, overflow,
                     bits);
        continue;
      }
      for (size_t i = 0; i < now; ++i)
        codes[at + i] = uint8_t(code.encode(scaled[i]));
    }
  });
}

void mpcore::numerics::dequantizeArray(const uint8_t *codes, const BlockLayout &layout,
                                       const float *decode, CodeFormat code, float *x) {
  layout.forEachRun([&](size_t first, size_t length, size_t scale) {
    for (size_t i = first; i < first + length; ++i)
      x[i] = code.decode(codes[i]) * decode[scale];
  });
}

void mpcore::numerics::blockQuantize(const float *x, const BlockLayout &layout,
                                     const ScaleRule &rule, CodeFormat code, Format scaleFormat,
                                     uint8_t *codes, float *scales, float parent, NaNRule nan,
                                     Rounding rounding, const uint32_t *randomBits) {
  std::vector<float> encode(layout.scales());
  amaxArray(x, layout, encode.data(), nan);
  for (size_t i = 0; i < encode.size(); ++i) {
    Scale scale = computeScale(rule, code, scaleFormat, encode[i], 1, parent);
    encode[i] = scale.encode;
    scales[i] = scale.decode;
  }
  quantizeArray(x, layout, encode.data(), code, codes, rounding, Overflow::Saturate, randomBits);
}
