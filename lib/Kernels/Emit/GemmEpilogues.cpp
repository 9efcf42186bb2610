// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits epilogues on the elements that a lane holds.

#include "GemmEpilogues.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mp/Kernels/Passes.h"

using namespace mlir;
using namespace mlir::mp;

static Value sum(DeviceBuilder &d, Value x, Value y) {
  if (isa<IntegerType>(x.getType()))
    return arith::AddIOp::create(d.b, x, y);
  return arith::AddFOp::create(d.b, x, y);
}

void mlir::mp::storeSums(const GemmEpilogue &e, bool fresh) {
  SmallVector<Value> old; // from this column on, backwards
  e.store.store(e.operands, [&](unsigned, Point point) {
    Value value = e.sum(point);
    if (fresh)
      return value;
    if (old.empty()) {
      old = e.store.load(e.operands.front(), point);
      std::reverse(old.begin(), old.end());
    }
    return sum(e.d, old.pop_back_val(), value);
  });
}

Value mlir::mp::oldSum(const GemmEpilogue &e, Point point) {
  SmallVector<Value> run = e.store.load(e.operands.front(), point);
  return run[point.column % run.size()];
}

bool mlir::mp::startsFromOld(linalg::GenericOp op) {
  return !op->hasAttr(kMmaFreshAttrName) &&
         op->getAttrOfType<StringAttr>(kMmaAttrName).getValue() == "f32";
}

/// True if the kernel needs elements of the argument: not of an output that is overwritten.
static bool isRead(BlockArgument argument, const EpiloguePlan &plan) {
  return llvm::any_of(argument.getUses(), [&](OpOperand &use) {
    auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
    if (!op || !op.isDpsInit(&use))
      return true;
    const bool isFresh = op.getOperation() == plan.op && op->hasAttr(kMmaFreshAttrName);
    return !isFresh && op.payloadUsesValueFromOperand(&use);
  });
}

DispatchEpilogue::DispatchEpilogue(mpk::DispatchOp dispatch, const EpiloguePlan &plan)
    : dispatch(dispatch), plan(plan) {
  auto hostValue = [&](BlockArgument argument) {
    return dispatch->getOperand(argument.getArgNumber());
  };
  for (const OperandSource &source : plan.sources)
    all.push_back({hostValue(cast<BlockArgument>(source.tensor)), source.access, source.narrowing,
                   source.padded, source.beyond});
  auto push = [&](Value buffer, ArrayRef<int> dims) {
    LinearAccess access;
    for (int loop : dims) {
      access.coefficients.emplace_back(plan.op.getNumLoops(), 0);
      if (loop >= 0)
        access.coefficients.back()[loop] = 1;
      access.constants.push_back(0);
    }
    all.push_back({buffer, access, {}, {}});
  };
  for (BlockArgument argument : dispatch.getBody().getArguments()) {
    if (!isa<TensorType>(argument.getType())) {
      scalarArguments.push_back(argument);
      scalarInputs.push_back(hostValue(argument));
    } else if (auto dims = plan.dims.find(argument);
               dims != plan.dims.end() && isRead(argument, plan)) {
      reads.push_back(argument);
      push(hostValue(argument), dims->second);
    }
  }
  for (auto [output, value] : llvm::zip_equal(dispatch.getOutputs(), dispatch.getYields()))
    push(output, plan.dims.find(value)->second);
}

std::string DispatchEpilogue::text() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (Operation &op : dispatch.getBody().front())
    op.print(stream, OpPrintingFlags().useLocalScope().skipRegions(false));
  return text;
}

namespace {

/// Elements of what the body reads: sums, and buffers beside them.
class Elements : public Evaluate::Source {
public:
  Elements(const GemmEpilogue &e, const EpiloguePlan &plan, ArrayRef<BlockArgument> reads,
           ArrayRef<BlockArgument> scalars)
      : e(e), plan(plan), reads(reads), scalars(scalars) {}

  Evaluate *evaluate = nullptr;

  Value read(Value value, Point point) override {
    if (value == plan.op->getResult(0)) {
      Value product = e.sum(point);
      if (plan.op->hasAttr(kMmaFreshAttrName) || startsFromOld(plan.op))
        return product;
      return sum(e.d, evaluate->at(plan.op.getDpsInits()[0], point), product);
    }
    auto argument = cast<BlockArgument>(value);
    if (auto scalar = llvm::find(scalars, argument); scalar != scalars.end())
      return e.scalars[scalar - scalars.begin()];
    const ResultOperand &from = e.operands[llvm::find(reads, argument) - reads.begin()];
    SmallVector<Value> elements = e.store.load(from, point);
    const unsigned own = point.column % elements.size();
    for (auto [i, element] : llvm::enumerate(elements))
      if (i != own)
        evaluate->set(value, {point.row, unsigned(point.column - own + i)}, element);
    return elements[own];
  }
  Value gather(BlockArgument, ValueRange, Point, unsigned) override {
    llvm_unreachable("the plan refuses bodies that gather");
  }
  Value index(Operation *, unsigned, Point) override {
    llvm_unreachable("the plan refuses bodies with indices");
  }
  unsigned varies(Value tensor) override {
    unsigned bits = kUniform;
    if (auto dims = plan.dims.find(tensor); dims != plan.dims.end())
      for (int loop : dims->second) {
        if (llvm::is_contained(plan.contraction.m, unsigned(loop)))
          bits |= kAlongRows;
        if (llvm::is_contained(plan.contraction.n, unsigned(loop)))
          bits |= kAlongColumns;
      }
    return bits;
  }
  unsigned varies(Operation *, unsigned) override {
    llvm_unreachable("the plan refuses bodies with indices");
  }

private:
  const GemmEpilogue &e;
  const EpiloguePlan &plan;
  ArrayRef<BlockArgument> reads, scalars;
};

} // namespace

void DispatchEpilogue::emit(const GemmEpilogue &e) const {
  const MathForms exact;
  Elements elements(e, plan, reads, scalarArguments);
  Evaluate evaluate(e.d.b, elements, exact);
  elements.evaluate = &evaluate;
  SmallVector<Value> results(dispatch.getYields());
  e.store.store(e.operands.drop_front(reads.size()),
                [&](unsigned result, Point point) { return evaluate.at(results[result], point); });
}

Value DispatchEpilogue::start(const GemmEpilogue &e, Point point) const {
  const MathForms exact;
  Elements elements(e, plan, reads, scalarArguments);
  Evaluate evaluate(e.d.b, elements, exact);
  elements.evaluate = &evaluate;
  return evaluate.at(plan.op.getDpsInits()[0], point);
}

/// A loop is a dimension of A, of B or, where A has windows, of the outputs by itself.
static Value sizeOfLoop(OpBuilder &b, mpk::DispatchOp dispatch, const EpiloguePlan &plan,
                        int loop) {
  auto dimOf = [&](Value buffer, size_t dim) -> Value {
    return memref::DimOp::create(b, dispatch.getLoc(), buffer, int64_t(dim));
  };
  SmallVector<int64_t> alone(plan.op.getNumLoops(), 0);
  alone[loop] = 1;
  for (const OperandSource &source : plan.sources)
    for (auto [dim, coefficients] : llvm::enumerate(source.access.coefficients))
      if (coefficients == alone && source.access.constants[dim] == 0 &&
          !llvm::is_contained(source.padded, dim)) {
        auto argument = cast<BlockArgument>(source.tensor);
        return dimOf(dispatch->getOperand(argument.getArgNumber()), dim);
      }
  for (auto [output, value] : llvm::zip_equal(dispatch.getOutputs(), dispatch.getYields()))
    for (auto [dim, known] : llvm::enumerate(plan.dims.find(value)->second))
      if (known == loop)
        return dimOf(output, dim);
  llvm_unreachable("a loop without a dimension");
}

SmallVector<OpFoldResult> mlir::mp::loopSizes(OpBuilder &b, mpk::DispatchOp dispatch,
                                              const EpiloguePlan &plan) {
  SmallVector<OpFoldResult> sizes;
  for (auto [loop, size] : llvm::enumerate(plan.op.getStaticLoopRanges())) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(b.getIndexAttr(size));
      continue;
    }
    sizes.push_back(sizeOfLoop(b, dispatch, plan, int(loop)));
  }
  return sizes;
}
