// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Philox4x32-10, the counter-based generator of Salmon et al. ("Parallel random
// numbers: as easy as 1, 2, 3", SC 2011): the same bits wherever and in whatever
// order they are computed.

#ifndef MP_NUMERICS_SCALING_PHILOX_H
#define MP_NUMERICS_SCALING_PHILOX_H

#include <array>
#include <cstddef>
#include <cstdint>

namespace mpcore::numerics {

inline constexpr uint32_t philoxMultipliers[2] = {0xD2511F53, 0xCD9E8D57};
inline constexpr uint32_t philoxWeyl[2] = {0x9E3779B9, 0xBB67AE85};
inline constexpr unsigned philoxRounds = 10;

/// The four words of one counter.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// Word `index` of the stream `seed`, `offset` counters in: word index % 4 of
/// the counter offset + index / 4, whose upper half is zero.
uint32_t randomWord(uint64_t seed, uint64_t offset, uint64_t index);

} // namespace mpcore::numerics

#endif // MP_NUMERICS_SCALING_PHILOX_H
