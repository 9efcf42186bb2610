// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// membar and fence.

#include "LoadStore.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::emulator;

// Orders this thread's accesses; other threads still need a synchronisation to see them.
static Step execFence(Warp &, const Inst &) { return Step::Next; }

// Makes visible to the async proxy from here on what the thread wrote to shared memory, and what it
// knows of.
static Step execProxyFence(Warp &w, const Inst &) {
  if (w.block->shared.races.enabled())
    w.block->shared.races.fenceProxy(w.index);
  return Step::Next;
}

static void decodeMembar(Decoder &d) {
  const bool proxy = d.take("proxy");
  if (proxy ? d.take("alias") && d.requireTarget(70, ~0u, false)
            : d.take("cta") || d.take("gl") || d.take("sys"))
    d.out->fn = execFence;
  else
    d.unsupported();
}

// .tensormap::generic and .async::generic: from the generic proxy to another.
static bool decodeDirectedFence(Decoder &d) {
  if (d.take("tensormap::generic")) {
    const bool acquire = d.take("acquire");
    if ((!acquire && !d.take("release")) || !takeScope(d) || !d.expectOps(acquire ? 2 : 0))
      return d.unsupported();
    if (acquire) {
      MemSpace space = MemSpace::Generic;
      int64_t bytes = 0;
      if (!d.address(d.op(0), space) || !d.constant(d.op(1), bytes))
        return false;
      if (bytes != 128)
        return d.fail("a tensor map has 128 bytes, found " + llvm::Twine(bytes));
    }
    d.out->fn = execFence;
    return true;
  }
  if (!d.take("async::generic"))
    return d.unsupported();
  const bool acquire = d.take("acquire");
  if (!(acquire || d.take("release")) ||
      !d.take(acquire ? "sync_restrict::shared::cluster" : "sync_restrict::shared::cta") ||
      !d.take("cluster"))
    return d.unsupported();
  d.out->fn = execProxyFence;
  return true;
}

static void decodeProxyFence(Decoder &d) {
  if (d.take("alias")) {
    if (d.requireTarget(70, ~0u, false))
      d.out->fn = execFence;
    return;
  }
  if (!d.requireTarget(90, ~0u, false))
    return;
  if (!d.take("async")) {
    decodeDirectedFence(d);
    return;
  }
  if (d.take("global")) {
    d.out->fn = execFence;
    return;
  }
  if (!d.take("shared::cta"))
    d.take("shared::cluster");
  d.out->fn = execProxyFence;
}

static void decodeFence(Decoder &d) {
  if (d.take("proxy"))
    return decodeProxyFence(d);
  if (d.take("mbarrier_init")) {
    if (d.take("release") && d.take("cluster") && d.requireTarget(90, ~0u, false))
      d.out->fn = execFence;
    else
      d.unsupported();
    return;
  }
  const bool acquire = d.take("acquire"), release = !acquire && d.take("release");
  if (!acquire && !release && !d.take("sc"))
    d.take("acq_rel");
  const bool restricted = (acquire && d.take("sync_restrict::shared::cluster")) ||
                          (release && d.take("sync_restrict::shared::cta"));
  const bool cluster = d.take("cluster");
  if (!(cluster || (!restricted && takeScope(d))) ||
      !d.requireTarget(restricted || cluster ? 90 : 70, ~0u, false)) {
    d.unsupported();
    return;
  }
  d.out->fn = execFence;
}

void mpcore::emulator::registerFenceOps(OpTable &table) {
  table["membar"] = decodeMembar;
  table["fence"] = decodeFence;
}
