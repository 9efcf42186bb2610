// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Selects the instructions that the array routines may use. Every level gives the same bits; the
// choice is a parameter so that tests and benchmarks can compare.

#ifndef MP_NUMERICS_SIMD_H
#define MP_NUMERICS_SIMD_H

#include <cstdint>

#if defined(__x86_64__)
#define MP_NUMERICS_X86 1
/// Compiles one function for AVX2 and FMA whatever the build's baseline.
#define MP_TARGET_AVX2 __attribute__((target("avx2,fma")))
#else
#define MP_NUMERICS_X86 0
#define MP_TARGET_AVX2
#endif

namespace mpcore::numerics {

enum class Simd : uint8_t { Portable, AVX2 };

/// The best level this processor has; asked once.
inline Simd bestSimd() {
#if MP_NUMERICS_X86
  static const Simd level =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? Simd::AVX2 : Simd::Portable;
  return level;
#else
  return Simd::Portable;
#endif
}

} // namespace mpcore::numerics

#endif // MP_NUMERICS_SIMD_H
