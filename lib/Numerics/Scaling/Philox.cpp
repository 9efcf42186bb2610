// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes the rounds of Philox4x32-10.

#include "mp/Numerics/Scaling/Philox.h"

using namespace mpcore::numerics;

std::array<uint32_t, 4> mpcore::numerics::philox(std::array<uint32_t, 4> counter,
                                                 std::array<uint32_t, 2> key) {
  for (unsigned round = 0; round < philoxRounds; ++round) {
    uint64_t first = uint64_t(philoxMultipliers[0]) * counter[0];
    uint64_t second = uint64_t(philoxMultipliers[1]) * counter[2];
    counter = {uint32_t(second >> 32) ^ counter[1] ^ key[0], uint32_t(second),
               uint32_t(first >> 32) ^ counter[3] ^ key[1], uint32_t(first)};
    key = {key[0] + philoxWeyl[0], key[1] + philoxWeyl[1]};
  }
  return counter;
}

uint32_t mpcore::numerics::randomWord(uint64_t seed, uint64_t offset, uint64_t index) {
  uint64_t counter = offset + index / 4;
  return philox({uint32_t(counter), uint32_t(counter >> 32), 0, 0},
                {uint32_t(seed), uint32_t(seed >> 32)})[index % 4];
}
