// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks the performance model which of the menu's schedules suits a contraction.

#include "ScheduleChoice.h"

#include "../Select/TargetPart.h"
#include "SplitSums.h"
#include "mp/Dialect/MPK/MPKDialect.h"
#include "mp/Kernels/Passes.h"
#include "mp/Performance/Estimate.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mpcore::performance;

/// Estimated registers are right within this many (checked against ptxas), and a spill costs more
/// than a smaller tile.
static constexpr unsigned kRegisterMargin = 16;

static MatmulProblem problemOf(const GemmPlan &plan) {
  auto sizeOf = [](ArrayRef<StridedLoop> loops) {
    int64_t size = 1;
    for (const StridedLoop &loop : loops)
      size *= loop.size.isKnown() ? std::max<int64_t>(loop.size.value, 1) : kAssumedSize;
    return size;
  };
  MatmulProblem problem;
  problem.batch = sizeOf(plan.batch) * plan.products;
  problem.m = sizeOf(plan.m);
  problem.n = sizeOf(plan.n);
  problem.k = sizeOf(plan.k);
  StringRef format = plan.instruction->operandFormat(0);
  problem.format = plan.instruction->isInteger() ? "i8" : format.str();
  problem.result = plan.instruction->isInteger() ? "i32" : "f32";
  problem.aBits = plan.stageA.narrowing ? 8 * plan.bytes[0] : 0;
  problem.bBits = plan.stageB.narrowing ? 8 * plan.bytes[1] : 0;
  problem.sparseA = plan.sparse.has_value();
  return problem;
}

/// Registers beyond those that the model counts.
static unsigned additionalRegisters(const GemmPlan &plan, const MatmulSchedule &s) {
  const unsigned threads = 32 * s.warpsM * s.warpsN;
  unsigned registers = plan.promotes ? s.m * s.n / threads : 0; // totals beside the sums
  const std::pair<const StagingPlan &, unsigned> stages[] = {{plan.stageA, s.m},
                                                             {plan.stageB, s.n}};
  for (auto [operand, entry] : llvm::enumerate(stages)) {
    auto [stage, outer] = entry;
    // A tile that is narrowed waits in registers as it is in memory, a third of a step at once.
    if (stage.narrowing)
      registers += llvm::divideCeil(outer * s.k / threads / stage.vector, 3) * stage.vector;
    const unsigned bytes = stage.vector * unsigned(plan.elementBytes());
    // The scalar units' elements that are copied one by one: each has an offset and, where the sum
    // has several loops, its own place in those.
    if (plan.instruction->isScalar() && stage.vector == 1)
      registers += outer * s.k / threads * (plan.k.size() > 1 ? 6 : 2) * (plan.fitsInt32() ? 1 : 2);
    // Each element takes a register of its own, in one of three shares of a step, and an address.
    if (!stage.asynchronous && bytes < 4) {
      const unsigned accesses = outer * s.k / threads / stage.vector;
      registers += accesses / 3 + (plan.fitsInt32() ? 0 : 2 * accesses);
      // Rows of their own: an offset each, and what of them lies inside.
      const unsigned padded =
          llvm::count_if(plan.padded, [&, operand = operand](const PaddedDim &dim) {
            return dim.operand == operand;
          });
      registers += padded ? (1 + padded) * accesses : 0;
    }
  }
  return registers;
}

/// True if sums that slices or blocks share may be added, and can be.
static bool suitsSum(const GemmPlan &plan, const MatmulSchedule &s, SumOrder sums) {
  const bool isShared = s.slices > 1 || s.splitK > 1;
  if (isShared && sums == SumOrder::Ordered && !plan.instruction->isInteger())
    return false;
  return (s.slices == 1 || (llvm::isPowerOf2_32(s.slices) && plan.canStageSums(s))) &&
         (s.splitK == 1 || canSplitSums(plan, s));
}

static MatrixUnit unitOf(const GemmPlan &plan) {
  return plan.instruction->isScalar() ? MatrixUnit::Fma : MatrixUnit::MmaSync;
}

/// Loads if registers are needed between global and shared memory for an operand.
static Copy copyOf(const GemmPlan &plan, const target::TargetModel &target) {
  auto loadsAlone = [&](const StagingPlan &stage) {
    return !stage.asynchronous && !(stage.narrowing && target.memory.cpAsync);
  };
  return loadsAlone(plan.stageA) || loadsAlone(plan.stageB) ? Copy::Loads : Copy::Async;
}

/// `most`: registers of a thread.
static llvm::Expected<MatmulSchedule> chooseSchedule(const GemmPlan &plan,
                                                     const target::TargetModel &target,
                                                     SumOrder sums, unsigned most) {
  const Part *part = firstPart(target);
  if (!part)
    return llvm::createStringError("no GPU of " + target.name + " is known to choose tiles for");
  const MatmulProblem matmul = problemOf(plan);
  const Problem problem = matmul;
  std::vector<Candidate> candidates;
  std::optional<Candidate> smallest; // by registers, for want of one that leaves the margin
  unsigned leastRegisters = ~0u;
  for (const Schedule &schedule : writtenMenu(matmul, *part, copyOf(plan, target))) {
    const auto &s = std::get<MatmulSchedule>(schedule);
    llvm::Expected<Resources> resources = resourcesOf(problem, schedule, *part);
    if (!resources)
      return resources.takeError(); // the menu has only what fits
    const unsigned registers = resources->registers + additionalRegisters(plan, s);
    if (!suitsSum(plan, s, sums))
      continue;
    if (registers + kRegisterMargin <= std::min(most, part->limits().registersPerThread))
      candidates.push_back({schedule, *resources});
    if (registers < leastRegisters) {
      leastRegisters = registers;
      smallest = {schedule, *resources};
    }
  }
  if (candidates.empty() && smallest)
    candidates.push_back(*smallest);
  if (candidates.empty())
    return llvm::createStringError("no schedule of the menu runs '" + toString(problem) + "' on " +
                                   part->name);
  const Calibration &constants = calibrationFor(*part, unitOf(plan), matmul.format);
  size_t chosen = chooseRobustly(problem, candidates, *part, constants).first;
  MatmulSchedule s = std::get<MatmulSchedule>(candidates[chosen].schedule);
  // A sum of few steps needs no stages beyond them.
  const int64_t depth = int64_t(s.depth()) * s.splitK;
  if (std::optional<int64_t> k = knownExtent(plan.k))
    s.stages = unsigned(std::clamp<int64_t>((*k + depth - 1) / depth, 2, s.stages));
  return s;
}

/// Checks what the kernel needs of a schedule beyond what the part must allow.
static llvm::Error checkPinned(const GemmPlan &plan, const target::TargetModel &target,
                               const MatmulSchedule &s, SumOrder sums) {
  const bool isScalar = plan.instruction->isScalar();
  if (s.unit != unitOf(plan))
    return llvm::createStringError("kernels here are of unit=" + toString(unitOf(plan)));
  // Async is what a text says that says nothing.
  if (s.copy != Copy::Async && s.copy != copyOf(plan, target))
    return llvm::createStringError(
        "kernels here copy these operands by copy=" + toString(copyOf(plan, target)) +
        ", found copy=" + toString(s.copy));
  if (s.clusterM * s.clusterN != 1 || s.overlappedStores)
    return llvm::createStringError("kernels here have cluster=1x1 and no overlapped-stores, found "
                                   "cluster=" +
                                   Twine(s.clusterM) + "x" + Twine(s.clusterN) +
                                   (s.overlappedStores ? " overlapped-stores=true" : ""));
  if (isScalar &&
      (s.k != 16 || s.slices * s.splitK != 1 || s.m % (16 * s.warpsM) || s.n % (16 * s.warpsN)))
    return llvm::createStringError("a step is 16 products deep, one thread has all of a sum, and a "
                                   "warp has rows and columns in multiples of 16");
  if (!isScalar && s.k * plan.elementBytes() != 128)
    return llvm::createStringError("a step is 128 bytes of products deep, here k=" +
                                   Twine(128 / plan.elementBytes()));
  for (unsigned size : {s.m, s.n, s.warpsM, s.warpsN, s.slices})
    if (!llvm::isPowerOf2_32(size))
      return llvm::createStringError("tiles, warps and slices are powers of two, found " +
                                     Twine(size));
  if (s.slices * s.splitK > 1 && sums == SumOrder::Ordered && !plan.instruction->isInteger())
    return llvm::createStringError("slices and splits of a sum of floats need sums=tree");
  if (plan.sparse && s.slices > 8)
    return llvm::createStringError("metadata of a sparse A is for at most eight slices of a sum");
  const std::optional<int64_t> k = knownExtent(plan.k);
  if (s.splitK > 1 &&
      (!canSplitSums(plan, s) || (k && int64_t(llvm::divideCeil(*k, s.depth())) < s.splitK)))
    return llvm::createStringError("blocks share sums where every size of the results is known, "
                                   "tiles are at most " +
                                   Twine(kMostSharedTiles) + ", and each block has a step");
  if (s.slices > 1 && !plan.canStageSums(s))
    return llvm::createStringError("sums of slices go through the ring, where a tile of " +
                                   Twine(s.m) + "x" + Twine(s.n) + " for each of " +
                                   Twine(s.slices) + " has no room, or not 32 columns");
  return llvm::Error::success();
}

llvm::Expected<MatmulSchedule> mlir::mp::scheduleOf(Operation *op, const GemmPlan &plan,
                                                    const target::TargetModel &target,
                                                    SumOrder sums) {
  auto pinned = op->getAttrOfType<mpk::ScheduleAttr>(kScheduleAttrName);
  if (!pinned) {
    auto most = op->getAttrOfType<IntegerAttr>(kMmaRegistersAttrName);
    return chooseSchedule(plan, target, sums, most ? unsigned(most.getInt()) : ~0u);
  }
  auto refuse = [&](llvm::Error why) {
    return llvm::createStringError("pins '" + Twine(kScheduleAttrName) + "', but " +
                                   toString(std::move(why)));
  };
  llvm::Expected<Schedule> schedule =
      parseSchedule((mpk::stringifyFamily(pinned.getFamily()) + " " + pinned.getSettings()).str());
  if (!schedule)
    return refuse(schedule.takeError());
  const auto *s = std::get_if<MatmulSchedule>(&*schedule);
  if (!s)
    return refuse(llvm::createStringError("it is no schedule of a matmul"));
  if (llvm::Error error = checkPinned(plan, target, *s, sums))
    return refuse(std::move(error));
  const Part *part = firstPart(target);
  if (!part)
    return *s;
  llvm::Expected<Resources> fits = resourcesOf(problemOf(plan), *schedule, *part);
  if (!fits)
    return refuse(fits.takeError());
  const unsigned registers = fits->registers + additionalRegisters(plan, *s);
  if (registers > part->limits().registersPerThread)
    return refuse(llvm::createStringError("about " + Twine(registers) + " registers exceed the " +
                                          Twine(part->limits().registersPerThread) +
                                          " of a thread"));
  return *s;
}
