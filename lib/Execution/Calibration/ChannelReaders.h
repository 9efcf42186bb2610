// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions that multiply channels of a tensor by constant weights.

#ifndef MP_LIB_EXECUTION_CALIBRATION_CHANNELREADERS_H
#define MP_LIB_EXECUTION_CALIBRATION_CHANNELREADERS_H

#include "ObservedModule.h"

namespace mlir::mp {

struct ChannelReader {
  ObservedModule::Place place;
  OpOperand *weight;
  unsigned dim;       ///< of the channels, in the tensor
  unsigned weightDim; ///< and in the weight

  RankedTensorType tensor() const;
};

/// Nullopt where the other factor is no constant of f32, sizes are not static, or not one dimension
/// of both is summed over alone.
std::optional<ChannelReader> findChannelReader(const ObservedModule::Place &place);

/// Shows `use` each element of a tensor of this shape with its place along `dim`.
void forEachInChannel(ArrayRef<int64_t> shape, unsigned dim, ArrayRef<float> elements,
                      llvm::function_ref<void(int64_t, float)> use);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_CALIBRATION_CHANNELREADERS_H
