// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tiles of keys that some query of a block sees under a mask of indices.

#ifndef MP_LIB_KERNELS_FAMILIES_SEENTILES_H
#define MP_LIB_KERNELS_FAMILIES_SEENTILES_H

#include "../Plan/KeyBounds.h"
#include "AttentionKernel.h"

namespace mlir::mp {

/// Tiles first, first + 1, .., end - 1 (i32).
struct TileRange {
  Value first, end;
};

class SeenTiles {
public:
  SeenTiles(KernelFunction &kernel, const AttentionShape &shape)
      : k(kernel), d(kernel.d), s(shape), p(shape.plan), bounds(boundKeys(p)) {}

  /// True if blocks of later rows see more.
  bool growsWithRows() const { return bounds.upper.has_value(); }
  /// Going through tiles gives values of any kind, and the largest logit of each row of a thread.
  struct Outcome {
    SmallVector<Value> values, maxima;
  };
  /// The values that `go` gives for the tiles that are seen (its argument is null or false) or,
  /// where these do not tell what a row's sum is, for all of them (true). That is so if a row sees
  /// nothing and no key of it is at minus infinity.
  SmallVector<Value> goThrough(function_ref<Outcome(Value all)> go);
  /// The range for a block of `rows` of all rows that begins at `firstRow`; all tiles if `all` (i1,
  /// may be null) holds. Of these, share number `part` of `sharers` (i32) where blocks share keys;
  /// else null.
  TileRange range(Value firstRow, Value rows, Value keys, Value all, Value part, Value sharers);

private:
  Value isUnclear(Value maximum);
  std::pair<Value, Value> queries(Value firstRow, Value rows);
  Value tilesOf(Value keys) { return d.narrow(d.div(keys, int64_t(s.keys))); }
  Value shifted(Value x, int64_t by);
  TileRange seenBy(Value firstRow, Value rows, Value keys, Value count);
  TileRange shareOf(const TileRange &range, Value part, Value sharers);

  KernelFunction &k;
  DeviceBuilder &d;
  const AttentionShape &s;
  const AttentionPlan &p;
  KeyBounds bounds;
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_FAMILIES_SEENTILES_H
