// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the lane addresses of a memory instruction to host pointers, for every state space.

#include "../Decode/Decoder.h"
#include "../State/Lanes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::emulator;
using llvm::Twine;

static bool aligned(Warp &w, const Inst &inst, const uint64_t *addresses, uint32_t mask,
                    unsigned bytes, llvm::StringRef space) {
  uint64_t any = 0;
  forLanes(mask, [&](unsigned l) { any |= addresses[l]; });
  if ((any & (bytes - 1)) == 0)
    return true;
  for (; mask; mask &= mask - 1) {
    unsigned l = std::countr_zero(mask);
    if ((addresses[l] & (bytes - 1)) == 0)
      continue;
    w.fault(FaultKind::Misaligned, inst,
            "address 0x" + llvm::utohexstr(addresses[l]) + " is no multiple of " + Twine(bytes), l,
            space, addresses[l]);
    return false;
  }
  return true;
}

static bool sharedLanes(Warp &w, const Inst &inst, const uint64_t *addresses, uint32_t mask,
                        unsigned bytes, Access access, bool ownOnly, uint8_t **pointers) {
  if (!aligned(w, inst, addresses, mask, bytes, "shared"))
    return false;
  LaunchStats &stats = w.block->counters->stats;
  bool sync = inst.flags & kOrderedAccess;
  uint32_t offsets[kLanes];
  uint64_t last = ~uint64_t(0);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    Block *block = w.block;
    offsets[l] = uint32_t(addresses[l]);
    if (addresses[l] >> kClusterShift &&
        !(block = sharedBlock(w, inst, addresses[l], ownOnly, l, offsets[l])))
      return false;
    bool repeated =
        access == Access::Read && addresses[l] == last && !w.launch->options.watch.bytes;
    last = addresses[l];
    if (!repeated && !checkShared(w, inst, *block, offsets[l], bytes, access, {w.index, l}, sync))
      return false;
    pointers[l] = block->shared.data.data() + offsets[l];
  }
  ++stats.sharedRequests;
  if (w.launch->options.countConflicts) {
    unsigned needed, least;
    sharedWavefronts(offsets, mask, bytes, needed, least);
    stats.sharedWavefronts += needed;
    stats.bankConflicts += needed - least;
  }
  return true;
}

static bool globalLanes(Warp &w, const Inst &inst, const uint64_t *addresses, uint32_t mask,
                        unsigned bytes, Access access, uint8_t **pointers) {
  if (!aligned(w, inst, addresses, mask, bytes, "global"))
    return false;
  // Usually all lanes lie in one allocation whose bytes are all written.
  uint64_t low = ~uint64_t(0), high = 0;
  for (uint32_t m = mask; m; m &= m - 1) {
    uint64_t address = addresses[std::countr_zero(m)];
    low = std::min(low, address);
    high = std::max(high, address);
  }
  Allocation *a = w.lastAllocation;
  if (!a || low - a->base >= a->size) {
    a = w.launch->global->find(low);
    if (a)
      w.lastAllocation = a;
  }
  if (a && high - a->base < a->size && bytes <= a->size - (high - a->base) &&
      a->allWritten.load(std::memory_order_relaxed) && (access == Access::Read || !a->readOnly)) {
    forLanes(mask, [&](unsigned l) { pointers[l] = a->data.get() + (addresses[l] - a->base); });
    if (a->touched)
      forLanes(mask, [&](unsigned l) {
        a->markTouched(addresses[l] - a->base, bytes, w.block->clusterTag);
      });
  } else {
    for (uint32_t m = mask; m; m &= m - 1) {
      unsigned l = std::countr_zero(m);
      if (!resolveGlobal(w, inst, addresses[l], bytes, access, l, pointers[l]))
        return false;
    }
  }
  if (access != Access::Read && w.launch->options.watch.bytes)
    forLanes(mask, [&](unsigned l) { traceGlobal(w, inst, addresses[l], bytes, l); });
  LaunchStats &stats = w.block->counters->stats;
  ++stats.globalRequests;
  stats.globalBytes += uint64_t(bytes) * std::popcount(mask);
  if (w.launch->options.countConflicts)
    stats.globalSectors += globalSectors(addresses, mask, bytes);
  return true;
}

static bool localLanes(Warp &w, const Inst &inst, const uint64_t *addresses, uint32_t mask,
                       unsigned bytes, uint8_t **pointers) {
  if (!aligned(w, inst, addresses, mask, bytes, "local"))
    return false;
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    uint64_t at = addresses[l];
    if (at > w.localStride || bytes > w.localStride - at) {
      w.fault(FaultKind::OutOfBounds, inst,
              Twine(bytes) + " bytes at offset " + Twine(at) + " of " + Twine(w.localStride) +
                  " bytes of local memory",
              l, "local", at);
      return false;
    }
    pointers[l] = w.local.data() + size_t(l) * w.localStride + at;
  }
  return true;
}

static bool paramLanes(Warp &w, const Inst &inst, const uint64_t *addresses, uint32_t mask,
                       unsigned bytes, Access access, uint8_t **pointers) {
  if (!aligned(w, inst, addresses, mask, bytes, "param"))
    return false;
  std::vector<uint8_t> &params = w.launch->params;
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    if (access != Access::Read || addresses[l] > params.size() ||
        bytes > params.size() - addresses[l]) {
      w.fault(FaultKind::OutOfBounds, inst,
              access != Access::Read ? Twine("write to a kernel parameter")
                                     : Twine(bytes) + " bytes at offset " + Twine(addresses[l]) +
                                           " of " + Twine(params.size()) + " bytes of parameters",
              l, "param", addresses[l]);
      return false;
    }
    pointers[l] = params.data() + addresses[l];
  }
  return true;
}

bool mpcore::emulator::resolveLanes(Warp &w, const Inst &inst, MemSpace space,
                                    const uint64_t *addresses, uint32_t mask, unsigned bytes,
                                    Access access, uint8_t **pointers) {
  switch (space) {
  case MemSpace::Global:
  case MemSpace::Const: return globalLanes(w, inst, addresses, mask, bytes, access, pointers);
  case MemSpace::Shared:
  case MemSpace::SharedCluster:
    return sharedLanes(w, inst, addresses, mask, bytes, access,
                       /*ownOnly=*/space == MemSpace::Shared, pointers);
  case MemSpace::Local: return localLanes(w, inst, addresses, mask, bytes, pointers);
  case MemSpace::Param: return paramLanes(w, inst, addresses, mask, bytes, access, pointers);
  case MemSpace::Generic: break;
  }
  // Generic: each window in turn.
  uint64_t moved[kLanes];
  struct Window {
    uint64_t base;
    MemSpace space;
  };
  uint32_t rest = mask;
  for (Window window : {Window{kSharedWindow, MemSpace::SharedCluster},
                        {kLocalWindow, MemSpace::Local},
                        {kParamWindow, MemSpace::Param}}) {
    uint32_t part = 0;
    for (uint32_t m = rest; m; m &= m - 1) {
      unsigned l = std::countr_zero(m);
      if (addresses[l] - window.base < kWindowBytes) {
        part |= 1u << l;
        moved[l] = addresses[l] - window.base;
      }
    }
    if (part && !resolveLanes(w, inst, window.space, moved, part, bytes, access, pointers))
      return false;
    rest &= ~part;
  }
  return !rest || globalLanes(w, inst, addresses, rest, bytes, access, pointers);
}
