// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the weights of a contraction that mma.sp takes, and says what it then computes.

#include "SparseFactor.h"

#include "ConstantMatrix.h"
#include "mp/Kernels/MmaSelection.h"
#include "mp/Kernels/Passes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mp;
using mpcore::layouts::DenseGroup;
using mpcore::performance::MatmulProblem;

Contraction mlir::mp::exchanged(const Contraction &contraction) {
  Contraction other = contraction;
  std::swap(other.m, other.n);
  std::swap(other.access[0], other.access[1]);
  std::swap(other.format[0], other.format[1]);
  std::swap(other.isUnsigned[0], other.isUnsigned[1]);
  return other;
}

static void moveInnermost(Contraction &contraction, unsigned loop) {
  llvm::erase(contraction.k, loop);
  contraction.k.push_back(loop);
}

/// Reads A; nothing if it is no constant. `first` is what is in the way, else.
static std::optional<unsigned> findGroupLoop(Value factor, Contraction contraction,
                                             ArrayRef<int64_t> ranges, bool &isConstant,
                                             std::optional<DenseGroup> &first) {
  if (contraction.k.empty())
    return std::nullopt;
  // In the order of the loops, then along each that has whole groups.
  SmallVector<unsigned> candidates = {contraction.k.back()};
  for (unsigned loop : llvm::reverse(ArrayRef(contraction.k).drop_back()))
    if (ranges[loop] % 4 == 0)
      candidates.push_back(loop);
  for (unsigned loop : candidates) {
    moveInnermost(contraction, loop);
    auto matrix = ConstantMatrix::read(factor, contraction.access[0], contraction, ranges);
    if (!matrix)
      return std::nullopt;
    isConstant = true;
    std::optional<DenseGroup> dense = matrix->findDense();
    if (!dense)
      return loop;
    if (!first)
      first = dense;
  }
  return std::nullopt;
}

FailureOr<SparseFactor> mlir::mp::findSparseFactor(linalg::GenericOp op, ArrayRef<Value> factors,
                                                   const target::TargetModel &model,
                                                   std::string &reason) {
  StringRef format = op->getAttrOfType<StringAttr>(kMmaAttrName).getValue();
  if (!selectSparseInstruction(model, format)) {
    reason = (model.name + " has no mma.sp of " + format + " that is written here").str();
    return failure();
  }
  FailureOr<Contraction> contraction = matchContraction(op, reason);
  if (failed(contraction))
    return failure();
  const SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  bool isConstant = false;
  std::optional<DenseGroup> first;
  for (unsigned operand : {1, 0})
    if (factors[operand])
      if (auto loop =
              findGroupLoop(factors[operand], operand ? exchanged(*contraction) : *contraction,
                            ranges, isConstant, first))
        return SparseFactor{operand, *loop};
  if (first)
    reason = llvm::formatv("of the four weights of output {0} from product {1} on, {2} are not "
                           "zero",
                           first->row, first->k, first->nonZeros);
  else if (!isConstant)
    reason = "neither factor is a constant of 8 or 16 bits, whose zeros could be checked";
  return failure();
}

std::optional<MatmulProblem> mlir::mp::sparseProblemOf(const MatmulProblem &dense,
                                                       linalg::GenericOp op) {
  auto mark = op->getAttrOfType<IntegerAttr>(kMmaTwoOfFourAttrName);
  if (!mark)
    return std::nullopt;
  return sparseProblemOf(dense, unsigned(mark.getInt()));
}

MatmulProblem mlir::mp::sparseProblemOf(const MatmulProblem &dense, unsigned operand) {
  MatmulProblem problem = dense;
  problem.sparseA = true;
  if (operand == 1) {
    std::swap(problem.m, problem.n);
    std::swap(problem.aBits, problem.bBits);
    problem.sharedB = false;
  }
  return problem;
}
