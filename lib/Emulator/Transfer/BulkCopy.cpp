// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.async.bulk and cp.async.bulk.tensor (tiled mode): global to shared with an mbarrier, shared to
// global with bulk groups, between the blocks of a cluster, and reductions.

#include "BulkCopy.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>

using namespace mpcore::emulator;
using llvm::Twine;

// The tensor map a generic address points at: a kernel parameter or global memory.
static std::optional<TensorMap> mapAt(Warp &w, const Inst &i, uint64_t address, unsigned lane) {
  const uint8_t *bytes = nullptr;
  if (address - kParamWindow < kWindowBytes) {
    uint64_t offset = address - kParamWindow;
    if (offset + 128 <= w.launch->params.size())
      bytes = w.launch->params.data() + offset;
  } else {
    uint8_t *p;
    if (!resolveGlobal(w, i, address, 128, Access::Read, lane, p))
      return std::nullopt;
    bytes = p;
  }
  std::optional<TensorMap> map = bytes ? TensorMap::decode(bytes) : std::nullopt;
  if (!map)
    w.fault(FaultKind::Misuse, i, "there is no valid tensor map at this address", lane, "generic",
            address);
  return map;
}

// fn(offset in the copy, global address or 0 when outside, bytes) for the runs of elements of one
// row, from coordinates on.
template <class F> static bool forRow(const TensorMap &m, uint64_t to, const int64_t *at, F &&fn) {
  const unsigned e = m.elementBytes();
  const int64_t length = m.rowElements();
  uint64_t base = m.address;
  bool inside = true;
  for (unsigned d = 1; d < m.rank; ++d) {
    inside &= at[d] >= 0 && uint64_t(at[d]) < m.dims[d];
    base += uint64_t(at[d]) * m.strides[d - 1];
  }
  int64_t first = std::clamp<int64_t>(-at[0], 0, length);
  int64_t last = std::clamp<int64_t>(int64_t(m.dims[0]) - at[0], first, length);
  if (!inside)
    first = last = 0;
  if (first > 0 && !fn(to, uint64_t(0), uint32_t(first * e)))
    return false;
  if (last > first &&
      !fn(to + first * e, base + uint64_t(at[0] + first) * e, uint32_t((last - first) * e)))
    return false;
  return last >= length || fn(to + last * e, uint64_t(0), uint32_t((length - last) * e));
}

/// The rows of a tile.
template <class F> static bool forTile(const TensorMap &m, const int64_t *at, F &&fn) {
  const uint64_t row = uint64_t(m.box[0]) * m.elementBytes(), rows = m.boxBytes() / row;
  int64_t here[5] = {at[0]};
  for (uint64_t r = 0; r < rows; ++r) {
    uint64_t rest = r;
    for (unsigned d = 1; d < m.rank; rest /= m.box[d], ++d)
      here[d] = at[d] + int64_t(rest % m.box[d]);
    if (!forRow(m, r * row, here, fn))
      return false;
  }
  return true;
}

/// The pixels of an im2col copy: a row each.
template <class F>
static bool forPixels(const TensorMap &m, const int64_t *at, const int64_t *offsets, F &&fn) {
  const uint64_t row = uint64_t(m.channels) * m.elementBytes();
  int64_t corner[5], here[5];
  std::copy(at, at + m.rank, corner);
  for (uint32_t p = 0; p < m.pixels; ++p) {
    std::copy(corner, corner + m.rank, here);
    for (unsigned d = 0; d + 2 < m.rank; ++d)
      here[d + 1] += offsets[d];
    if (!forRow(m, p * row, here, fn))
      return false;
    unsigned d = 1;
    for (; d + 1 < m.rank; ++d) {
      corner[d] += m.elementStrides[d];
      if (corner[d] < int64_t(m.dims[d]) + m.upper[d - 1])
        break;
      corner[d] = m.lower[d - 1];
    }
    if (d + 1 == m.rank)
      ++corner[d];
  }
  return true;
}

template <class F>
static bool forRows(Warp &w, const BulkOp &op, const TensorMap &m, unsigned lane, F &&fn) {
  int64_t at[5] = {}, offsets[3] = {};
  for (unsigned d = 0; d < op.rank; ++d)
    at[d] = w.lanes<int32_t>(op.coords[d])[lane];
  for (unsigned d = 0; d < op.offsetCount; ++d)
    offsets[d] = w.lanes<uint32_t>(op.offsets[d])[lane] & 0xffff;
  return m.im2col ? forPixels(m, at, offsets, fn) : forTile(m, at, fn);
}

static void fillOutside(const TensorMap &m, uint8_t *to, uint32_t bytes) {
  std::memset(to, m.nanFill ? 0xff : 0, bytes);
}

// Pieces of 16 bytes at most, so that a swizzle keeps them whole.
static void pieces(BulkCopy &copy, TensorMap::Swizzle swizzle, uint32_t dst) {
  const uint32_t size = copy.data.size();
  if (swizzle == TensorMap::Swizzle::None) {
    copy.pieces.push_back({dst, 0, size});
    return;
  }
  for (uint32_t k = 0; k < size; k += 16)
    copy.pieces.push_back({swizzled(swizzle, dst + k), k, std::min(16u, size - k)});
}

bool mpcore::emulator::sendCopy(Warp &w, const Inst &i, Block &target, uint32_t barrier,
                                BulkCopy copy, unsigned lane) {
  if (!target.mbarriers.count(barrier)) {
    w.fault(FaultKind::Uninitialized, i, "no mbarrier is initialised at offset " + Twine(barrier),
            lane, "shared", barrier);
    return false;
  }
  for (const BulkCopy::Piece &p : copy.pieces)
    if (!beginAsyncWrite(w, i, target, p.dst, p.bytes, lane))
      return false;
  copy.barrier = barrier;
  copy.ownBlock = &target == w.block;
  copy.agent = w.asyncAgent();
  if (target.shared.races.enabled())
    copy.clock = w.block->shared.races.own(w.asyncAgent());
  target.bulk.push_back(std::move(copy));
  ++target.progress;
  return true;
}

// To the destination and its mbarrier, or to the same places in every block of the multicast mask.
static bool deliver(Warp &w, const Inst &i, const BulkOp &op, BulkCopy copy, uint64_t dst,
                    uint64_t bar, unsigned lane) {
  uint32_t dstOffset, barOffset;
  Block *target = sharedBlock(w, i, sharedAddress(dst), op.ownDestination, lane, dstOffset);
  Block *barBlock =
      target ? sharedBlock(w, i, sharedAddress(bar), op.ownDestination, lane, barOffset) : nullptr;
  auto bad = [&](const char *message) {
    w.fault(FaultKind::Misuse, i, message, lane);
    return false;
  };
  if (!barBlock)
    return false;
  if (target != barBlock)
    return bad("the destination and its mbarrier lie in different blocks");
  uint32_t ranks = 1u << target->rank;
  if (op.multicast) {
    ranks = w.lanes<uint32_t>(op.mask)[lane] & 0xffff;
    if (w.block->cluster->size() < 16 && ranks >> w.block->cluster->size())
      return bad("the multicast mask names blocks beyond the cluster");
  }
  if (!op.reduction)
    pieces(copy, copy.swizzle.value_or(TensorMap::Swizzle::None), dstOffset);
  for (; ranks; ranks &= ranks - 1) {
    Block *b = (*w.block->cluster)[std::countr_zero(ranks)];
    if (b != w.block && b->done())
      return bad("a block that the copy goes to has ended");
    if (!sendCopy(w, i, *b, barOffset, copy, lane))
      return false;
  }
  return true;
}

static void countGlobal(Warp &w, uint64_t bytes) {
  LaunchStats &stats = w.block->counters->stats;
  stats.globalBytes += bytes;
  stats.globalSectors += (bytes + 31) / 32;
}

static bool plainAddresses(Warp &w, const Inst &i, uint64_t a, uint64_t b, uint32_t bytes,
                           unsigned lane) {
  if (!(bytes % 16 || a % 16 || b % 16))
    return true;
  w.fault(FaultKind::Misaligned, i, "addresses and size of a bulk copy are multiples of 16", lane,
          "shared", a);
  return false;
}

static bool mapFits(Warp &w, const Inst &i, const BulkOp &op, const TensorMap &map, uint64_t shared,
                    unsigned lane) {
  if (map.rank != op.rank) {
    w.fault(FaultKind::Misuse, i, "the tensor map has rank " + Twine(unsigned(map.rank)), lane);
    return false;
  }
  if (map.im2col != op.im2col) {
    w.fault(FaultKind::Misuse, i,
            map.im2col ? "the tensor map is one of im2col" : "the tensor map is one of tiles",
            lane);
    return false;
  }
  if (shared % 128) {
    w.fault(FaultKind::Misaligned, i, "a tensor copy's place in shared memory is a multiple of 128",
            lane, "shared", shared);
    return false;
  }
  return true;
}

// Shared memory of one block onto that of another: at once, as atomics do; what waits is told
// later.
static bool reduceIntoShared(Warp &w, const Inst &i, const BulkOp &op, uint64_t dst,
                             const uint8_t *from, uint32_t bytes, unsigned lane) {
  uint32_t offset;
  Block *target = sharedBlock(w, i, sharedAddress(dst), false, lane, offset);
  if (!target || !touchShared(w, i, *target, offset, bytes, Access::Atomic, {w.asyncAgent(), lane}))
    return false;
  const CombineFn fn = combineFor(op.type, *op.reduction);
  for (uint32_t k = 0; k < bytes; k += bitWidth(op.type) / 8)
    fn(target->shared.data.data() + offset + k, from + k, /*shared=*/true);
  return true;
}

static bool loadOne(Warp &w, const Inst &i, const BulkOp &op, unsigned l) {
  BulkCopy copy;
  uint64_t dst = addressOf(w, op.shared, l), other = addressOf(w, op.other, l),
           bar = addressOf(w, op.mbarrier, l);
  LaunchStats &stats = w.block->counters->stats;
  if (!op.rank) {
    uint32_t bytes = w.lanes<uint32_t>(op.size)[l];
    if (!plainAddresses(w, i, dst, other, bytes, l))
      return false;
    if (!bytes)
      return true;
    copy.data.resize(bytes);
    if (op.direction == BulkOp::SharedToShared) {
      uint32_t from;
      if (!sharedBlock(w, i, sharedAddress(other), /*ownOnly=*/true, l, from) ||
          !asyncRead(w, i, from, bytes, w.asyncAgent(), l))
        return false;
      std::memcpy(copy.data.data(), w.block->shared.data.data() + from, bytes);
      if (op.reduction && !reduceIntoShared(w, i, op, dst, copy.data.data(), bytes, l))
        return false;
    } else {
      uint8_t *p;
      if (!resolveGlobal(w, i, other, bytes, Access::Read, l, p))
        return false;
      std::memcpy(copy.data.data(), p, bytes);
      ++stats.globalRequests;
      countGlobal(w, bytes);
    }
    return deliver(w, i, op, std::move(copy), dst, bar, l);
  }
  auto map = mapAt(w, i, other, l);
  if (!map || !mapFits(w, i, op, *map, dst, l))
    return false;
  copy.data.resize(map->boxBytes());
  ++stats.globalRequests;
  bool fine = forRows(w, op, *map, l, [&](uint64_t to, uint64_t from, uint32_t bytes) {
    if (!from) {
      fillOutside(*map, copy.data.data() + to, bytes);
      return true;
    }
    uint8_t *p;
    if (!resolveGlobal(w, i, from, bytes, Access::Read, l, p))
      return false;
    std::memcpy(copy.data.data() + to, p, bytes);
    countGlobal(w, bytes);
    return true;
  });
  copy.swizzle = map->swizzle;
  return fine && deliver(w, i, op, std::move(copy), dst, bar, l);
}

static bool storeRange(Warp &w, const Inst &i, const BulkOp &op, uint64_t to, const uint8_t *from,
                       uint32_t bytes, Type type, unsigned lane) {
  uint8_t *p;
  if (!resolveGlobal(w, i, to, bytes, op.reduction ? Access::Atomic : Access::Write, lane, p))
    return false;
  if (w.launch->options.watch.bytes)
    traceGlobal(w, i, to, bytes, lane);
  countGlobal(w, bytes);
  if (!op.reduction) {
    std::memcpy(p, from, bytes);
    return true;
  }
  const bool bits =
      *op.reduction == Rmw::And || *op.reduction == Rmw::Or || *op.reduction == Rmw::Xor;
  if (bits && !isFloat(type))
    type = bitWidth(type) == 32 ? Type::B32 : bitWidth(type) == 64 ? Type::B64 : type;
  CombineFn fn = combineFor(type, *op.reduction);
  if (!fn) {
    w.fault(FaultKind::Misuse, i,
            "this reduction does not exist for elements of ." + typeName(type), lane);
    return false;
  }
  for (uint32_t k = 0; k < bytes; k += bitWidth(type) / 8)
    fn(p + k, from + k, /*shared=*/false);
  return true;
}

static Type elementType(TensorMap::Type t) {
  static constexpr Type types[] = {Type::U8,  Type::U16,  Type::U32, Type::S32,
                                   Type::U64, Type::S64,  Type::F16, Type::F32,
                                   Type::F64, Type::BF16, Type::TF32};
  return types[unsigned(t)];
}

static bool storeOne(Warp &w, const Inst &i, const BulkOp &op, unsigned l) {
  uint32_t src;
  uint64_t other = addressOf(w, op.other, l);
  if (!sharedBlock(w, i, sharedAddress(addressOf(w, op.shared, l)), /*ownOnly=*/true, l, src))
    return false;
  const uint8_t *shared = w.block->shared.data.data();
  ++w.block->counters->stats.globalRequests;
  if (!op.rank) {
    uint32_t bytes = w.lanes<uint32_t>(op.size)[l];
    return plainAddresses(w, i, src, other, bytes, l) &&
           (!bytes || (asyncRead(w, i, src, bytes, w.asyncAgent(), l) &&
                       storeRange(w, i, op, other, shared + src, bytes, op.type, l)));
  }
  auto map = mapAt(w, i, other, l);
  if (!map || !mapFits(w, i, op, *map, src, l))
    return false;
  uint32_t bytes = map->boxBytes();
  std::vector<uint8_t> data(bytes);
  for (uint32_t k = 0; k < bytes; k += 16) {
    uint32_t at = swizzled(map->swizzle, src + k);
    if (!asyncRead(w, i, at, 16, w.asyncAgent(), l))
      return false;
    std::memcpy(data.data() + k, shared + at, 16);
  }
  return forRows(w, op, *map, l, [&](uint64_t from, uint64_t to, uint32_t n) {
    return !to || storeRange(w, i, op, to, data.data() + from, n, elementType(map->type), l);
  });
}

Step mpcore::emulator::execBulk(Warp &w, const Inst &i) {
  const BulkOp &op = *static_cast<const BulkOp *>(i.aux);
  beginAsync(w, w.asyncAgent());
  for (uint32_t m = w.exec; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    if (!(op.direction == BulkOp::Store ? storeOne(w, i, op, l) : loadOne(w, i, op, l)))
      return Step::Fault;
  }
  return Step::Next;
}

Step mpcore::emulator::execBulkCommit(Warp &w, const Inst &) {
  AsyncGroup g;
  g.agent = w.asyncAgent();
  g.clock = w.block->shared.races.enabled() ? w.block->shared.races.own(g.agent) : 0;
  g.lanes = w.exec;
  w.bulkGroups.push_back(g);
  return Step::Next;
}

// Each thread waits for its own groups, all but the last ones.
Step mpcore::emulator::execBulkWait(Warp &w, const Inst &i) {
  for (uint32_t m = w.exec; m; m &= m - 1) {
    const uint32_t lane = m & -m;
    int64_t later = 0;
    for (auto g = w.bulkGroups.rbegin(); g != w.bulkGroups.rend(); ++g)
      if (g->lanes & lane && ++later > i.imm) {
        g->lanes &= ~lane;
        if (w.block->shared.races.enabled())
          w.block->shared.races.learn(w.index, g->agent, g->clock);
      }
  }
  llvm::erase_if(w.bulkGroups, [](const AsyncGroup &g) { return !g.lanes; });
  return Step::Next;
}
