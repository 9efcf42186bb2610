// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The forms of cp.async.bulk, cp.async.bulk.tensor, cp.reduce.async.bulk and their prefetches.

#include "BulkCopy.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::emulator;
using llvm::Twine;

static Step execPrefetch(Warp &, const Inst &) { return Step::Next; }

// [map, {coordinates}]
static bool tensorOperand(Decoder &d, const syntax::Operand &o, BulkOp &op) {
  if (o.kind != syntax::Operand::Address || o.parts.size() != 2 ||
      d.elements(o.parts[1]).size() != op.rank)
    return d.fail("expected [map, {" + Twine(op.rank) + " coordinates}]");
  syntax::Operand plain = o;
  plain.parts.resize(1);
  if (!addressOperand(d, plain, MemSpace::Generic, op.other))
    return false;
  for (unsigned k = 0; k < op.rank; ++k)
    op.coords[k] = d.src(d.elements(o.parts[1])[k], Type::S32);
  return !d.failed();
}

// A size known when the module is loaded is a multiple of 16.
static bool sizeOperand(Decoder &d, unsigned at, BulkOp &op) {
  int64_t bytes = 0;
  if (d.op(at).kind == syntax::Operand::Integer && d.constant(d.op(at), bytes) && bytes % 16)
    return d.fail("a size of " + Twine(bytes) + " bytes is no multiple of 16");
  op.size = d.src(at, Type::U32);
  return !d.failed();
}

/// .im2col of loads and prefetches, .im2col_no_offs of stores.
static bool takeMode(Decoder &d, BulkOp &op) {
  for (const char *mode : {"im2col::w", "im2col::w::128", "tile::gather4", "tile::scatter4"})
    if (d.take(mode))
      return d.fail(Twine("the mode .") + mode + " is not supported");
  const bool offsets = d.take("im2col");
  op.im2col = offsets || d.take("im2col_no_offs");
  op.offsetCount = offsets && op.rank > 2 ? op.rank - 2 : 0;
  if (op.im2col && op.rank < 3)
    return d.fail("im2col needs rank 3 to 5, found " + Twine(op.rank));
  if (!op.im2col)
    d.take("tile");
  return true;
}

// {offsets} of im2col.
static bool offsetOperand(Decoder &d, unsigned at, BulkOp &op) {
  if (d.op(at).kind != syntax::Operand::Vector || d.elements(d.op(at)).size() != op.offsetCount)
    return d.fail("expected {" + Twine(op.offsetCount) + " offsets}");
  for (unsigned k = 0; k < op.offsetCount; ++k)
    op.offsets[k] = d.src(d.elements(d.op(at))[k], Type::U16);
  return !d.failed();
}

static void decodePrefetch(Decoder &d, bool tensor, BulkOp &op) {
  const bool fine = d.take("L2") && d.take("global"), hint = d.take("L2::cache_hint");
  if (!fine) {
    d.unsupported();
    return;
  }
  const bool offsets = op.offsetCount != 0;
  if (op.im2col && !offsets) {
    d.unsupported();
    return;
  }
  if (!d.expectOps((tensor ? 1 : 2) + offsets + hint) || (offsets && !offsetOperand(d, 1, op)))
    return;
  if (!(tensor ? tensorOperand(d, d.op(0), op)
               : addressOperand(d, d.op(0), MemSpace::Global, op.other) && sizeOperand(d, 1, op)))
    return;
  if (hint)
    d.src(d.numOps() - 1, Type::B64);
  d.out->fn = execPrefetch;
}

// Source, destination and how completion is told.
static bool takeDirection(Decoder &d, bool tensor, BulkOp &op) {
  llvm::StringRef to, from; // the first space is the destination
  for (llvm::StringRef mod : d.restMods())
    if (mod == "global" || mod.starts_with("shared"))
      (to.empty() ? to : from) = mod;
  if (to.empty() || from.empty() || !d.take(to) || !d.take(from))
    return d.unsupported();
  if (to == "global") {
    op.direction = BulkOp::Store;
    return (d.take("bulk_group") && from == "shared::cta") || d.unsupported();
  }
  op.direction = from == "global" ? BulkOp::Load : BulkOp::SharedToShared;
  op.ownDestination = to == "shared::cta";
  op.multicast = d.take("multicast::cluster");
  bool fine =
      d.take("mbarrier::complete_tx::bytes") && (to == "shared::cta" || to == "shared::cluster");
  fine = fine && !(op.multicast && (op.ownDestination || op.direction == BulkOp::SharedToShared));
  if (op.direction == BulkOp::SharedToShared)
    fine = fine && !tensor && from == "shared::cta" && !op.ownDestination;
  return fine || d.unsupported();
}

// redOp and type. Tensor maps have a type of their own.
static bool takeReduction(Decoder &d, bool tensor, BulkOp &op) {
  op.reduction = takeRmw(d);
  if (!op.reduction || *op.reduction == Rmw::Cas || *op.reduction == Rmw::Exch)
    return d.unsupported();
  if (tensor)
    return op.direction == BulkOp::Store || d.unsupported();
  const bool noftz = d.take("noftz");
  op.type = d.takeType();
  const bool half = op.type == Type::F16 || op.type == Type::BF16;
  bool fine = !d.failed() && combineFor(op.type, *op.reduction) &&
              noftz == (half && op.reduction == Rmw::Add);
  if (op.direction != BulkOp::Store) // into shared memory: sums of u64, and what 32 bits have
    fine = fine && op.direction == BulkOp::SharedToShared && !half && !isFloat(op.type) &&
           (bitWidth(op.type) == 32 || (op.type == Type::U64 && op.reduction == Rmw::Add));
  return fine || d.unsupported();
}

static bool storeOperands(Decoder &d, bool tensor, bool hint, BulkOp &op) {
  if (op.offsetCount)
    return d.unsupported();
  if (!d.expectOps((tensor ? 2 : 3) + hint))
    return false;
  if (!(tensor ? tensorOperand(d, d.op(0), op)
               : addressOperand(d, d.op(0), MemSpace::Global, op.other)) ||
      !addressOperand(d, d.op(1), MemSpace::Shared, op.shared))
    return false;
  return tensor || sizeOperand(d, 2, op);
}

static bool loadOperands(Decoder &d, bool tensor, bool hint, BulkOp &op) {
  const bool offsets = op.offsetCount != 0;
  if (op.im2col && !offsets)
    return d.unsupported();
  if (!d.expectOps((tensor ? 3 : 4) + offsets + op.multicast + hint) ||
      !addressOperand(d, d.op(0), MemSpace::SharedCluster, op.shared))
    return false;
  const MemSpace from = op.direction == BulkOp::Load ? MemSpace::Global : MemSpace::Shared;
  unsigned at = 2;
  if (!(tensor ? tensorOperand(d, d.op(1), op)
               : addressOperand(d, d.op(1), from, op.other) && sizeOperand(d, at++, op)) ||
      !addressOperand(d, d.op(at++), MemSpace::SharedCluster, op.mbarrier) ||
      (offsets && !offsetOperand(d, at++, op)))
    return false;
  if (op.multicast)
    op.mask = d.src(at, Type::U16);
  return !d.failed();
}

static void decodeTransfer(Decoder &d, bool reduces) {
  BulkOp op;
  if (!d.requireTarget(90, ~0u, false))
    return;
  const bool tensor = d.take("tensor"), prefetch = d.take("prefetch");
  if (tensor) {
    op.rank = d.take("1d")   ? 1
              : d.take("2d") ? 2
              : d.take("3d") ? 3
              : d.take("4d") ? 4
              : d.take("5d") ? 5
                             : 0;
    if (!op.rank) {
      d.fail("expected a rank among the modifiers, .1d to .5d");
      return;
    }
    if (!takeMode(d, op))
      return;
  }
  if (prefetch && !reduces)
    return decodePrefetch(d, tensor, op);
  const bool hint = d.take("L2::cache_hint");
  if (!takeDirection(d, tensor, op) || (reduces && !takeReduction(d, tensor, op)))
    return;
  if (hint && op.direction == BulkOp::SharedToShared) {
    d.unsupported();
    return;
  }
  if (!(op.direction == BulkOp::Store ? storeOperands(d, tensor, hint, op)
                                      : loadOperands(d, tensor, hint, op)))
    return;
  if (hint)
    d.src(d.numOps() - 1, Type::B64);
  d.out->aux = d.program.keep(op);
  d.out->fn = execBulk;
}

void mpcore::emulator::decodeBulk(Decoder &d) {
  if (d.take("commit_group")) {
    if (d.expectOps(0) && d.requireTarget(90, ~0u, false))
      d.out->fn = execBulkCommit;
    return;
  }
  if (d.take("wait_group")) {
    d.take("read");
    if (d.expectOps(1) && d.constant(d.op(0), d.out->imm) && d.requireTarget(90, ~0u, false))
      d.out->fn = execBulkWait;
    return;
  }
  decodeTransfer(d, false);
}

void mpcore::emulator::decodeReduceBulk(Decoder &d) {
  if (d.take("async") && d.take("bulk"))
    decodeTransfer(d, true);
  else
    d.unsupported();
}
