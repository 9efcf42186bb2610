// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Register-blocked inner loops of the matrix product.
#ifndef MP_LIB_RUNTIME_KERNELS_H
#define MP_LIB_RUNTIME_KERNELS_H

#include <cstdint>

namespace mpcore::runtime {

/// tile[i * columns + j] = sum over k of a[k * rows + i] * b[k * columns + j].
template <typename T> struct Kernel {
  int64_t rows, columns;
  void (*run)(int64_t k, const T *a, const T *b, T *tile);
};

/// Largest rows * columns of any kernel.
inline constexpr int64_t kMaxTile = 12 * 32;

/// The best kernel this processor has; always the same one in a process.
template <typename T> const Kernel<T> &kernel();

} // namespace mpcore::runtime

#endif // MP_LIB_RUNTIME_KERNELS_H
