// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random Hadamard transform: spreads what is large in one place over a block, so
// that a shared scale costs less.

#ifndef MP_NUMERICS_SCALING_HADAMARD_H
#define MP_NUMERICS_SCALING_HADAMARD_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace mpcore::numerics {

/// A block x of 2^n values, one per sign (1 or -1), in place: x diag(signs) H / sqrt(2^n),
/// H being Sylvester's matrix; `inverse`: x H diag(signs) / sqrt(2^n).
///
/// Computed in f32, as n passes over the block: pass j replaces the two values
/// whose indices differ in bit j alone, a before b, by a + b and a - b. Then the
/// factor, f32(1 / sqrt(2^n)), exact for even n. Signs come first, in the
/// inverse last.
void hadamard(llvm::MutableArrayRef<float> block, llvm::ArrayRef<int8_t> signs,
              bool inverse = false);

/// The fixed signs that NVFP4 training uses, 16 of them.
llvm::ArrayRef<int8_t> hadamardSigns16();

/// f32(1 / sqrt(size)).
float hadamardFactor(uint64_t size);

} // namespace mpcore::numerics

#endif // MP_NUMERICS_SCALING_HADAMARD_H
