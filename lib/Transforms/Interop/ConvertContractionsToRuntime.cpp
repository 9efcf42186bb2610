// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// convert-contractions-to-runtime: sums of products as calls of mp_rt_contract.

#include "RuntimeCalls.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/PatternMatch.h"
#include "mp/Dialect/MP/Formats.h"
#include "mp/Interfaces/Contraction.h"
#include "mp/Numerics/Format.h"
#include "mp/Transforms/Interop/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_CONVERTCONTRACTIONSTORUNTIME
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

static constexpr StringLiteral kContract = "mp_rt_contract";

/// The two inputs in the order of multiplication, if the body is out + a * b.
static FailureOr<std::pair<unsigned, unsigned>> matchBody(linalg::LinalgOp op) {
  BlockArgument out = op.getBlock()->getArgument(2);
  std::optional<ProductSum> body = readProductSum(op.getBlock(), out);
  if (!body || body->isFused() || !isa<arith::MulFOp>(body->product))
    return failure();
  BlockArgument a = getWidenedArgument(body->factors[0]), b = getWidenedArgument(body->factors[1]);
  if (!a || !b || a == out || b == out)
    return failure();
  return std::make_pair(a.getArgNumber(), b.getArgNumber());
}

static std::optional<int64_t> formatCode(Type type) {
  auto known = getNumericsFormat(type);
  return known ? std::optional<int64_t>(int64_t(*known)) : std::nullopt;
}

/// The formats as mp_rt_contract takes them, or failure when it cannot.
static FailureOr<int64_t> formatsOf(linalg::LinalgOp op, Type a, Type b, Type c) {
  FloatType sum = getFloatFormat(c);
  auto codeA = formatCode(a), codeB = formatCode(b), codeC = formatCode(c);
  if (!codeA || !codeB || !codeC || !(sum.isF32() || sum.isF64()))
    return failure();
  if (sum.isF32() && (getFloatFormat(a).isF64() || getFloatFormat(b).isF64()))
    return failure();
  if (op->hasAttr(kOperandsTF32AttrName))
    codeA = codeB = int64_t(numerics::Format::TF32);
  return *codeA | *codeB << 8 | *codeC << 16;
}

namespace {

class Rewriter : RuntimeCalls {
public:
  using RuntimeCalls::RuntimeCalls;

  LogicalResult rewrite(linalg::LinalgOp op) {
    if (!op.hasPureBufferSemantics() || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
      return failure();
    auto inputs = matchBody(op);
    if (failed(inputs))
      return failure();
    Value operands[] = {op->getOperand(inputs->first), op->getOperand(inputs->second),
                        op->getOperand(2)};
    if (!llvm::all_of(operands, [](Value operand) { return isa<MemRefType>(operand.getType()); }))
      return failure(); // a scalar: scaling and adding, not a sum of products
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    AffineMap operandMaps[] = {maps[inputs->first], maps[inputs->second], maps[2]};
    auto formats =
        formatsOf(op, operands[0].getType(), operands[1].getType(), operands[2].getType());
    if (failed(formats))
      return failure();
    LinearAccess accesses[3];
    for (auto [map, access] : llvm::zip(operandMaps, accesses)) {
      auto found = LinearAccess::of(map);
      if (failed(found))
        return failure();
      access = *found;
    }
    emit(op, operands, accesses, *formats);
    return success();
  }

private:
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value scale(Value x, int64_t factor) {
    return factor == 1 ? x : Value(arith::MulIOp::create(b, x, index(factor)));
  }

  void emit(linalg::LinalgOp op, ArrayRef<Value> operands, ArrayRef<LinearAccess> accesses,
            int64_t formats) {
    b.setInsertionPoint(op);
    b.setLoc(op.getLoc());
    SmallVector<Range, 4> ranges = op.createLoopRanges(b, op.getLoc());
    int64_t rank = int64_t(ranges.size());
    SmallVector<Value> words = {index(rank)};
    for (Range &range : ranges)
      words.push_back(getValueOrCreateConstantIndexOp(b, op.getLoc(), range.size));
    SmallVector<Value> arguments;
    for (auto [operand, access] : llvm::zip(operands, accesses)) {
      auto metadata = memref::ExtractStridedMetadataOp::create(b, operand);
      Value offset = metadata.getOffset();
      SmallVector<Value> strides(rank);
      for (auto [dim, stride] : llvm::enumerate(metadata.getStrides())) {
        if (access.constants[dim])
          offset = add(offset, scale(stride, access.constants[dim]));
        for (int64_t loop = 0; loop < rank; ++loop) {
          int64_t factor = access.coefficients[dim][loop];
          if (!factor)
            continue;
          Value step = scale(stride, factor);
          strides[loop] = strides[loop] ? add(strides[loop], step) : step;
        }
      }
      for (Value stride : strides)
        words.push_back(stride ? stride : index(0));
      arguments.push_back(addressOf(operand, offset));
    }
    Value table = tableFor(op->getParentOfType<func::FuncOp>(), int64_t(words.size()));
    for (auto [i, word] : llvm::enumerate(words))
      memref::StoreOp::create(b, word, table, index(int64_t(i)));
    arguments.insert(arguments.begin(),
                     memref::ExtractAlignedPointerAsIndexOp::create(b, table).getResult());
    arguments.push_back(index(formats));
    call(kContract, arguments);
    op->erase();
  }

  Value addressOf(Value operand, Value offset) {
    unsigned bits = getElementTypeOrSelf(operand.getType()).getIntOrFloatBitWidth();
    Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, operand);
    return add(base, scale(offset, llvm::divideCeil(bits, 8)));
  }

  /// One table a function, on its stack: the call is over when the next begins.
  Value tableFor(func::FuncOp function, int64_t words) {
    OpBuilder::InsertionGuard guard(b);
    memref::AllocaOp &table = tables[function];
    int64_t size = table ? table.getType().getDimSize(0) : 0;
    if (size < words) {
      b.setInsertionPointToStart(&function.getBody().front());
      auto larger = memref::AllocaOp::create(b, MemRefType::get({words}, b.getIndexType()));
      if (table) {
        table->replaceAllUsesWith(larger);
        table->erase();
      }
      table = larger;
    }
    return table;
  }

  DenseMap<Operation *, memref::AllocaOp> tables;
};

struct ConvertContractionsToRuntime
    : mlir::mp::impl::ConvertContractionsToRuntimeBase<ConvertContractionsToRuntime> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    Rewriter rewriter(getOperation());
    for (linalg::LinalgOp op : ops)
      (void)rewriter.rewrite(op); // the others become loops
  }
};

} // namespace
