// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses of lanes to every space: bounds, alignment, initialisation, races, bank conflicts.

#include "../State/Lanes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>

using namespace mpcore::emulator;
using llvm::Twine;

void SharedMemory::reset(uint32_t bytes, unsigned agents, unsigned granule) {
  data.assign(bytes, 0xCD);
  state.assign(bytes, kNever);
  races.reset(agents, bytes, granule);
  swizzles.clear();
}

std::optional<TensorMap::Swizzle> SharedMemory::swizzleAt(uint32_t offset) const {
  if (swizzles.empty() || !swizzles[offset / 16])
    return std::nullopt;
  return TensorMap::Swizzle(swizzles[offset / 16] - 1);
}

void SharedMemory::setSwizzle(uint32_t offset, uint32_t bytes,
                              std::optional<TensorMap::Swizzle> swizzle) {
  if (swizzles.empty()) {
    if (!swizzle)
      return;
    swizzles.assign((data.size() + 15) / 16, 0);
  }
  uint8_t tag = swizzle ? 1 + uint8_t(*swizzle) : 0;
  std::fill(swizzles.begin() + offset / 16, swizzles.begin() + (offset + bytes + 15) / 16, tag);
}

void mpcore::emulator::sharedWavefronts(const uint32_t *offsets, uint32_t mask, unsigned bytes,
                                        unsigned &needed, unsigned &least) {
  // Accesses of 8 bytes go by half warps, of 16 by quarters.
  if (bytes <= 4) {
    // The usual case: no two lanes want different words of one bank.
    uint32_t word[32], used = 0;
    bool conflict = false;
    for (uint32_t m = mask; m && !conflict; m &= m - 1) {
      uint32_t wanted = offsets[std::countr_zero(m)] >> 2, bank = wanted & 31;
      conflict = (used >> bank & 1) && word[bank] != wanted;
      word[bank] = wanted;
      used |= 1u << bank;
    }
    if (!conflict) {
      needed = least = mask != 0;
      return;
    }
  }
  unsigned phase = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
  unsigned words = std::max(1u, bytes / 4);
  needed = least = 0;
  for (unsigned first = 0; first < kLanes; first += phase) {
    uint32_t part = mask >> first & (phase == 32 ? ~0u : (1u << phase) - 1);
    if (!part)
      continue;
    uint32_t seen[32][8];
    uint8_t count[32] = {};
    unsigned worst = 0;
    for (; part; part &= part - 1) {
      uint32_t word = offsets[first + std::countr_zero(part)] >> 2;
      for (unsigned k = 0; k < words; ++k) {
        unsigned bank = (word + k) & 31, n = count[bank];
        bool isNew = true;
        for (unsigned j = 0; j < std::min(n, 8u) && isNew; ++j)
          isNew = seen[bank][j] != word + k;
        if (!isNew)
          continue;
        if (n < 8)
          seen[bank][n] = word + k;
        count[bank] = ++n;
        worst = std::max(worst, n);
      }
    }
    needed += worst;
    least += 1;
  }
}

static std::string nameOf(Warp &w, unsigned agent, unsigned lane) {
  unsigned warps = w.block->warps.size();
  if (agent >= 2 * warps)
    return ("a wgmma of warpgroup " + Twine(agent - 2 * warps)).str();
  if (agent >= warps)
    return ("an asynchronous operation of warp " + Twine(agent - warps)).str();
  return ("warp " + Twine(agent) + " lane " + Twine(lane)).str();
}

/// Returns the bytes that a lane stores as the k-th element.
static const uint8_t *storedBytes(Warp &w, const Inst &inst, unsigned k, unsigned lane) {
  const size_t stride = inst.size == 16 ? 16 : inst.flags & kWideData ? 8 : 4;
  return reinterpret_cast<const uint8_t *>(
             w.lanes<uint32_t>(inst.count == 1 ? inst.dst : inst.list[k])) +
         stride * lane;
}

/// True if a lane stores what is there already: then it does not matter who stores first.
static bool storesWhatIsThere(Warp &w, const Inst &inst, unsigned lane, const uint8_t *there) {
  for (unsigned k = 0; k < inst.count; ++k)
    if (!(inst.flags & kRegisterStore) ||
        std::memcmp(there + k * inst.size, storedBytes(w, inst, k, lane), inst.size) != 0)
      return false;
  return true;
}

/// True if two lanes store the same value to the same place in this very instruction: then it does
/// not matter which of them does (PTX ISA, memory consistency model: what is stored is one of the
/// values).
static bool storeTheSame(Warp &w, const Inst &inst, unsigned x, unsigned y) {
  if (!(inst.flags & kRegisterStore) || !(w.exec >> y & 1))
    return false;
  uint64_t addresses[kLanes];
  laneAddresses(w, inst.a, inst.imm, inst.flags & kWideAddress, addresses);
  for (unsigned k = 0; k < inst.count; ++k)
    if (std::memcmp(storedBytes(w, inst, k, x), storedBytes(w, inst, k, y), inst.size) != 0)
      return false;
  return addresses[x] == addresses[y];
}

bool mpcore::emulator::checkShared(Warp &w, const Inst &inst, Block &block, uint32_t offset,
                                   uint32_t bytes, Access access, Actor who, bool sync) {
  SharedMemory &shared = block.shared;
  unsigned lane = who.lane;
  if (offset > shared.size() || bytes > shared.size() - offset) {
    w.fault(FaultKind::OutOfBounds, inst,
            Twine(bytes) + " bytes at offset " + Twine(offset) + " of " + Twine(shared.size()) +
                " bytes of shared memory",
            lane, "shared", offset);
    return false;
  }
  uint8_t *state = shared.state.data() + offset;
  auto allWritten = [&] {
    uint64_t a = 0x0101010101010101, b = a;
    if (bytes == 4)
      return std::memcmp(state, &a, 4) == 0;
    if (bytes == 8)
      return std::memcmp(state, &a, 8) == 0;
    if (bytes != 16)
      return false;
    std::memcpy(&a, state, 8), std::memcpy(&b, state + 8, 8);
    return a == b && a == 0x0101010101010101;
  };
  static_assert(kWritten == 1);
  for (uint32_t k = allWritten() ? bytes : 0; k < bytes; ++k) {
    if (state[k] == (access == Access::Mbarrier ? kMbarrier : kWritten))
      continue;
    if (state[k] == kMbarrier) {
      w.fault(FaultKind::Misuse, inst,
              "byte " + Twine(offset + k) +
                  " belongs to an mbarrier, which is no ordinary memory until mbarrier.inval",
              lane, "shared", offset);
      return false;
    }
    if (state[k] == kInFlight) {
      w.fault(FaultKind::InFlight, inst,
              "byte " + Twine(offset + k) +
                  " is the destination of an asynchronous copy that was not waited for",
              lane, "shared", offset);
      return false;
    }
    if (access != Access::Write && w.launch->options.checkUninitialized) {
      w.fault(FaultKind::Uninitialized, inst, "nobody wrote byte " + Twine(offset + k), lane,
              "shared", offset);
      return false;
    }
    if (access != Access::Read)
      state[k] = kWritten;
  }
  const bool reads = access == Access::Read || access == Access::Mbarrier;
  if (!reads)
    shared.setSwizzle(offset, bytes, std::nullopt);
  if (w.launch->options.watch.bytes)
    traceShared(w, inst, block, offset, bytes, access, who);
  if (!shared.races.enabled() || &block != w.block)
    return true;
  RaceDetector::Conflict c = sync || access == Access::Atomic
                                 ? shared.races.atomic(offset, bytes, who)
                             : reads ? shared.races.read(offset, bytes, who)
                                     : shared.races.write(offset, bytes, who);
  bool repeats = c.found && access == Access::Write && c.otherWrites &&
                 (c.agent == who.agent
                      ? storeTheSame(w, inst, who.lane, c.lane)
                      : c.agent < block.warps.size() &&
                            storesWhatIsThere(w, inst, who.lane, shared.data.data() + offset));
  if (!c.found || repeats)
    return true;
  w.fault(FaultKind::Race, inst,
          Twine(reads ? "reads" : "writes") + " what " + nameOf(w, c.agent, c.lane) +
              (c.otherWrites ? " wrote" : " read") + " with no barrier between",
          lane, "shared", offset);
  return false;
}

bool mpcore::emulator::touchShared(Warp &w, const Inst &inst, Block &block, uint32_t offset,
                                   uint32_t bytes, Access access, Actor who) {
  return checkShared(w, inst, block, offset, bytes, access, who, /*sync=*/false);
}

Block *mpcore::emulator::sharedBlock(Warp &w, const Inst &inst, uint64_t address, bool ownOnly,
                                     unsigned lane, uint32_t &offset) {
  uint64_t rank = address >> kClusterShift;
  offset = uint32_t(address) & ((1u << kClusterShift) - 1);
  if (rank == 0)
    return w.block;
  auto bad = [&](const Twine &message) {
    w.fault(FaultKind::OutOfBounds, inst, message, lane, "shared", address);
    return nullptr;
  };
  if (!w.block->cluster || rank > w.block->cluster->size())
    return bad("shared address 0x" + Twine::utohexstr(address) + " lies beyond the cluster");
  Block *block = (*w.block->cluster)[rank - 1];
  if (block != w.block && ownOnly)
    return bad("an address of block " + Twine(rank - 1) +
               " of the cluster, where the instruction reaches the own block only");
  if (block != w.block && block->done())
    return bad("block " + Twine(rank - 1) +
               " of the cluster has ended, and its shared memory with it");
  return block;
}
