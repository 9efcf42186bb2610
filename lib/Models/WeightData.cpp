// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values come from splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
// generators", OOPSLA 2014) as a function of a counter, so that element k of a tensor
// depends on seed, name and k alone.

#include "WeightData.h"

using namespace mlir;
using namespace mlir::mp;

static constexpr uint64_t kGamma = 0x9e3779b97f4a7c15;

static uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// FNV-1a; llvm::hash_value may differ between two runs.
static uint64_t hashName(StringRef name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char c : name)
    hash = (hash ^ c) * 0x100000001b3;
  return hash;
}

/// Uniform in [-1, 1), a multiple of 2^-23: exact in f32.
static double uniform(uint64_t key, uint64_t index) {
  uint64_t bits = mix(key + (index + 1) * kGamma);
  return (static_cast<double>(bits >> 40) - 0x1p23) * 0x1p-23;
}

SmallVector<int64_t> WeightSpec::storedShape() const {
  if (layout.empty())
    return shape;
  SmallVector<int64_t> stored;
  for (int64_t axis : layout)
    stored.push_back(shape[axis]);
  return stored;
}

void mlir::mp::appendWeightData(const WeightSpec &spec, uint64_t seed, std::vector<float> &data) {
  if (!spec.values.empty()) {
    assert(spec.layout.empty() && "trained values are in stored order");
    data.insert(data.end(), spec.values.begin(), spec.values.end());
    return;
  }
  uint64_t key = mix(hashName(spec.name) ^ mix(seed + kGamma));
  auto value = [&](uint64_t index) {
    return static_cast<float>(spec.offset + spec.scale * uniform(key, index));
  };
  SmallVector<int64_t> stored = spec.storedShape();
  uint64_t count = 1;
  for (int64_t size : stored)
    count *= size;
  data.reserve(data.size() + count);
  if (spec.layout.empty()) {
    for (uint64_t index = 0; index != count; ++index)
      data.push_back(value(index));
    return;
  }

  // Walk the stored order; strides are those of the drawn order.
  size_t rank = stored.size();
  SmallVector<uint64_t> drawnStride(rank, 1), stride(rank);
  for (size_t axis = rank - 1; axis > 0; --axis)
    drawnStride[axis - 1] = drawnStride[axis] * spec.shape[axis];
  for (size_t axis = 0; axis != rank; ++axis)
    stride[axis] = drawnStride[spec.layout[axis]];
  SmallVector<int64_t> position(rank, 0);
  uint64_t drawn = 0;
  for (uint64_t index = 0; index != count; ++index) {
    data.push_back(value(drawn));
    for (size_t axis = rank; axis-- > 0;) {
      drawn += stride[axis];
      if (++position[axis] != stored[axis])
        break;
      drawn -= stride[axis] * stored[axis];
      position[axis] = 0;
    }
  }
}
