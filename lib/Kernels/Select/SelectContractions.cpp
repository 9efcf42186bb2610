// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-select-contractions: mark the contractions that a target's mma.sync can run, and
// those of f32 that tiles on the scalar units can (exact).

#include "SparseFactor.h"
#include "TargetPart.h"
#include "ZeroPoints.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/Matchers.h"
#include "mp/Analysis/DataMovement.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Interfaces/Contraction.h"
#include "mp/Kernels/MmaSelection.h"
#include "mp/Kernels/Passes.h"
#include "mp/Target/Targets.h"

namespace mlir::mp {
#define GEN_PASS_DEF_SELECTCONTRACTIONS
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// Static number of points of the loops, or a large number if one is dynamic.
static int64_t extent(ArrayRef<int64_t> ranges, ArrayRef<unsigned> loops) {
  int64_t product = 1;
  for (unsigned loop : loops)
    product *= ShapedType::isDynamic(ranges[loop]) ? 4096 : ranges[loop];
  return product;
}

/// Returns the name that instructions give to an operand of this type; empty if there is none.
static StringRef operandFormat(Type type, bool isUnsigned) {
  if (isa<Float16Type>(type))
    return "f16";
  if (isa<BFloat16Type>(type))
    return "bf16";
  if (isa<Float8E4M3FNType>(type))
    return "f8E4M3FN";
  if (isa<Float8E5M2Type>(type))
    return "f8E5M2";
  if (isa<Float32Type>(type))
    return "tf32";
  if (type.isInteger(8))
    return isUnsigned ? "u8" : "i8";
  return {};
}

namespace {

/// The reason why a contraction is left to the scalar units.
struct Miss {
  std::string reason;
  bool isChoice = false; ///< Tensor Cores would be slower
};

/// Contractions that read one format and miss for one reason, in the order of the program.
struct MissGroup {
  Type stored;
  std::string reason;
  Location first;
  unsigned count = 0;
};

} // namespace

static void count(Miss miss, Type stored, Location at, SmallVectorImpl<MissGroup> &groups) {
  auto group = llvm::find_if(groups, [&](const MissGroup &known) {
    return known.stored == stored && known.reason == miss.reason;
  });
  if (group == groups.end()) {
    groups.push_back({stored, std::move(miss.reason), at});
    group = std::prev(groups.end());
  }
  ++group->count;
}

/// True if `model` has Tensor Core products of `type`, by whatever instruction.
static bool hasTensorCores(const target::TargetModel &model, Type type) {
  StringRef format = operandFormat(type, /*isUnsigned=*/false);
  return !format.empty() && !isa<Float32Type>(type) &&
         model.formatSupport(format) == target::Support::Native;
}

/// True for the sum of a fill of zeros.
static bool startsFromZeros(linalg::GenericOp op) {
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  return fill &&
         (matchPattern(fill.getInputs()[0], m_PosZeroFloat()) ||
          matchPattern(fill.getInputs()[0], m_Zero())) &&
         fill.getOutputs()[0].getDefiningOp<tensor::EmptyOp>();
}

/// True if rounding may happen elsewhere than behind each multiplication and each addition.
static bool mayFuse(linalg::GenericOp op) {
  return llvm::any_of(op.getBody()->getOperations(), [](Operation &inner) {
    auto fast = dyn_cast<arith::ArithFastMathInterface>(inner);
    return fast && fast.getFastMathFlagsAttr().getValue() != arith::FastMathFlags::none;
  });
}

/// The same for tiles on the scalar units, which add in the order of the loop: a sum of whole steps
/// may start from a tensor; others from zero, since products beyond their end are zeros, to which
/// only the sum -0 is not the same.
static StringRef selectScalar(linalg::GenericOp op, const Contraction &contraction, Miss &miss) {
  constexpr int64_t least = 16; // a warp's rows and columns, and the depth of a step
  const bool endsInStep =
      llvm::all_of(
          contraction.k,
          [&](unsigned loop) { return !ShapedType::isDynamic(op.getStaticLoopRanges()[loop]); }) &&
      extent(op.getStaticLoopRanges(), contraction.k) % least == 0;
  const SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  const bool isPinned = op->hasAttr(kScheduleAttrName);
  if (!isPinned &&
      llvm::any_of(ArrayRef{contraction.m, contraction.n, contraction.k},
                   [&](ArrayRef<unsigned> loops) { return extent(ranges, loops) < least; })) {
    miss = {"its rows, columns or sums are too few for a tile", /*isChoice=*/true};
    return {};
  }
  auto mark = op->getAttrOfType<StringAttr>(kMmaAttrName);
  if (mark && mark != "f32")
    miss.reason = ("somebody marked it '" + mark.getValue() + "'").str();
  else if (!startsFromZeros(op) && !endsInStep)
    miss.reason = "its f32 sums start from a tensor, and are not known to be of whole steps of 16";
  else if (mayFuse(op))
    miss.reason = "its f32 sums have flags of fast mathematics";
  else
    return "f32";
  return {};
}

/// The format whose instruction can run `op` on `model`, or why there is none.
static StringRef selectFormat(linalg::GenericOp op, const target::TargetModel &model, Miss &miss) {
  std::string &reason = miss.reason;
  FailureOr<Contraction> contraction = matchContraction(op, reason);
  if (failed(contraction))
    return {};
  bool isInteger = isa<IntegerType>(contraction->format[0]);
  if (isInteger ? !contraction->accumulator.isInteger(32)
                : !isa<Float32Type>(contraction->accumulator)) {
    llvm::raw_string_ostream(reason)
        << "it accumulates in " << contraction->accumulator
        << " and Tensor Cores here accumulate in " << (isInteger ? "i32" : "f32")
        << (contraction->accumulator.isF64() ? "; mp-narrow-doubles before computes it in f32"
                                             : "");
    return {};
  }
  StringRef formats[2];
  for (unsigned operand = 0; operand < 2; ++operand) {
    Type type = contraction->format[operand];
    formats[operand] = operandFormat(type, contraction->isUnsigned[operand]);
    if (formats[operand].empty()) {
      llvm::raw_string_ostream(reason) << "there is no emitter for " << type << " operands";
      return {};
    }
    if (isa<Float32Type>(type) && !holdsTF32(op.getDpsInputs()[operand]))
      return selectScalar(op, *contraction, miss);
  }
  bool same = formats[0] == formats[1];
  std::string format = same ? formats[0].str() : (formats[0] + "_" + formats[1]).str();
  const MmaInstruction *instruction = selectMmaInstruction(model, format);
  if (!instruction) {
    llvm::raw_string_ostream(reason) << model.name << " has no native mma.sync for " << formats[0];
    if (!same)
      llvm::raw_string_ostream(reason) << " by " << formats[1];
    return {};
  }
  // A depthwise convolution has one column a group: fifteen sixteenths of an instruction idle.
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t k = extent(ranges, contraction->k);
  if ((contraction->m.empty() || contraction->n.empty()) && k < 128) {
    reason = "it has a single row or column and a short sum";
    miss.isChoice = true;
    return {};
  }
  return instruction->format;
}

/// True if operand `number` of the body is widened to f32 and nothing else.
static bool isOnlyWidened(linalg::GenericOp op, unsigned number) {
  return llvm::all_of(op.getRegionInputArgs()[number].getUsers(), [](Operation *user) {
    return isa<arith::ExtFOp>(user) && user->getResult(0).getType().isF32();
  });
}

/// Each e4m3 and e5m2 is an f16, so that products of both are the same, where a target multiplies
/// f16 on Tensor Cores and none of these. Changes `op` and returns true; or does nothing.
static bool widenFloat8(IRRewriter &rewriter, linalg::GenericOp op,
                        const target::TargetModel &model) {
  if (op.getNumDpsInputs() != 2 || !selectMmaInstruction(model, "f16"))
    return false;
  for (unsigned number : {0, 1})
    if (!isa<Float8E4M3FNType, Float8E5M2Type>(
            getElementTypeOrSelf(op.getDpsInputs()[number].getType())) ||
        !isOnlyWidened(op, number))
      return false;
  rewriter.setInsertionPoint(op);
  const Type f16 = rewriter.getF16Type();
  Value widened[2];
  for (unsigned number : {0, 1}) {
    Value narrow = op.getDpsInputs()[number];
    if (number == 1 && narrow == op.getDpsInputs()[0]) {
      widened[1] = widened[0];
      continue;
    }
    auto type = cast<RankedTensorType>(narrow.getType());
    Value empty = tensor::EmptyOp::create(
        rewriter, op.getLoc(), tensor::getMixedSizes(rewriter, op.getLoc(), narrow), f16);
    AffineMap identity = rewriter.getMultiDimIdentityMap(unsigned(type.getRank()));
    SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
    auto body = [](OpBuilder &b, Location loc, ValueRange elements) {
      Value wide = arith::ExtFOp::create(b, loc, b.getF16Type(), elements[0]);
      linalg::YieldOp::create(b, loc, wide);
    };
    widened[number] =
        linalg::GenericOp::create(rewriter, op.getLoc(), empty.getType(), narrow, empty,
                                  ArrayRef<AffineMap>{identity, identity}, loops, body)
            .getResult(0);
  }
  rewriter.modifyOpInPlace(op, [&] {
    for (unsigned number : {0, 1}) {
      op.getDpsInputOperand(number)->set(widened[number]);
      op.getRegionInputArgs()[number].setType(f16);
    }
  });
  return true;
}

/// A sum that starts from zeros needs no zeros: the kernel writes its result.
static void dropZeroInit(linalg::GenericOp op) {
  if (!startsFromZeros(op))
    return;
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  op.getDpsInitsMutable()[0].set(fill.getOutputs()[0]);
  op->setAttr(kMmaFreshAttrName, UnitAttr::get(op.getContext()));
}

/// Says which factor mma.sp may take, so that what forms dispatches knows.
static void markTwoOfFour(linalg::GenericOp op, const target::TargetModel &model) {
  std::string reason;
  FailureOr<SparseFactor> factor =
      findSparseFactor(op, llvm::to_vector(op.getDpsInputs()), model, reason);
  if (succeeded(factor))
    op->setAttr(kMmaTwoOfFourAttrName, Builder(op.getContext()).getI64IntegerAttr(factor->operand));
}

namespace {

struct SelectContractions : mlir::mp::impl::SelectContractionsBase<SelectContractions> {
  using Base::Base;

  void runOnOperation() override {
    const auto *model = valueOrError(getOperation(), target::lookupTarget(target));
    if (!model)
      return signalPassFailure();
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (op.hasPureTensorSemantics() && op.getNumReductionLoops() != 0)
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    SmallVector<MissGroup> misses;
    unsigned contractions = 0;
    for (linalg::LinalgOp op : ops) {
      auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
      if (!generic) {
        rewriter.setInsertionPoint(op);
        FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
        if (failed(made))
          continue;
        generic = *made;
      }
      Miss miss;
      StringRef format;
      auto hasUnit = [&](linalg::GenericOp products) {
        format = selectFormat(products, *model, miss);
        return !format.empty();
      };
      if (linalg::GenericOp products = takeOutZeroPoints(rewriter, generic, hasUnit)) {
        generic = products;
      } else if (miss.reason.empty()) { // it has no zero points
        if (!looksLikeContraction(generic))
          continue;
        format = selectFormat(generic, *model, miss);
      }
      ++contractions;
      Type stored = getElementTypeOrSelf(generic.getDpsInputs()[0].getType());
      if (format.empty() && widenFloat8(rewriter, generic, *model)) {
        remark::passed(generic.getLoc(), remarks::kWidenedContraction)
            << "contraction of 8-bit floats runs as products of f16: " << miss.reason;
        miss = {};
        format = selectFormat(generic, *model, miss);
      }
      if (!format.empty()) {
        generic->setAttr(kMmaAttrName, rewriter.getStringAttr(format));
        dropZeroInit(generic);
        if (sparse)
          markTwoOfFour(generic, *model);
        continue;
      }
      remark::missed(generic.getLoc(), remarks::kScalarContraction)
          << "contraction runs on the scalar units: " << miss.reason;
      if (hasTensorCores(*model, stored) && !miss.isChoice)
        count(std::move(miss), stored, generic.getLoc(), misses);
    }
    for (const MissGroup &group : misses)
      emitWarning(group.first) << group.count << " of " << contractions << " contractions read "
                               << group.stored << " and run on the scalar units, though "
                               << model->name << " has Tensor Cores for it: " << group.reason;
  }
};

} // namespace
