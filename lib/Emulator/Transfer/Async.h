// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared between cp.async, bulk copies, mbarriers and wgmma.

#ifndef MP_LIB_EMULATOR_TRANSFER_ASYNC_H
#define MP_LIB_EMULATOR_TRANSFER_ASYNC_H

#include "../Decode/Decoder.h"
#include "../State/Lanes.h"

namespace mpcore::emulator {

/// Marks [offset, offset + bytes) as the destination of an asynchronous copy issued by the warp;
/// false after a fault.
bool beginAsyncWrite(Warp &warp, const Inst &inst, Block &target, uint32_t offset, uint32_t bytes,
                     unsigned lane);
/// Checks that the async proxy may read the range: initialised, ordered, and fenced where ordinary
/// stores wrote it.
bool asyncRead(Warp &warp, const Inst &inst, uint32_t offset, uint32_t bytes, unsigned agent,
               unsigned lane);
/// The bytes arrive.
void finishAsyncWrite(Block &target, uint32_t offset, const uint8_t *data, uint32_t bytes);
/// A new step of the agent: it knows what the warp knows.
void beginAsync(Warp &warp, unsigned agent);

/// Copies of the lane's groups below `end` arrive, and the warp knows it.
void finishCopies(Warp &warp, unsigned lane, uint32_t end, bool tellWarp);

/// A generic or shared address as one of the shared window.
inline uint64_t sharedAddress(uint64_t address) {
  return address - kSharedWindow < kWindowBytes ? address - kSharedWindow : address;
}

/// The mbarrier at the address of a lane; null after a fault. `ownOnly`: it has to be the executing
/// block's.
Mbarrier *mbarrierAt(Warp &warp, const Inst &inst, uint64_t address, bool ownOnly, unsigned lane,
                     Block *&owner, uint32_t &offset);
/// `count` arrivals. The arriving side's knowledge goes into the barrier.
void mbarrierArrive(Block &owner, Mbarrier &barrier, uint32_t count);
/// Changes the bytes expected; a phase may complete.
void mbarrierTx(Block &owner, Mbarrier &barrier, int64_t delta);

/// The address of an operand [reg + offset] outside Inst::a: kept for a run-time look.
struct AddressOperand {
  Reg base;
  int64_t offset = 0;
  bool wide = false;
};
bool addressOperand(Decoder &d, const syntax::Operand &operand, MemSpace space,
                    AddressOperand &out);
uint64_t addressOf(Warp &warp, const AddressOperand &operand, unsigned lane);

/// Sends bytes on their way to shared memory of `target`, where they arrive when the mbarrier is
/// next looked at. False after a fault.
bool sendCopy(Warp &warp, const Inst &inst, Block &target, uint32_t barrier, BulkCopy copy,
              unsigned lane);

void decodeBulk(Decoder &d);
void decodeReduceBulk(Decoder &d);
void decodeTensorMap(Decoder &d);
/// st.async and red.async, without these words.
void decodeAsyncStore(Decoder &d);
void decodeAsyncReduction(Decoder &d);

} // namespace mpcore::emulator

#endif
