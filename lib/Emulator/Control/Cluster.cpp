// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of a cluster: barrier.cluster, mapa, getctarank; and setmaxnreg.

#include "../Decode/Decoder.h"
#include "../State/Lanes.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::emulator;
using llvm::Twine;

namespace {
enum : uint32_t { kClusterAligned = 1, kClusterReleases = 2 };
}

static bool wholeClusterWarp(Warp &w, const Inst &i) {
  if (!(i.flags & kClusterAligned) || w.exec == w.live)
    return true;
  w.fault(FaultKind::Divergence, i, "a part of the warp is not at the cluster barrier",
          std::countr_zero(w.live & ~w.exec));
  return false;
}

static Step execClusterArrive(Warp &w, const Inst &i) {
  if (!wholeClusterWarp(w, i))
    return Step::Fault;
  for (uint32_t m = w.exec; m; m &= m - 1)
    if (w.block->clusterGoal[w.index][std::countr_zero(m)])
      return w.fault(FaultKind::Misuse, i,
                     "arrives a second time at the cluster barrier without having waited",
                     std::countr_zero(m));
  w.block->clusterArrive(w.exec, w.index, i.flags & kClusterReleases);
  return Step::Next;
}

static Step execClusterWait(Warp &w, const Inst &i) {
  if (!wholeClusterWarp(w, i))
    return Step::Fault;
  for (uint32_t m = w.exec; m; m &= m - 1)
    if (!w.block->clusterGoal[w.index][std::countr_zero(m)])
      return w.fault(FaultKind::Misuse, i, "waits at the cluster barrier without having arrived",
                     std::countr_zero(m));
  if (w.block->clusterPassed(w.exec, w.index))
    return Step::Next;
  --w.pc; // poll
  return Step::Yield;
}

void mpcore::emulator::decodeClusterBarrier(Decoder &d) {
  const bool arrive = d.take("arrive"), wait = d.take("wait");
  const bool relaxed = arrive && d.take("relaxed");
  if (!relaxed)
    d.take(arrive ? "release" : "acquire");
  if (arrive == wait || !d.expectOps(0) || !d.requireTarget(90, ~0u, false)) {
    d.unsupported();
    return;
  }
  d.out->flags = (d.take("aligned") ? kClusterAligned : 0) | (relaxed ? 0 : kClusterReleases);
  d.out->fn = arrive ? execClusterArrive : execClusterWait;
}

template <class T> static Step execMapa(Warp &w, const Inst &i) {
  T *d = w.lanes<T>(i.dst);
  const T *a = w.lanes<T>(i.a);
  const uint32_t *rank = w.lanes<uint32_t>(i.b);
  const uint64_t window = i.flags ? 0 : kSharedWindow;
  for (uint32_t m = w.exec; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    if (rank[l] >= w.block->cluster->size())
      return w.fault(
          FaultKind::Misuse, i,
          "rank " + Twine(rank[l]) + " of a cluster of " + Twine(w.block->cluster->size()), l);
    if (uint64_t(a[l]) - window >= kWindowBytes)
      return w.fault(FaultKind::Misuse, i,
                     "the address 0x" + Twine::utohexstr(a[l]) + " is not one of shared memory", l);
    uint64_t offset = (uint64_t(a[l]) - window) & ((1u << kClusterShift) - 1);
    d[l] = T(window + (uint64_t(rank[l] + 1) << kClusterShift | offset));
  }
  return Step::Next;
}

/// The address of a register, or that of a variable in shared memory.
static bool sharedAddress(Decoder &d, unsigned k, Type t) {
  if (d.op(k).kind != syntax::Operand::Name ||
      d.resolve(d.op(k).name).kind != Decoder::Resolved::Variable) {
    d.out->a = d.src(k, t);
    return !d.failed();
  }
  const Decoder::Resolved r = d.resolve(d.op(k).name);
  if (r.space != MemSpace::Shared)
    return d.unsupported();
  d.out->a = t == Type::U32 ? d.constant32(r.address) : d.constant64(r.address);
  return true;
}

// Generic addresses have 64 bits, and a variable's name is its address in its space.
static bool fitsSpace(Decoder &d, bool shared, Type t, unsigned k) {
  if (t != Type::U32 && t != Type::U64)
    return d.unsupported();
  if (!shared && (t == Type::U32 || d.regBits(d.op(k)) != 64))
    return d.fail(
        "a generic address of 32 bits, or of a variable, is not supported: write .shared::cluster");
  return d.requireTarget(90, ~0u, false);
}

static void decodeMapa(Decoder &d) {
  const bool shared = d.take("shared::cluster");
  Type t = d.takeType();
  if (d.failed() || !d.expectOps(3) || !fitsSpace(d, shared, t, 1) || !sharedAddress(d, 1, t))
    return;
  d.out->flags = shared;
  d.out->dst = d.dst(0, t);
  d.out->b = d.src(2, Type::U32);
  d.out->fn = t == Type::U32 ? execMapa<uint32_t> : execMapa<uint64_t>;
}

static Step execGetctarank(Warp &w, const Inst &i) {
  uint32_t *d = w.lanes<uint32_t>(i.dst);
  for (uint32_t m = w.exec; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    uint64_t a = i.size == 8 ? w.lanes<uint64_t>(i.a)[l] : w.lanes<uint32_t>(i.a)[l];
    a -= i.flags ? 0 : kSharedWindow;
    if (a >= kWindowBytes)
      return w.fault(FaultKind::Misuse, i, "the address is not one of shared memory", l);
    const uint32_t rank = uint32_t(a >> kClusterShift);
    d[l] = rank ? rank - 1 : w.block->rank;
  }
  return Step::Next;
}

static void decodeGetctarank(Decoder &d) {
  const bool shared = d.take("shared::cluster");
  Type t = d.takeType();
  if (d.failed() || !d.expectOps(2) || !fitsSpace(d, shared, t, 1) || !sharedAddress(d, 1, t))
    return;
  d.out->flags = shared;
  d.out->dst = d.dst(0, Type::U32);
  d.out->size = t == Type::U64 ? 8 : 4;
  d.out->fn = execGetctarank;
}

static Step execSetmaxnreg(Warp &w, const Inst &i) {
  if (w.exec != w.live)
    return w.fault(FaultKind::Divergence, i, "setmaxnreg met by a part of the warp",
                   std::countr_zero(w.live & ~w.exec));
  return Step::Next;
}

static void decodeSetmaxnreg(Decoder &d) {
  bool fine = d.take("inc") != d.take("dec");
  fine = d.take("sync") && d.take("aligned") && fine;
  int64_t n = 0;
  if (!fine || d.takeType() != Type::U32 || !d.expectOps(1) || !d.constant(d.op(0), n)) {
    d.unsupported();
    return;
  }
  if (n < 24 || n > 256 || n % 8) {
    d.fail("a register count of " + Twine(n) + ": multiples of 8 from 24 to 256 are allowed");
    return;
  }
  if (d.requireTarget(90, ~0u, true))
    d.out->fn = execSetmaxnreg;
}

void mpcore::emulator::registerClusterOps(OpTable &table) {
  table["mapa"] = decodeMapa;
  table["getctarank"] = decodeGetctarank;
  table["setmaxnreg"] = decodeSetmaxnreg;
}
