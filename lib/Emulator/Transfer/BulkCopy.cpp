// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.async.bulk and cp.async.bulk.tensor (tiled mode): global to shared with an mbarrier, shared to global with bulk
// groups, and reductions into global memory.

#include "Async.h"
#include "BulkReduction.h"
#include "LoadStore.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>
#include <mutex>

using namespace mp::emulator;
using llvm::Twine;

namespace {
enum class Direction : uint8_t { Load, Store, SharedToShared };

struct BulkOp {
  Direction direction = Direction::Load;
  unsigned rank = 0; // 0: no tensor, a plain range
  AddressOperand shared, other, mbarrier;
  Reg size;
  Reg coords[5];
  Reg mask; // multicast
  bool multicast = false;
  bool reduces = false;
  Reduction reduction = Reduction::Add;
  Type type = Type::None; // of a reduction without a tensor map
};
} // namespace

static uint32_t sharedOffset(uint64_t address) {
  return uint32_t(address >= kSharedWindow ? address - kSharedWindow : address);
}

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
    w.fault(FaultKind::Misuse, i, "there is no valid tensor map at this address", lane, "generic", address);
  return map;
}

// fn(offset in the box, global address or 0 when outside, bytes) for every run of neighbouring elements.
template <class F> static bool forRows(const TensorMap &m, const int64_t *at, F &&fn) {
  const unsigned e = m.elementBytes();
  const uint64_t row = uint64_t(m.box[0]) * e, rows = m.boxBytes() / row;
  for (uint64_t r = 0; r < rows; ++r) {
    uint64_t rest = r, base = m.address;
    bool inside = true;
    for (unsigned d = 1; d < m.rank; ++d) {
      int64_t index = at[d] + int64_t(rest % m.box[d]);
      rest /= m.box[d];
      inside &= index >= 0 && uint64_t(index) < m.dims[d];
      base += uint64_t(index) * m.strides[d - 1];
    }
    int64_t first = std::clamp<int64_t>(-at[0], 0, m.box[0]);
    int64_t last = std::clamp<int64_t>(int64_t(m.dims[0]) - at[0], first, m.box[0]);
    if (!inside)
      first = last = 0;
    if (first > 0 && !fn(r * row, uint64_t(0), uint32_t(first * e)))
      return false;
    if (last > first && !fn(r * row + first * e, base + uint64_t(at[0] + first) * e, uint32_t((last - first) * e)))
      return false;
    if (last < int64_t(m.box[0]) && !fn(r * row + last * e, uint64_t(0), uint32_t((m.box[0] - last) * e)))
      return false;
  }
  return true;
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

static bool deliver(Warp &w, const Inst &i, const BulkOp &op, BulkCopy copy, uint64_t dst, uint64_t bar, unsigned lane) {
  uint32_t ranks = 0;
  if (op.multicast) {
    uint32_t mask = w.lanes<uint32_t>(op.mask)[lane] & 0xffff;
    ranks = mask;
    if (w.block->cluster->size() < 16 && mask >> w.block->cluster->size()) {
      w.fault(FaultKind::Misuse, i, "the multicast mask names blocks beyond the cluster", lane);
      return false;
    }
  }
  uint32_t dstOffset, barOffset;
  Block *target = clusterTarget(w, sharedOffset(dst), dstOffset);
  Block *barBlock = clusterTarget(w, sharedOffset(bar), barOffset);
  if (!target || target != barBlock) {
    w.fault(FaultKind::Misuse, i, "the destination and its mbarrier lie in different blocks", lane);
    return false;
  }
  if (!op.multicast)
    ranks = 1u << target->rank;
  pieces(copy, copy.swizzle.value_or(TensorMap::Swizzle::None), dstOffset);
  copy.barrier = barOffset;
  for (; ranks; ranks &= ranks - 1) {
    Block *b = (*w.block->cluster)[std::countr_zero(ranks)];
    if (!b->mbarriers.count(barOffset)) {
      w.fault(FaultKind::Uninitialized, i, "no mbarrier is initialised at offset " + Twine(barOffset), lane, "shared", bar);
      return false;
    }
    for (const BulkCopy::Piece &p : copy.pieces)
      if (!beginAsyncWrite(w, i, *b, p.dst, p.bytes, lane))
        return false;
    copy.ownBlock = b == w.block;
    copy.agent = w.asyncAgent();
    if (b->shared.races.enabled())
      copy.clock = w.block->shared.races.own(w.asyncAgent());
    b->bulk.push_back(copy);
    ++b->progress;
  }
  return true;
}

static bool loadOne(Warp &w, const Inst &i, const BulkOp &op, unsigned l) {
  BulkCopy copy;
  uint64_t dst = addressOf(w, op.shared, l), other = addressOf(w, op.other, l), bar = addressOf(w, op.mbarrier, l);
  LaunchStats &stats = w.block->counters->stats;
  if (!op.rank) {
    uint32_t bytes = w.lanes<uint32_t>(op.size)[l];
    if (bytes % 16 || dst % 16 || other % 16) {
      w.fault(FaultKind::Misaligned, i, "addresses and size of a bulk copy are multiples of 16", l);
      return false;
    }
    if (!bytes)
      return true;
    copy.data.resize(bytes);
    if (op.direction == Direction::SharedToShared) {
      uint32_t from = sharedOffset(other);
      if (!asyncRead(w, i, from, bytes, w.asyncAgent(), l))
        return false;
      std::memcpy(copy.data.data(), w.block->shared.data.data() + from, bytes);
    } else {
      uint8_t *p;
      if (!resolveGlobal(w, i, other, bytes, Access::Read, l, p))
        return false;
      std::memcpy(copy.data.data(), p, bytes);
      ++stats.globalRequests;
      stats.globalBytes += bytes;
      stats.globalSectors += (bytes + 31) / 32;
    }
    return deliver(w, i, op, std::move(copy), dst, bar, l);
  }
  auto map = mapAt(w, i, other, l);
  if (!map)
    return false;
  if (map->rank != op.rank) {
    w.fault(FaultKind::Misuse, i, "the tensor map has rank " + Twine(unsigned(map->rank)), l);
    return false;
  }
  if (dst % 128) {
    w.fault(FaultKind::Misaligned, i, "the destination of a tensor copy is a multiple of 128", l, "shared", dst);
    return false;
  }
  int64_t at[5] = {};
  for (unsigned d = 0; d < op.rank; ++d)
    at[d] = w.lanes<int32_t>(op.coords[d])[l];
  copy.data.resize(map->boxBytes());
  ++stats.globalRequests;
  bool fine = forRows(*map, at, [&](uint64_t to, uint64_t from, uint32_t bytes) {
    if (!from) {
      fillOutside(*map, copy.data.data() + to, bytes);
      return true;
    }
    uint8_t *p;
    if (!resolveGlobal(w, i, from, bytes, Access::Read, l, p))
      return false;
    std::memcpy(copy.data.data() + to, p, bytes);
    stats.globalBytes += bytes;
    stats.globalSectors += (bytes + 31) / 32;
    return true;
  });
  copy.swizzle = map->swizzle;
  return fine && deliver(w, i, op, std::move(copy), dst, bar, l);
}

static bool storeRange(Warp &w, const Inst &i, const BulkOp &op, uint64_t to, const uint8_t *from, uint32_t bytes,
                       TensorMap::Type type, unsigned lane) {
  uint8_t *p;
  if (!resolveGlobal(w, i, to, bytes, op.reduces ? Access::Atomic : Access::Write, lane, p))
    return false;
  LaunchStats &stats = w.block->counters->stats;
  stats.globalBytes += bytes;
  stats.globalSectors += (bytes + 31) / 32;
  if (!op.reduces) {
    std::memcpy(p, from, bytes);
    return true;
  }
  unsigned e = 0;
  CombineFn fn = combineFor(type, e);
  bool floating = type == TensorMap::Type::F32 || type == TensorMap::Type::F64;
  if (!fn || (floating && op.reduction != Reduction::Add)) {
    w.fault(FaultKind::Misuse, i, "this reduction does not exist for the element type", lane);
    return false;
  }
  static std::mutex lock;
  std::lock_guard<std::mutex> guard(lock);
  for (uint32_t k = 0; k < bytes; k += e)
    fn(p + k, from + k, op.reduction);
  return true;
}

static TensorMap::Type mapType(Type t) {
  switch (t) {
  case Type::F32:
    return TensorMap::Type::F32;
  case Type::F64:
    return TensorMap::Type::F64;
  case Type::F16:
    return TensorMap::Type::F16;
  case Type::BF16:
    return TensorMap::Type::BF16;
  case Type::S32:
    return TensorMap::Type::S32;
  case Type::U64:
    return TensorMap::Type::U64;
  case Type::S64:
    return TensorMap::Type::S64;
  default:
    return TensorMap::Type::U32;
  }
}

static bool storeOne(Warp &w, const Inst &i, const BulkOp &op, unsigned l) {
  uint32_t src = sharedOffset(addressOf(w, op.shared, l));
  uint64_t other = addressOf(w, op.other, l);
  const uint8_t *shared = w.block->shared.data.data();
  ++w.block->counters->stats.globalRequests;
  if (!op.rank) {
    uint32_t bytes = w.lanes<uint32_t>(op.size)[l];
    if (bytes % 16 || src % 16 || other % 16) {
      w.fault(FaultKind::Misaligned, i, "addresses and size of a bulk copy are multiples of 16", l);
      return false;
    }
    return !bytes || (asyncRead(w, i, src, bytes, w.asyncAgent(), l) &&
                      storeRange(w, i, op, other, shared + src, bytes, mapType(op.type), l));
  }
  auto map = mapAt(w, i, other, l);
  if (!map)
    return false;
  if (map->rank != op.rank) {
    w.fault(FaultKind::Misuse, i, "the tensor map has rank " + Twine(unsigned(map->rank)), l);
    return false;
  }
  if (src % 128) {
    w.fault(FaultKind::Misaligned, i, "the source of a tensor copy is a multiple of 128", l, "shared", src);
    return false;
  }
  uint32_t bytes = map->boxBytes();
  std::vector<uint8_t> data(bytes);
  for (uint32_t k = 0; k < bytes; k += 16) {
    uint32_t at = swizzled(map->swizzle, src + k);
    if (!asyncRead(w, i, at, 16, w.asyncAgent(), l))
      return false;
    std::memcpy(data.data() + k, shared + at, 16);
  }
  int64_t at[5] = {};
  for (unsigned d = 0; d < op.rank; ++d)
    at[d] = w.lanes<int32_t>(op.coords[d])[l];
  return forRows(*map, at, [&](uint64_t from, uint64_t to, uint32_t n) {
    return !to || storeRange(w, i, op, to, data.data() + from, n, map->type, l);
  });
}

static Step execBulk(Warp &w, const Inst &i) {
  const BulkOp &op = *static_cast<const BulkOp *>(i.aux);
  beginAsync(w, w.asyncAgent());
  for (uint32_t m = w.exec; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    if (!(op.direction == Direction::Store ? storeOne(w, i, op, l) : loadOne(w, i, op, l)))
      return Step::Fault;
  }
  return Step::Next;
}

static Step execCommit(Warp &w, const Inst &) {
  AsyncGroup g;
  g.agent = w.asyncAgent();
  g.clock = w.block->shared.races.enabled() ? w.block->shared.races.own(g.agent) : 0;
  w.bulkGroups.push_back(g);
  return Step::Next;
}

static Step execWaitGroup(Warp &w, const Inst &i) {
  while (w.bulkGroups.size() > size_t(i.imm)) {
    if (w.block->shared.races.enabled())
      w.block->shared.races.learn(w.index, w.bulkGroups.front().agent, w.bulkGroups.front().clock);
    w.bulkGroups.erase(w.bulkGroups.begin());
  }
  return Step::Next;
}

static Step execNothing(Warp &, const Inst &) { return Step::Next; }

static bool tensorOperand(Decoder &d, const syntax::Operand &o, BulkOp &op) {
  if (o.kind != syntax::Operand::Address || o.parts.size() != 2 || d.elements(o.parts[1]).size() != op.rank)
    return d.fail("expected [map, {" + Twine(op.rank) + " coordinates}]");
  syntax::Operand plain = o;
  plain.parts.resize(1);
  if (!addressOperand(d, plain, MemSpace::Generic, op.other))
    return false;
  for (unsigned k = 0; k < op.rank; ++k)
    op.coords[k] = d.src(d.elements(o.parts[1])[k], Type::S32);
  return !d.failed();
}

static void decodeTransfer(Decoder &d, bool reduces) {
  BulkOp op;
  op.reduces = reduces;
  bool tensor = d.take("tensor");
  if (tensor) {
    op.rank = d.take("1d") ? 1 : d.take("2d") ? 2 : d.take("3d") ? 3 : d.take("4d") ? 4 : d.take("5d") ? 5 : 0;
    if (!op.rank) {
      d.fail("a dimension is missing");
      return;
    }
    d.take("tile");
  }
  if (d.take("prefetch")) {
    while (d.hasMods())
      d.takeFront();
    d.out->fn = execNothing;
    return;
  }
  // The first space is the destination.
  llvm::StringRef to, from;
  for (llvm::StringRef mod : d.restMods())
    if (mod == "global" || mod.starts_with("shared")) {
      (to.empty() ? to : from) = mod;
    }
  bool fine = !to.empty() && !from.empty() && d.take(to) && d.take(from);
  bool hint = d.take("L2::cache_hint");
  if (fine && to != "global") {
    fine = d.take("mbarrier::complete_tx::bytes") && !reduces && to.starts_with("shared::c");
    op.direction = from == "global" ? Direction::Load : Direction::SharedToShared;
    fine = fine && !(tensor && op.direction == Direction::SharedToShared);
    op.multicast = d.take("multicast::cluster");
  } else if (fine) {
    fine = d.take("bulk_group") && from == "shared::cta";
    op.direction = Direction::Store;
  }
  if (fine && reduces) {
    static const char *const names[] = {"add", "min", "max", "and", "or", "xor"};
    fine = false;
    for (unsigned k = 0; k < 6 && !fine; ++k)
      if (d.take(names[k])) {
        op.reduction = Reduction(k);
        fine = true;
      }
    d.take("noftz");
    if (!tensor)
      op.type = d.takeType();
  }
  if (!fine || d.failed()) {
    d.unsupported();
    return;
  }
  unsigned at = 0;
  if (op.direction == Direction::Store) {
    if (!d.expectOps((tensor ? 2 : 3) + hint))
      return;
    bool done = tensor ? tensorOperand(d, d.op(0), op) : addressOperand(d, d.op(0), MemSpace::Global, op.other);
    if (!done || !addressOperand(d, d.op(1), MemSpace::Shared, op.shared))
      return;
    at = 2;
    if (!tensor)
      op.size = d.src(at++, Type::U32);
  } else {
    if (!d.expectOps((tensor ? 3 : 4) + op.multicast + hint) ||
        !addressOperand(d, d.op(0), MemSpace::SharedCluster, op.shared))
      return;
    bool source = tensor ? tensorOperand(d, d.op(1), op)
                         : addressOperand(d, d.op(1), op.direction == Direction::Load ? MemSpace::Global : MemSpace::Shared,
                                          op.other);
    if (!source)
      return;
    at = 2;
    if (!tensor)
      op.size = d.src(at++, Type::U32);
    if (!addressOperand(d, d.op(at++), MemSpace::SharedCluster, op.mbarrier))
      return;
    if (op.multicast)
      op.mask = d.src(at++, Type::U16);
  }
  if (hint)
    d.src(at++, Type::B64);
  d.out->aux = d.program.keep(op);
  d.out->fn = execBulk;
}

void mp::emulator::decodeBulk(Decoder &d) {
  if (d.take("commit_group")) {
    if (d.expectOps(0))
      d.out->fn = execCommit;
    return;
  }
  if (d.take("wait_group")) {
    d.take("read");
    if (d.expectOps(1) && d.constant(d.op(0), d.out->imm))
      d.out->fn = execWaitGroup;
    return;
  }
  decodeTransfer(d, false);
}

void mp::emulator::decodeReduceBulk(Decoder &d) {
  if (!d.take("async") || !d.take("bulk")) {
    d.unsupported();
    return;
  }
  decodeTransfer(d, true);
}
