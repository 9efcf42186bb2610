// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The elements of a constant as operand A of a contraction, in the order of its loops.

#ifndef MP_LIB_KERNELS_SELECT_CONSTANTMATRIX_H
#define MP_LIB_KERNELS_SELECT_CONSTANTMATRIX_H

#include "mp/Interfaces/Contraction.h"
#include "mp/Layouts/SparseRows.h"

#include <cstring>

namespace mlir::mp {

/// The constant that a tensor is, in whatever shape, or that a buffer shows all or parts of; null
/// if there is none.
ElementsAttr getConstantBehind(Value operand);

/// The elements of a constant as a contraction addresses them in a tensor or a buffer.
class ConstantMatrix {
public:
  /// Nothing if the operand holds no constant, or not all is known of it.
  static std::optional<ConstantMatrix> read(Value operand, const LinearAccess &access,
                                            const Contraction &contraction,
                                            ArrayRef<int64_t> ranges);

  int64_t batches() const { return batch.size(); }
  int64_t rows() const { return m.size(); }
  int64_t products() const { return k.size(); }
  uint16_t pattern(int64_t b, int64_t row, int64_t product) const {
    const size_t at = splat ? 0 : size_t(origin + batch[b] + m[row] + k[product]);
    if (width == 1)
      return uint8_t(raw[at]);
    uint16_t value;
    std::memcpy(&value, raw.data() + 2 * at, 2);
    return value;
  }
  /// True for both zeros.
  bool isZero(uint16_t pattern) const {
    const unsigned sign = isFloat ? 1u << (bits() - 1) : 0;
    return (pattern & ~sign) == 0;
  }
  unsigned bits() const { return 8 * width; }

  std::optional<mpcore::layouts::DenseGroup> findDense() const {
    for (int64_t b = 0; b < batches(); ++b)
      if (auto found = mpcore::layouts::findDenseGroup(
              rows(), products(), [&](int64_t row, int64_t i) { return pattern(b, row, i); },
              [&](uint16_t value) { return isZero(value); }))
        return found;
    return std::nullopt;
  }

private:
  ArrayRef<char> raw;
  bool splat = false, isFloat = false;
  unsigned width = 2;
  int64_t origin = 0;
  SmallVector<int64_t> batch, m, k; ///< distances, in elements, by flat position in the loops
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_SELECT_CONSTANTMATRIX_H
