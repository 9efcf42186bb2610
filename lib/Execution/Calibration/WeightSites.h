// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constant weights of contractions and convolutions, as matrices of inputs and outputs.

#ifndef MP_LIB_EXECUTION_CALIBRATION_WEIGHTSITES_H
#define MP_LIB_EXECUTION_CALIBRATION_WEIGHTSITES_H

#include "ObservedModule.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace mlir::mp {

/// A constant f32 weight W[inputs][outputs], and the operand whose values it multiplies: each
/// result is a sum over inputs, of which rows show what they are. In a convolution a row is what
/// one window holds.
class WeightSite {
public:
  /// Reads the contraction of which `place` is one factor; nullopt unless the other factor is such
  /// a weight, no loop belongs to weight, rows and result at once (depthwise convolutions), and all
  /// sizes are static.
  /// With `groups` inputs that follow each other are first those along the dimension in which
  /// mp-prune groups them.
  static std::optional<WeightSite> find(const ObservedModule::Place &place, bool groups = false);

  size_t inputs() const { return inputOffsets.size(); }
  size_t outputs() const { return outputOffsets.size(); }

  /// The rows of one observation of the operand, one after the other.
  std::vector<float> rowsOf(ArrayRef<float> elements) const;

  /// True if four inputs in a row are a group of mp-prune: `find` looked for them, and the
  /// dimension has whole ones.
  bool hasGroups() const { return groupsInputs; }

  /// True if several dimensions are summed over, as in convolutions.
  bool isWindow() const { return summed.size() > 1; }

  /// Counts the rows that one observation of the operand has.
  int64_t rowCount() const { return int64_t(rowOffsets.size()); }

  /// The weight as [inputs][outputs].
  std::vector<float> matrix() const;

  /// The shape over the weight of a step for each output and `group` inputs; nullopt where such
  /// groups are no blocks of the weight.
  std::optional<SmallVector<int64_t>> stepShape(size_t group) const;

  /// Lets the contraction read codes [inputs][outputs] times steps of this shape.
  void replace(ArrayRef<int8_t> codes, ArrayRef<float> steps, ArrayRef<int64_t> stepShape,
               unsigned bits) const;

  /// Subtracts a number for each output from the result, behind the contraction.
  void subtract(ArrayRef<float> numbers) const;

  ObservedModule::Place contraction;
  OpOperand *rows, *weight;

private:
  SmallVector<int64_t> elementOrder() const; ///< where [input][output] lies

  DenseElementsAttr value;
  SmallVector<int64_t> sizes; ///< of the weight
  /// Dimensions of the weight that are summed over, that of groups last, and kept.
  SmallVector<unsigned> summed, kept;
  bool groupsInputs = false;
  SmallVector<unsigned> keptInResult;               ///< dimensions of the result for those kept
  std::vector<int64_t> inputOffsets, outputOffsets; ///< within the weight
  std::vector<int64_t> rowOffsets, inputInRow;      ///< within the operand
};

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_CALIBRATION_WEIGHTSITES_H
