// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The columns that a thread of a stream kernel holds, and its loads and stores.

#ifndef MP_LIB_KERNELS_FAMILIES_STREAMMEMORY_H
#define MP_LIB_KERNELS_FAMILIES_STREAMMEMORY_H

#include "../Build/KernelFunction.h"
#include "StreamShape.h"

namespace mlir::mp {

/// A thread's vector of neighbouring columns.
struct Chunk {
  int64_t ahead; ///< of the base, in columns
  Value inside;  ///< null where all of it certainly is
};

class StreamMemory {
public:
  StreamMemory(KernelFunction &kernel, const StreamShape &shape)
      : k(kernel), d(kernel.d), s(shape) {}

  /// Says which row this thread is at, and whether there is such a row (null: certainly).
  void setRow(Value index, Value inside);
  /// Says which columns are held from now on: chunks ahead of a first column.
  void setColumns(Value base, ArrayRef<Chunk> held);
  ArrayRef<Chunk> chunks() const { return held; }

  /// The element of an operand that does not vary along columns; ops go to the insertion point.
  Value load(const StreamAccess &access);
  /// The elements of a chunk; zeros outside. Where they came in words that are cheaper to widen
  /// than elements, `widened` gets them as f32.
  SmallVector<Value> load(const StreamAccess &access, unsigned chunk,
                          SmallVectorImpl<Value> &widened);
  /// The element of an operand at any indices (`index`), for a chunk or for the whole row; zero
  /// where that is outside.
  Value gather(unsigned operand, ValueRange indices, std::optional<unsigned> chunk);
  /// Asserts what holds for a chunk or for the whole row, where there is one.
  void check(StringRef message, Value holds, std::optional<unsigned> chunk);
  /// One thread of a row stores what does not vary along columns.
  void store(const StreamAccess &access, Value element, Value isFirst);
  void store(const StreamAccess &access, unsigned chunk, ArrayRef<Value> elements);
  /// The index of a loop of the plan at a column of a chunk, an `index`.
  Value index(int loop, unsigned chunk, unsigned position);

private:
  /// Elements that the access moves at once.
  int64_t width(const StreamAccess &access) const;
  Value rowPointer(const StreamAccess &access);
  /// Address of the first column of a chunk, and the step from one column to the next.
  Value chunkPointer(const StreamAccess &access, unsigned chunk);
  Size columnStep(const StreamAccess &access) const;
  /// Sum of group indices times strides.
  Value offset(const StreamAccess &access, ArrayRef<LoopGroup> groups, ArrayRef<Value> indices);
  SmallVector<Value> split(ArrayRef<LoopGroup> groups, Value flat);
  Value columnOf(unsigned chunk, unsigned position);
  /// Tells whether there are such elements; null says that there certainly are.
  Value insideOf(std::optional<unsigned> chunk) const {
    return chunk ? d.logicalAnd(rowInside, held[*chunk].inside) : rowInside;
  }

  KernelFunction &k;
  DeviceBuilder &d;
  const StreamShape &s;
  Value row, rowInside, base;
  SmallVector<Chunk> held;
  DenseMap<const StreamAccess *, Value> rowPointers, basePointers;
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_FAMILIES_STREAMMEMORY_H
