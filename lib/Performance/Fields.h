// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fields of problems and schedules with their names, for reading and writing their text forms:
// a kind and then "name=value", in which a value that the text leaves out is the default.

#ifndef MP_LIB_PERFORMANCE_FIELDS_H
#define MP_LIB_PERFORMANCE_FIELDS_H

#include "mp/Performance/Schedule.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

namespace mpcore::performance::detail {

/// Integers joined by x, as tile=128x256x64.
struct Sizes {
  llvm::SmallVector<unsigned *, 3> parts;
};

template <class F> void forFields(MatmulProblem &p, F &&f) {
  f("batch", p.batch), f("m", p.m), f("n", p.n), f("k", p.k);
  f("format", p.format), f("result", p.result), f("a-bits", p.aBits), f("b-bits", p.bBits);
  f("sparse-a", p.sparseA);
  f("shared-b", p.sharedB), f("epilogue-bytes", p.epilogueBytes);
  f("epilogue-instructions", p.epilogueInstructions);
}
template <class F> void forFields(MapProblem &p, F &&f) {
  f("elements", p.elements), f("read-bytes", p.readBytes), f("written-bytes", p.writtenBytes);
  f("instructions", p.instructions), f("held-words", p.heldWords);
  f("passing-words", p.passingWords);
}
template <class F> void forFields(RowProblem &p, F &&f) {
  f("rows", p.rows), f("columns", p.columns), f("read-bytes", p.readBytes);
  f("written-bytes", p.writtenBytes), f("column-bytes", p.columnBytes);
  f("reductions", p.reductions), f("instructions", p.instructions);
  f("held-words", p.heldWords), f("passing-words", p.passingWords);
}
template <class F> void forFields(ColumnReductionProblem &p, F &&f) {
  f("rows", p.rows), f("columns", p.columns), f("read-bytes", p.readBytes);
  f("instructions", p.instructions);
}
template <class F> void forFields(TransposeProblem &p, F &&f) {
  f("batch", p.batch), f("rows", p.rows), f("columns", p.columns), f("bits", p.bits);
}
template <class F> void forFields(AttentionProblem &p, F &&f) {
  f("batch", p.batch), f("heads", p.heads), f("key-heads", p.keyHeads), f("queries", p.queries);
  f("keys", p.keys), f("head-dim", p.headDim), f("format", p.format), f("causal", p.causal);
  f("keys-vary", p.keysVary), f("rows-vary", p.rowsVary);
}

template <class F> void forFields(MatmulSchedule &s, F &&f) {
  f("unit", s.unit), f("tile", Sizes{{&s.m, &s.n, &s.k}}),
      f("warps", Sizes{{&s.warpsM, &s.warpsN}});
  f("stages", s.stages), f("copy", s.copy), f("cluster", Sizes{{&s.clusterM, &s.clusterN}});
  f("split-k", s.splitK), f("overlapped-stores", s.overlappedStores);
  f("slices", s.slices);
}
template <class F> void forFields(MapSchedule &s, F &&f) {
  f("vector", s.vectorBytes), f("per-thread", s.elementsPerThread), f("block", s.block);
}
template <class F> void forFields(RowSchedule &s, F &&f) {
  f("threads-per-row", s.threadsPerRow), f("rows-per-block", s.rowsPerBlock);
  f("vector", s.vectorBytes), f("residence", s.residence);
}
template <class F> void forFields(ColumnReductionSchedule &s, F &&f) {
  f("columns-per-block", s.columnsPerBlock), f("splits", s.splits), f("block", s.block);
  f("vector", s.vectorBytes);
}
template <class F> void forFields(TransposeSchedule &s, F &&f) {
  f("tile", s.tile), f("block", s.block), f("vector", s.vectorBytes);
}
template <class F> void forFields(AttentionSchedule &s, F &&f) {
  f("unit", s.unit), f("tile", Sizes{{&s.queries, &s.keys}}), f("warps", s.warps);
  f("stages", s.stages), f("split-keys", s.splitKeys), f("split-from", s.splitFrom);
  f("split-blocks", s.splitBlocks), f("overlapped", s.overlapped);
}

/// The first word of a text form, in the order of the alternatives of Problem and Schedule.
inline constexpr llvm::StringLiteral kKinds[] = {"matmul",           "map",       "rows",
                                                 "column-reduction", "transpose", "attention"};

} // namespace mpcore::performance::detail

#endif // MP_LIB_PERFORMANCE_FIELDS_H
