// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running with the arithmetic of a GPU's Tensor Cores.

#ifndef MP_EXECUTION_TENSORCORES_H
#define MP_EXECUTION_TENSORCORES_H

#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Numerics/TensorCore.h"

#include <set>
#include <string>

namespace mlir::mp {

/// While it lives, contractions of f16, bf16, tf32 (both operands from `mp.round
/// tf32`) and fp8 values into f32 are computed as the Tensor Cores of
/// `architecture` do, bit for bit; all others follow IEEE. One at a time.
class TensorCoreScope {
public:
  explicit TensorCoreScope(numerics::Architecture architecture);
  ~TensorCoreScope();
  TensorCoreScope(const TensorCoreScope &) = delete;

  /// Descriptions of the models used, and types that stayed IEEE.
  const std::set<std::string> &used() const { return models; }

private:
  friend int runProduct(void *self, const void *product);

  numerics::Architecture architecture;
  std::set<std::string> models;
};

} // namespace mlir::mp

#endif // MP_EXECUTION_TENSORCORES_H
