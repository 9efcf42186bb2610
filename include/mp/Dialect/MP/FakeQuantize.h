// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quantisation in training. A header of its own: few files need it.

#ifndef MP_DIALECT_MP_FAKEQUANTIZE_H
#define MP_DIALECT_MP_FAKEQUANTIZE_H

#include "mp/Dialect/MP/Scaling.h"

#define GET_OP_CLASSES
#include "mp/Dialect/MP/FakeQuantizeOps.h.inc"

namespace mlir::mp {

/// The codes of a format of fake quantisation: lo..hi, without a zero point.
struct CodeRange {
  double lo, hi;
  bool isInteger;
};

/// Nullopt for types that are no such format. With `affine`, a zero point shifts the range.
std::optional<CodeRange> getCodeRange(Type format, bool affine = false);

/// The narrowest of i4 and i8 that holds every code of an integer format, with a zero point the sum
/// of both; null for ui8 and floats.
Type getCodeStorage(Type format);

} // namespace mlir::mp

#endif // MP_DIALECT_MP_FAKEQUANTIZE_H
