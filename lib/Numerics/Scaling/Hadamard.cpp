// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Applies the fast Walsh-Hadamard transform with random signs to blocks.

#include "mp/Numerics/Scaling/Hadamard.h"

#include <cmath>

using namespace mpcore::numerics;

llvm::ArrayRef<int8_t> mpcore::numerics::hadamardSigns16() {
  static constexpr int8_t signs[] = {1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1};
  return signs;
}

float mpcore::numerics::hadamardFactor(uint64_t size) { return float(1 / std::sqrt(double(size))); }

void mpcore::numerics::hadamard(llvm::MutableArrayRef<float> block, llvm::ArrayRef<int8_t> signs,
                                bool inverse) {
  auto applySigns = [&] {
    for (size_t i = 0; i < block.size(); ++i)
      block[i] = signs[i] < 0 ? -block[i] : block[i];
  };
  if (!inverse)
    applySigns();
  for (size_t bit = 1; bit < block.size(); bit *= 2)
    for (size_t i = 0; i < block.size(); ++i) {
      if (i & bit)
        continue;
      float a = block[i], b = block[i | bit];
      block[i] = a + b;
      block[i | bit] = a - b;
    }
  float factor = hadamardFactor(block.size());
  for (float &value : block)
    value *= factor;
  if (inverse)
    applySigns();
}
