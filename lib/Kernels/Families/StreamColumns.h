// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places a thread of a stream kernel, and goes with it over the columns of its row.

#ifndef MP_LIB_KERNELS_FAMILIES_STREAMCOLUMNS_H
#define MP_LIB_KERNELS_FAMILIES_STREAMCOLUMNS_H

#include "../Build/Evaluate.h"
#include "../Build/RowReduce.h"
#include "StreamKernel.h"
#include "StreamMemory.h"

namespace mlir::mp {

class StreamColumns {
public:
  using Values = SmallVector<Value>;

  /// `memory` is told which row and which columns are held, `evaluate` when they are others.
  StreamColumns(KernelFunction &kernel, const StreamShape &shape, StreamPart part,
                StreamMemory &memory, Evaluate &evaluate);

  /// Places the thread, and holds its row for good where that fits.
  void begin();
  /// Calls `body` with all columns held, once for each set of columns; `carried` goes through.
  Values pass(Values carried, function_ref<Values(Values)> body);

  RowThreads threads;
  Value split, row, rowInside;

private:
  Value extent(ArrayRef<unsigned> loops) { return k.extent(s.plan, loops); }
  Value tilesOf();
  int64_t step() const { return int64_t(s.threadsPerRow) * s.vector; }
  void placeThread();
  void holdRow();
  Values loop(Value from, Value to, int64_t by, unsigned chunks, bool guarded, Values carried,
              function_ref<Values(Values)> body);

  KernelFunction &k;
  DeviceBuilder &d;
  const StreamShape &s;
  StreamPart part;
  StreamMemory &memory;
  Evaluate &evaluate;
  Value tile, start; ///< of the block among those of its row; the thread's first column in it
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_FAMILIES_STREAMCOLUMNS_H
