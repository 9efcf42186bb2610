// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphs of attention, for tests of its kernels.

#ifndef MP_TEST_KERNELS_ATTENTIONTEXT_H
#define MP_TEST_KERNELS_ATTENTIONTEXT_H

#include <cstdint>
#include <string>

namespace mlir::mp::test {

enum class Mask {
  None,
  Additive,
  Lowest,
  Boolean,
  Causal,
  CausalLowest,
  CausalAdded,
  Window,
  Softcap
};

struct Attention {
  int64_t batch = 1, heads = 2, queries = 64, keys = 64, head = 64, width = 0; ///< 0: as head
  std::string element = "bf16";
  Mask mask = Mask::None;
  bool keyTransposed = false, dispatched = true, masksRows = false;
  std::string schedule = "", chip = "sm_80", numbers = "";
  int64_t group = 1;        ///< heads of query that share one of key and value
  int64_t offset = 0;       ///< causal masks show keys up to query + offset
  bool sharesMask = false;  ///< a causal mask is made beside attention, for others, too
  bool dynamic = false;     ///< sizes of batch, queries and keys are known at run time only
  bool keysVary = false;    ///< the number of keys is
  bool batchVaries = false; ///< that of batches is
  int64_t parts = 1;        ///< blocks that are to share the keys of a row
  int64_t valueWidth() const { return width ? width : head; }
};

/// True for masks that are an argument, [batch, queries, keys].
bool hasOperand(Mask mask);
/// A module whose @f takes query [batch, heads, queries, head], key, value and perhaps a mask.
std::string moduleText(const Attention &attention);

} // namespace mlir::mp::test

#endif // MP_TEST_KERNELS_ATTENTIONTEXT_H
