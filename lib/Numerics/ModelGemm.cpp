// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packs operands and computes tiles of a product in parallel, by vectors where the model allows.

#include "mp/Numerics/ModelGemm.h"

#include "Parallel.h"
#include "Tile.h"

#include "llvm/ADT/bit.h"

#include <cstring>
#include <memory>

using namespace mpcore::numerics;
using namespace mpcore::numerics::detail;

namespace {

/// A or B, whose strides let the same code pack both.
struct Matrix {
  const float *data;
  size_t outer, outerStride; ///< rows of A, columns of B
  size_t k, kStride;
};

/// An operand cut into panels of `width` rows (or columns), each k-major.
class Packed {
public:
  Packed(unsigned width, size_t paddedK) : width(width), paddedK(paddedK) {}

  void reserve(size_t outer) {
    panels = (outer + width - 1) / width;
    if (panels <= capacity)
      return;
    capacity = panels;
    values.reset(new float[capacity * panelSize()]);
    exponents.reset(new int32_t[capacity * panelSize()]);
  }

  /// Fills panel `index` from `matrix`, k in the emulated order if `reorder`.
  void fill(size_t index, const Matrix &matrix, int minExponent, bool reorder);

  Panel panel(size_t index) const {
    return {values.get() + index * panelSize(), exponents.get() + index * panelSize()};
  }

  size_t count() const { return panels; }

private:
  size_t panelSize() const { return width * paddedK; }

  unsigned width;
  size_t paddedK, panels = 0, capacity = 0;
  std::unique_ptr<float[]> values;
  std::unique_ptr<int32_t[]> exponents;
};

/// The exponents of `count` values. Runs for AVX2 tiles only, so it may use
/// what they need; written so that it vectorises.
MP_TARGET_AVX2 void exponentsOf(const float *values, int32_t *exponents, size_t count,
                                int32_t minExponent) {
  for (size_t i = 0; i < count; ++i) {
    uint32_t magnitude = llvm::bit_cast<uint32_t>(values[i]) & 0x7FFFFFFF;
    int32_t exponent = int32_t(magnitude >> 23) - 127;
    exponent = exponent < minExponent ? minExponent : exponent;
    exponent = magnitude == 0 ? zeroExponent : exponent;
    exponents[i] = magnitude >= 0x7F800000 ? nonFiniteExponent : exponent;
  }
}

/// Position of product k%32 in the emulated instruction's order: k%4 in {0,1}
/// fill the first half, {2,3} the second.
size_t emulatedPosition(size_t k) {
  size_t block = k / 32 * 32, within = k % 32;
  return block + within % 4 / 2 * 16 + within / 4 * 2 + within % 2;
}

void Packed::fill(size_t index, const Matrix &matrix, int minExponent, bool reorder) {
  float *v = values.get() + index * panelSize();
  size_t first = index * width;
  size_t used = std::min<size_t>(width, matrix.outer - first);
  const float *from = matrix.data + first * matrix.outerStride;
  for (size_t k = 0; k < paddedK; ++k) {
    float *to = v + (reorder ? emulatedPosition(k) : k) * width;
    size_t filled = k < matrix.k ? used : 0;
    for (size_t i = 0; i < filled; ++i)
      to[i] = from[i * matrix.outerStride + k * matrix.kStride];
    std::fill(to + filled, to + width, 0.0f);
  }
  exponentsOf(v, exponents.get() + index * panelSize(), panelSize(), minExponent);
}

/// Columns of B packed at a time, to bound the copy to some tens of megabytes.
size_t columnsAtOnce(size_t paddedK) {
  size_t columns = (size_t(1) << 23) / std::max<size_t>(paddedK, 1);
  return std::clamp<size_t>(columns / tileColumns * tileColumns, 64, 4096);
}
constexpr size_t rowsAtOnce = 512;

void gemmTiled(const TensorCoreModel &model, TileFunction tile, Matrix a, Matrix b, const float *c,
               size_t ldc, float *d, size_t ldd, unsigned threads) {
  size_t step = model.emulatedThroughF16 ? 32 : model.groupSize;
  size_t paddedK = (a.k + step - 1) / step * step;
  auto minExponent = [&](Format operand) {
    return info(model.emulatedThroughF16 ? Format::F16 : operand).minExponent;
  };
  Packed packedA(tileRows, paddedK), packedB(tileColumns, paddedK);
  size_t columnBlock = columnsAtOnce(paddedK);
  for (size_t column = 0; column < b.outer; column += columnBlock) {
    Matrix bBlock = b;
    bBlock.data += column * b.outerStride;
    bBlock.outer = std::min(columnBlock, b.outer - column);
    packedB.reserve(bBlock.outer);
    parallelFor(packedB.count(), threads, [&](size_t i) {
      packedB.fill(i, bBlock, minExponent(model.operandB), model.emulatedThroughF16);
    });
    for (size_t row = 0; row < a.outer; row += rowsAtOnce) {
      Matrix aBlock = a;
      aBlock.data += row * a.outerStride;
      aBlock.outer = std::min(rowsAtOnce, a.outer - row);
      packedA.reserve(aBlock.outer);
      parallelFor(packedA.count(), threads, [&](size_t i) {
        packedA.fill(i, aBlock, minExponent(model.operandA), model.emulatedThroughF16);
      });
      // One panel of B stays in cache while all rows of the block pass.
      parallelFor(packedB.count(), threads, [&](size_t j) {
        size_t firstColumn = column + j * tileColumns;
        size_t columns = std::min<size_t>(tileColumns, b.outer - firstColumn);
        for (size_t i = 0; i < packedA.count(); ++i) {
          size_t firstRow = row + i * tileRows;
          size_t rows = std::min<size_t>(tileRows, a.outer - firstRow);
          float accumulators[tileRows][tileColumns] = {};
          if (c)
            for (size_t r = 0; r < rows; ++r)
              std::memcpy(accumulators[r], c + (firstRow + r) * ldc + firstColumn,
                          columns * sizeof(float));
          tile(model, paddedK, packedA.panel(i), packedB.panel(j), accumulators);
          for (size_t r = 0; r < rows; ++r)
            std::memcpy(d + (firstRow + r) * ldd + firstColumn, accumulators[r],
                        columns * sizeof(float));
        }
      });
    }
  }
}

void gemmScalar(const TensorCoreModel &model, Matrix a, Matrix b, const float *c, size_t ldc,
                float *d, size_t ldd, unsigned threads) {
  parallelFor(b.outer, threads, [&](size_t column) {
    std::vector<float> contiguous(b.k);
    for (size_t k = 0; k < b.k; ++k)
      contiguous[k] = b.data[k * b.kStride + column];
    for (size_t row = 0; row < a.outer; ++row) {
      float accumulator = c ? c[row * ldc + column] : 0;
      d[row * ldd + column] =
          modelDot(model, a.data + row * a.outerStride, contiguous.data(), a.k, accumulator);
    }
  });
}

} // namespace

void mpcore::numerics::modelGemm(const TensorCoreModel &model, size_t m, size_t n, size_t k,
                                 const float *a, size_t lda, const float *b, size_t ldb,
                                 const float *c, size_t ldc, float *d, size_t ldd, unsigned threads,
                                 Simd simd) {
  Matrix aMatrix = {a, m, lda, k, 1}, bMatrix = {b, n, 1, k, ldb};
  // Below this, starting a thread takes longer than the product.
  if (m * n * k < size_t(1) << 16)
    threads = 1;
  size_t step = model.emulatedThroughF16 ? 32 : model.groupSize;
  TileFunction tile =
      simd == Simd::AVX2 && model.promoteEvery % step == 0 ? tileAVX2(model) : nullptr;
  if (tile)
    gemmTiled(model, tile, aMatrix, bMatrix, c, ldc, d, ldd, threads);
  else
    gemmScalar(model, aMatrix, bMatrix, c, ldc, d, ldd, threads);
}
