// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes contractions with the Tensor Core models of lib/Numerics, behind the runtime's hook.

#include "mp/Execution/TensorCores.h"

#include "mp/Numerics/ArrayCast.h"
#include "mp/Numerics/ModelGemm.h"
#include "mp/Runtime/Runtime.h"

#include <cstring>
#include <vector>

using namespace mlir::mp;
using namespace mpcore::numerics;

/// A dense operand as f32 values.
static std::vector<float> widen(const void *data, int format, size_t count) {
  std::vector<float> values(count);
  // tf32 values come as the f32 values they are.
  if (format == MP_RT_TF32)
    std::memcpy(values.data(), data, count * sizeof(float));
  else
    convertArray(data, Format(format), values.data(), Format::F32, count);
  return values;
}

namespace mlir::mp {
int runProduct(void *self, const void *view) {
  auto &scope = *static_cast<TensorCoreScope *>(self);
  const auto &product = *static_cast<const mp_rt_product *>(view);
  auto a = Format(product.format_a), b = Format(product.format_b);
  auto model =
      tensorCoreModel(scope.architecture, a, b, Format::F32, nativeRoute(scope.architecture));
  if (!model) {
    scope.models.insert("IEEE f32 for " + toString(a).str() + " by " + toString(b).str());
    return 0;
  }
  // As kernels do: accumulators of 13 fraction bits are emptied into f32 every 128 products.
  if (model->stepResult == StepResult::E8M13)
    model->promoteEvery = 128;
  scope.models.insert(describe(*model));
  size_t m = size_t(product.m), n = size_t(product.n), k = size_t(product.k);
  std::vector<float> left = widen(product.a, product.format_a, m * k);
  std::vector<float> right = widen(product.b, product.format_b, k * n);
  modelGemm(*model, m, n, k, left.data(), k, right.data(), n, product.c, n, product.c, n);
  return 1;
}
} // namespace mlir::mp

static int hook(void *self, const mp_rt_product *product) { return runProduct(self, product); }

TensorCoreScope::TensorCoreScope(Architecture architecture) : architecture(architecture) {
  mp_rt_set_product_hook(hook, this);
}

TensorCoreScope::~TensorCoreScope() { mp_rt_set_product_hook(nullptr, nullptr); }
