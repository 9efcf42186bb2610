// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-write-proofs: write why contractions may read their factors in f16 (changes
// nothing). Of each factor of a contraction that was decided for a format of small range, the
// claims of the range analysis on all values that its range was computed from; what nothing is
// known of is left out.

#include "mp/Analysis/ConstantRounding.h"
#include "mp/Analysis/DataMovement.h"
#include "mp/Analysis/FunctionWalk.h"
#include "mp/Analysis/Ranges/RangeAnalysis.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Proofs/Derivation.h"
#include "mp/Support/Files.h"
#include "mp/Transforms/Verify/Derivations.h"
#include "mp/Transforms/Verify/Passes.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::mp {
#define GEN_PASS_DEF_WRITEPROOFS
#include "mp/Transforms/Verify/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;
using domains::FloatFacts;

namespace {
/// Collects the derivation of one function, from the factors back.
class DerivationWriter {
public:
  using Needs = std::function<void(Value)>;
  /// `needElsewhere`: of values of other functions, which calls hand over.
  DerivationWriter(FunctionOpInterface function, const FunctionRanges &ranges,
                   const ValueNumbering &values, ArrayRef<CallOpInterface> calls,
                   Needs needElsewhere)
      : function(function), ranges(ranges), calls(calls), needElsewhere(std::move(needElsewhere)),
        names(function) {
    for (unsigned number = 0; number < names.size(); ++number)
      for (Value result : names.getOp(number)->getResults())
        if (View view = values.lookup(result); view && values.coversNode(result))
          representatives.try_emplace(view.node, result);
  }

  void addConclusion(OpOperand &operand, Evidence evidence);
  void need(Value value);
  proofs::FunctionDerivation finish();

private:
  void needCalled(Operation *op, unsigned index);
  proofs::Claim describe(Value value);
  std::string ruleOf(Value value);

  FunctionOpInterface function;
  const FunctionRanges &ranges;
  ArrayRef<CallOpInterface> calls;
  Needs needElsewhere;
  proofs::ValueNames names;
  DenseMap<NodeId, Value> representatives;
  llvm::SetVector<Value> needed;
  std::vector<proofs::Conclusion> conclusions;
};
} // namespace

static proofs::Basis basisOf(domains::Provenance provenance) {
  switch (provenance) {
  case domains::Provenance::Proved: return proofs::Basis::Proved;
  case domains::Provenance::Assumed: return proofs::Basis::Stated;
  case domains::Provenance::Sampled: return proofs::Basis::Measured;
  }
  llvm_unreachable("unknown provenance");
}

void DerivationWriter::addConclusion(OpOperand &operand, Evidence evidence) {
  proofs::Basis basis = evidence == Evidence::Proved   ? proofs::Basis::Proved
                        : evidence == Evidence::Stated ? proofs::Basis::Stated
                                                       : proofs::Basis::Measured;
  conclusions.push_back({names.getNumber(operand.getOwner()), operand.getOperandNumber(),
                         names.getName(operand.get()), basis});
  need(operand.get());
}

void DerivationWriter::need(Value value) {
  SmallVector<Value> pending = {value};
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    // An element of an operand: the checker finds it.
    if (auto argument = dyn_cast<BlockArgument>(next))
      if (auto op = dyn_cast<linalg::LinalgOp>(argument.getOwner()->getParentOp())) {
        pending.push_back(op.getMatchingOpOperand(argument)->get());
        continue;
      }
    bool isConstant =
        next.getDefiningOp() && next.getDefiningOp()->hasTrait<OpTrait::ConstantLike>();
    if (isConstant || !getFloatFormat(next.getType()) || ranges.lookup(next).facts.isTop() ||
        !needed.insert(next))
      continue;
    // Operands of a comparison bound what it chooses.
    auto add = [&](ValueRange values) {
      for (Value value : values) {
        pending.push_back(value);
        if (auto compare = value.getDefiningOp<arith::CmpFOp>())
          llvm::append_range(pending, compare->getOperands());
      }
    };
    if (const LemmaBound *lemma = ranges.findLemma(next))
      for (NodeId premise : lemma->premises)
        if (Value known = representatives.lookup(premise))
          pending.push_back(known);
    Operation *op = next.getDefiningOp();
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      op = argument.getOwner()->getParentOp();
      if (op == function) {
        for (Block *from : argument.getOwner()->getPredecessors())
          add(from->getTerminator()->getOperands());
        if (argument.getOwner()->isEntryBlock())
          for (CallOpInterface call : calls)
            needElsewhere(call->getOperand(argument.getArgNumber()));
        continue;
      }
    }
    if (isa<CallOpInterface>(op)) {
      needCalled(op, cast<OpResult>(next).getResultNumber());
      continue;
    }
    add(op->getOperands());
    if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
      for (Operation &inner : *structured.getBlock())
        add(inner.getOperands());
      continue;
    }
    for (Region &region : op->getRegions())
      for (Block &block : region)
        add(block.getTerminator()->getOperands());
  }
}

/// Returns what a call's result `index` is inside the function that is called.
void DerivationWriter::needCalled(Operation *op, unsigned index) {
  auto callee = dyn_cast_or_null<FunctionOpInterface>(cast<CallOpInterface>(op).resolveCallable());
  if (!callee || callee.isExternal())
    return;
  for (Block &block : callee.getFunctionBody())
    if (Operation *end = block.getTerminator();
        end->hasTrait<OpTrait::ReturnLike>() && index < end->getNumOperands())
      needElsewhere(end->getOperand(index));
}

std::string DerivationWriter::ruleOf(Value value) {
  if (const LemmaBound *lemma = ranges.findLemma(value))
    return toString(lemma->lemma).str();
  auto argument = dyn_cast<BlockArgument>(value);
  bool isFunctionArgument = argument && argument.getOwner() == &function.getFunctionBody().front();
  bool isStated = isFunctionArgument
                      ? bool(function.getArgAttr(argument.getArgNumber(), kRangeAttrName))
                      : !argument && value.getDefiningOp()->hasAttr(kRangeAttrName);
  if (isStated)
    return "stated";
  bool isCarried = argument && !isa<linalg::LinalgOp>(argument.getOwner()->getParentOp());
  return isCarried ? "carried" : "interval";
}

proofs::Claim DerivationWriter::describe(Value value) {
  const FloatFacts &facts = ranges.lookup(value).facts;
  proofs::Claim claim;
  claim.value = names.getName(value);
  if (Operation *op = value.getDefiningOp())
    claim.operation = op->getName().getStringRef().str();
  claim.rule = ruleOf(value);
  claim.low = facts.range.lo;
  claim.high = facts.range.hi;
  claim.mayBeNaN = facts.mayNaN;
  claim.mayBeInfinite = facts.mayInf;
  claim.norm = facts.norm2;
  claim.basis = basisOf(facts.provenance);
  if (const LemmaBound *lemma = ranges.findLemma(value))
    for (NodeId premise : lemma->premises)
      if (Value known = representatives.lookup(premise))
        claim.premises.push_back(names.getName(known));
  return claim;
}

proofs::FunctionDerivation DerivationWriter::finish() {
  proofs::FunctionDerivation derivation;
  derivation.name = function.getName();
  derivation.opCount = names.size();
  SmallVector<Value> ordered(needed.begin(), needed.end());
  llvm::stable_sort(ordered,
                    [&](Value a, Value b) { return names.getPlace(a) < names.getPlace(b); });
  for (Value value : ordered)
    derivation.claims.push_back(describe(value));
  derivation.conclusions = std::move(conclusions);
  return derivation;
}

/// The factors of `op` that a decision reads in the format, and that no constant gives.
static void collectConclusions(Operation *op, FloatType narrow, const FunctionRanges &ranges,
                               llvm::function_ref<void(OpOperand &, Evidence)> found) {
  auto precision = op->getAttrOfType<PrecisionAttr>(kPrecisionAttrName);
  if (!precision || precision.getCompute() != narrow || !isContraction(op))
    return;
  for (OpOperand *factor : getFactors(op)) {
    if (!getFloatFormat(factor->get().getType()).isF32() || findConstant(factor->get()))
      continue;
    Evidence evidence = ranges.findEvidence(factor->get(), narrow);
    if (llvm::is_contained({Evidence::Proved, Evidence::Stated, Evidence::Measured}, evidence))
      found(*factor, evidence);
  }
}

proofs::Derivation mlir::mp::deriveProofs(ModuleOp module) {
  FloatType narrow = Float16Type::get(module.getContext());
  ModuleRanges ranges(module, {.narrow = narrow});
  llvm::MapVector<Operation *, std::unique_ptr<DerivationWriter>> writers;
  auto need = [&](Value value) {
    auto function = value.getParentRegion()->getParentOfType<FunctionOpInterface>();
    if (auto writer = writers.find(function); writer != writers.end())
      writer->second->need(value);
  };
  walkFunctions(module, [&](FunctionOpInterface function) {
    if (!function.isExternal())
      writers[function] = std::make_unique<DerivationWriter>(function, ranges.get(function),
                                                             ranges.getNumbering(function),
                                                             ranges.getCalls(function), need);
  });
  for (auto &[function, writer] : writers)
    function->walk([&](Operation *op) {
      collectConclusions(
          op, narrow, ranges.get(cast<FunctionOpInterface>(function)),
          [&](OpOperand &operand, Evidence evidence) { writer->addConclusion(operand, evidence); });
    });
  proofs::Derivation derivation;
  derivation.format = "f16";
  for (auto &[function, writer] : writers)
    derivation.functions.push_back(writer->finish());
  return derivation;
}

namespace {
struct WriteProofs : mlir::mp::impl::WriteProofsBase<WriteProofs> {
  using WriteProofsBase::WriteProofsBase;

  /// Opens the file before the work.
  LogicalResult initialize(MLIRContext *context) override {
    if (file.empty())
      return emitError(UnknownLoc::get(context))
             << "mp-write-proofs: option 'file' is empty, expected the file to write";
    if (llvm::Error error = output.open(file, "file=" + file))
      return emitError(UnknownLoc::get(context)) << llvm::toString(std::move(error));
    return success();
  }

  void runOnOperation() override {
    const proofs::Derivation derivation = deriveProofs(getOperation());
    llvm::Error error = output.write([&](llvm::raw_ostream &os) {
      os << llvm::formatv("{0:2}", proofs::toJSON(derivation)) << "\n";
    });
    if (error) {
      emitError(UnknownLoc::get(&getContext())) << llvm::toString(std::move(error));
      signalPassFailure();
    }
    markAllAnalysesPreserved();
  }

private:
  support::LateOutput output;
};
} // namespace
