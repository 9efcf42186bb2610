// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements device memory: allocations with bounds, and bytes that are marked as written.

#include "../State/Lanes.h"
#include "../State/Memory.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/MathExtras.h"

#include <bit>
#include <cmath>

using namespace mpcore::emulator;
using llvm::Twine;

/// Visits bits `from` to `to` of an array of bytes, the bits of a byte at once, until one fails.
template <class F> static bool forBits(uint64_t from, uint64_t to, F &&visit) {
  for (uint64_t at = from; at < to;) {
    unsigned bit = at & 7, n = std::min<uint64_t>(8 - bit, to - at);
    if (!visit(at >> 3, uint8_t(((1u << n) - 1) << bit)))
      return false;
    at += n;
  }
  return true;
}

bool Allocation::isWritten(uint64_t offset, uint64_t bytes) const {
  return allWritten.load(std::memory_order_relaxed) ||
         forBits(offset, offset + bytes, [&](uint64_t byte, uint8_t mask) {
           return (written[byte].load(std::memory_order_relaxed) & mask) == mask;
         });
}

void Allocation::markWritten(uint64_t offset, uint64_t bytes) {
  if (allWritten.load(std::memory_order_relaxed))
    return;
  forBits(offset, offset + bytes, [&](uint64_t byte, uint8_t mask) {
    if ((written[byte].load(std::memory_order_relaxed) & mask) != mask)
      written[byte].fetch_or(mask, std::memory_order_relaxed);
    return true;
  });
}

void Allocation::markTouched(uint64_t offset, uint64_t bytes, uint32_t cluster) {
  for (uint64_t s = offset / kSectorBytes; s <= (offset + bytes - 1) / kSectorBytes; ++s) {
    uint32_t before = touched[s].load(std::memory_order_relaxed);
    while (before != cluster && before != kSharedSector &&
           !touched[s].compare_exchange_weak(before, before ? kSharedSector : cluster,
                                             std::memory_order_relaxed))
      ;
  }
}

bool GlobalMemory::beginTouched() {
  for (auto &[base, a] : allocations) {
    const uint64_t sectors = llvm::divideCeil(a->size, kSectorBytes);
    a->touched.reset(
        static_cast<std::atomic<uint32_t> *>(std::calloc(sectors + 1, sizeof(uint32_t))));
    if (!a->touched)
      return false;
  }
  return true;
}

uint64_t GlobalMemory::endTouched(double scale) {
  uint64_t all = 0;
  for (auto &[base, a] : allocations) {
    const uint64_t sectors = llvm::divideCeil(a->size, kSectorBytes);
    uint64_t ofOne = 0, ofSeveral = 0;
    for (uint64_t s = 0; a->touched && s < sectors; ++s)
      if (uint32_t cluster = a->touched[s].load(std::memory_order_relaxed))
        ++(cluster == kSharedSector ? ofSeveral : ofOne);
    all += std::min<uint64_t>(std::llround(double(ofOne) * scale) + ofSeveral, sectors);
    a->touched.reset();
  }
  return all;
}

Allocation *GlobalMemory::create(uint64_t base, uint64_t size, llvm::StringRef name) {
  auto a = std::make_unique<Allocation>();
  a->base = base;
  a->size = size;
  a->data.reset(static_cast<uint8_t *>(std::calloc(size + 16, 1)));
  a->written.reset(static_cast<std::atomic<uint8_t> *>(std::calloc(size / 8 + 1, 1)));
  if (!a->data || !a->written)
    return nullptr;
  a->name = name.str();
  return (allocations[base] = std::move(a)).get();
}

uint64_t GlobalMemory::reserve(uint64_t size, uint64_t align) {
  uint64_t at = llvm::alignTo(next, std::max<uint64_t>(256, align));
  next = at + std::max<uint64_t>(size, 1) + 256; // a gap that belongs to nobody
  return at;
}

bool GlobalMemory::destroy(uint64_t base) { return allocations.erase(base) != 0; }

Allocation *GlobalMemory::find(uint64_t address) {
  auto it = allocations.upper_bound(address);
  if (it == allocations.begin())
    return nullptr;
  Allocation *a = std::prev(it)->second.get();
  return address - a->base < a->size ? a : nullptr;
}

std::string GlobalMemory::describe(uint64_t address, uint64_t bytes) {
  auto it = allocations.upper_bound(address);
  std::string text = (Twine(bytes) + " bytes at 0x" + llvm::utohexstr(address)).str();
  if (it == allocations.begin())
    return text + " lie in no allocation";
  Allocation *a = std::prev(it)->second.get();
  return (text + (address - a->base < a->size ? " reach past the end of " : " lie beyond ") +
          (a->name.empty() ? Twine("the allocation") : "'" + Twine(a->name) + "'") + " of " +
          Twine(a->size) + " bytes at 0x" + llvm::utohexstr(a->base) + " (offset " +
          Twine(address - a->base) + ")")
      .str();
}

unsigned mpcore::emulator::globalSectors(const uint64_t *addresses, uint32_t mask, unsigned bytes) {
  // Mostly all lie within 64 sectors: a bit each.
  uint64_t low = ~uint64_t(0), high = 0;
  for (uint32_t m = mask; m; m &= m - 1) {
    uint64_t sector = addresses[std::countr_zero(m)] >> 5;
    low = std::min(low, sector);
    high = std::max(high, sector);
  }
  if (high - low < 64) {
    uint64_t bits = 0;
    for (uint32_t m = mask; m; m &= m - 1)
      bits |= uint64_t(1) << ((addresses[std::countr_zero(m)] >> 5) - low);
    return std::popcount(bits) * (bytes > 32 ? bytes / 32 : 1);
  }
  uint64_t seen[kLanes];
  unsigned count = 0;
  uint64_t last = ~uint64_t(0);
  for (; mask; mask &= mask - 1) {
    uint64_t address = addresses[std::countr_zero(mask)];
    uint64_t sector = address >> 5;
    if (sector == last)
      continue;
    last = sector;
    bool isNew = true;
    // Lanes mostly rise: look at the newest first.
    for (unsigned k = count; k-- > 0 && isNew;)
      isNew = seen[k] != sector;
    if (isNew)
      seen[count++] = sector;
  }
  return count * (bytes > 32 ? bytes / 32 : 1);
}

bool mpcore::emulator::resolveGlobal(Warp &w, const Inst &inst, uint64_t address, uint64_t bytes,
                                     Access access, uint32_t lane, uint8_t *&pointer) {
  Allocation *a = w.lastAllocation;
  if (!a || address - a->base >= a->size) {
    a = w.launch->global->find(address);
    if (a)
      w.lastAllocation = a;
  }
  if (!a || bytes > a->size - (address - a->base)) {
    w.fault(FaultKind::OutOfBounds, inst, w.launch->global->describe(address, bytes), lane,
            "global", address);
    return false;
  }
  uint64_t offset = address - a->base;
  if (access != Access::Write && w.launch->options.checkUninitialized &&
      !a->isWritten(offset, bytes)) {
    w.fault(FaultKind::Uninitialized, inst,
            "nobody wrote all of the " + Twine(bytes) + " bytes at offset " + Twine(offset) +
                " of the allocation of " + Twine(a->size) + " bytes",
            lane, "global", address);
    return false;
  }
  if (access != Access::Read) {
    if (a->readOnly) {
      w.fault(FaultKind::OutOfBounds, inst, "write to constant memory '" + Twine(a->name) + "'",
              lane, "const", address);
      return false;
    }
    a->markWritten(offset, bytes);
  }
  if (a->touched && bytes)
    a->markTouched(offset, bytes, w.block->clusterTag);
  pointer = a->data.get() + offset;
  return true;
}
