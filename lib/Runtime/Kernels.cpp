// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Multiplies packed panels with vector extensions, one version per register width.

#include "Kernels.h"

#include "mp/Runtime/Runtime.h"

using namespace mpcore::runtime;

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/// Written with vector extensions: inlined into a function with a target
/// attribute it becomes that target's code.
template <typename T, int bytes, int rows, int vectors>
static inline __attribute__((always_inline)) void
multiply(int64_t k, const T *__restrict a, const T *__restrict b, T *__restrict tile) {
  typedef T Vector __attribute__((vector_size(bytes), aligned(sizeof(T))));
  constexpr int lanes = bytes / int(sizeof(T));
  Vector sums[rows][vectors] = {};
  for (int64_t step = 0; step < k; ++step) {
    Vector right[vectors];
    for (int j = 0; j < vectors; ++j)
      right[j] = *reinterpret_cast<const Vector *>(b + j * lanes);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < vectors; ++j)
        sums[i][j] += a[i] * right[j];
    a += rows;
    b += vectors * lanes;
  }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < vectors; ++j)
      *reinterpret_cast<Vector *>(tile + (i * vectors + j) * lanes) = sums[i][j];
}

template <typename T> static void multiplyBaseline(int64_t k, const T *a, const T *b, T *tile) {
  multiply<T, 16, 6, 2>(k, a, b, tile);
}

#if defined(__x86_64__)
template <typename T>
__attribute__((target("avx2,fma"))) static void multiplyAVX2(int64_t k, const T *a, const T *b,
                                                             T *tile) {
  multiply<T, 32, 6, 2>(k, a, b, tile);
}

template <typename T>
__attribute__((target("avx512f,fma"))) static void multiplyAVX512(int64_t k, const T *a, const T *b,
                                                                  T *tile) {
  multiply<T, 64, 12, 2>(k, a, b, tile);
}
#endif

template <typename T> static Kernel<T> choose() {
  constexpr int64_t size = sizeof(T);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    return {12, 128 / size, multiplyAVX512<T>};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {6, 64 / size, multiplyAVX2<T>};
#endif
  return {6, 32 / size, multiplyBaseline<T>};
}

template <typename T> const Kernel<T> &mpcore::runtime::kernel() {
  static const Kernel<T> best = choose<T>();
  return best;
}

extern "C" const char *mp_rt_kernel_name(void) {
  switch (kernel<float>().columns) {
  case 32: return "own kernel, avx512f";
  case 16: return "own kernel, avx2";
  default: return "own kernel, portable";
  }
}

template const Kernel<float> &mpcore::runtime::kernel<float>();
template const Kernel<double> &mpcore::runtime::kernel<double>();
