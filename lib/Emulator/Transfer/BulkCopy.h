// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Describes the decoded forms of cp.async.bulk and cp.reduce.async.bulk.

#ifndef MP_LIB_EMULATOR_TRANSFER_BULKCOPY_H
#define MP_LIB_EMULATOR_TRANSFER_BULKCOPY_H

#include "Async.h"
#include "Reduction.h"

namespace mpcore::emulator {

struct BulkOp {
  enum Direction : uint8_t { Load, Store, SharedToShared } direction = Load;
  unsigned rank = 0; // 0: no tensor, a plain range
  AddressOperand shared, other, mbarrier;
  Reg size;
  Reg coords[5];
  bool im2col = false;
  unsigned offsetCount = 0; // of im2col, added to the coordinates of the image
  Reg offsets[3];
  Reg mask; // multicast: blocks of the cluster
  bool multicast = false, ownDestination = false;
  std::optional<Rmw> reduction;
  Type type = Type::None; // of a reduction without a tensor map
};

Step execBulk(Warp &warp, const Inst &inst);
Step execBulkCommit(Warp &warp, const Inst &inst);
Step execBulkWait(Warp &warp, const Inst &inst);

} // namespace mpcore::emulator

#endif
