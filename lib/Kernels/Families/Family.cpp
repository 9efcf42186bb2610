// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks each family in turn.

#include "Family.h"

#include "../Build/RowReduce.h"
#include "AttentionParts.h"
#include "StreamKernel.h"
#include "TransposeKernel.h"
#include "mp/Interfaces/Contraction.h"
#include "mp/Interfaces/LoopNest.h"
#include "mp/Kernels/Select/Passes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mp;
namespace performance = mpcore::performance;

/// Buffers as they are, tensors as buffers of their shape.
static SmallVector<Type> bufferTypes(mpk::DispatchOp dispatch) {
  SmallVector<Type> types;
  for (Type type : dispatch->getOperandTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    types.push_back(tensor ? MemRefType::get(tensor.getShape(), tensor.getElementType()) : type);
  }
  return types;
}

/// The buffer that a view is of.
static Value bufferOf(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

/// True if no output can be the same memory: all were made for this function, and for others.
static bool isConstant(mpk::DispatchOp dispatch, Value input) {
  return llvm::all_of(dispatch.getOutputs(), [&](Value output) {
    Value written = bufferOf(output);
    return written.getDefiningOp<memref::AllocOp>() && written != bufferOf(input);
  });
}

/// True if some sum of floats must keep its order.
static bool addsInOrder(const StreamPlan &plan, SumOrder sums) {
  if (sums == SumOrder::Tree)
    return false;
  for (ArrayRef<linalg::LinalgOp> level : plan.levels)
    for (linalg::LinalgOp op : level)
      for (unsigned i = 0; i < op->getNumResults(); ++i)
        if (!isOrderFree(readCombination(op, i)->combiner))
          return true;
  return false;
}

/// Elements that a thread of a map computes at most: its kernel has the code of each.
static constexpr unsigned kMostPerThread = 1024;

/// Says which number of a schedule its kernels do not have; says nothing if they have all.
static std::string findMisfit(const performance::Schedule &schedule) {
  std::string misfit;
  auto expectPower = [&](const std::string &field, unsigned found, unsigned least, unsigned most) {
    if (misfit.empty() && (!llvm::isPowerOf2_32(found) || found < least || found > most))
      misfit = "expected " + field + " to be " +
               (least == most ? std::to_string(least)
                              : "a power of two from " + std::to_string(least) + " to " +
                                    std::to_string(most)) +
               ", found " + std::to_string(found);
  };
  if (auto *map = std::get_if<performance::MapSchedule>(&schedule)) {
    expectPower("vector", map->vectorBytes, 1, 16);
    expectPower("block", map->block, 32, 1024);
    if (misfit.empty() && (map->elementsPerThread == 0 || map->elementsPerThread > kMostPerThread))
      misfit = ("expected per-thread to be 1 to " + llvm::Twine(kMostPerThread) + ", found " +
                llvm::Twine(map->elementsPerThread))
                   .str();
  } else if (auto *rows = std::get_if<performance::RowSchedule>(&schedule)) {
    expectPower("vector", rows->vectorBytes, 1, 16);
    expectPower("threads-per-row", rows->threadsPerRow, 1, 1024);
    if (misfit.empty())
      expectPower("rows-per-block", rows->rowsPerBlock, 1, 1024 / rows->threadsPerRow);
  } else if (auto *tiles = std::get_if<performance::TransposeSchedule>(&schedule)) {
    expectPower("block", tiles->block, 32, 1024);
    expectPower("tile", tiles->tile, 8, 1024);
    expectPower("vector", tiles->vectorBytes, 16, 16);
  }
  return misfit;
}

/// Says which numbers that a schedule spells the kernel does not have, and why.
static std::string findDeparture(mpk::ScheduleAttr spelled, const StreamChoice &choice,
                                 const StreamShape &shape) {
  std::string departure;
  auto compare = [&](StringRef field, unsigned asked, unsigned found, const Twine &why) {
    if (departure.empty() && asked != found && spelled.getSettings().contains(field))
      departure = llvm::formatv("asks for {0}={1}, and its kernel has {2}: {3}", field, asked,
                                found, why.str());
  };
  if (choice.rows) {
    StringRef why = choice.ordered ? "one thread adds a row in order, unless sums=tree"
                                   : "neighbours in memory are of different rows";
    compare("threads-per-row", choice.rows->threadsPerRow, shape.threadsPerRow, why);
    compare("rows-per-block", choice.rows->rowsPerBlock, shape.rowsPerBlock, why);
  } else if (choice.map) {
    const unsigned asked = choice.map->elementsPerThread, held = shape.chunks * shape.vector;
    compare("per-thread", asked, held,
            held < asked ? Twine("a row has no more")
                         : "a thread has whole vectors of " + Twine(shape.vector));
  }
  return departure;
}

/// The schedule that a dispatch carries, nothing if it has none.
static FailureOr<std::optional<performance::Schedule>> scheduleOf(mpk::DispatchOp dispatch,
                                                                  std::string &reason) {
  mpk::ScheduleAttr schedule = dispatch.getScheduleAttr();
  if (!schedule)
    return std::optional<performance::Schedule>();
  llvm::StringRef kind = mpk::stringifyFamily(schedule.getFamily());
  if (schedule.getFamily() == mpk::Family::Reduce)
    kind = "column-reduction";
  std::string text = (kind + " " + schedule.getSettings()).str();
  llvm::Expected<performance::Schedule> parsed = performance::parseSchedule(text);
  if (!parsed) {
    reason = "its schedule: " + llvm::toString(parsed.takeError());
    return failure();
  }
  if (std::string misfit = findMisfit(*parsed); !misfit.empty()) {
    reason = "its schedule: " + misfit;
    return failure();
  }
  auto *rows = std::get_if<performance::RowSchedule>(&*parsed);
  if (rows && rows->residence == performance::Residence::Shared) {
    reason = "its schedule keeps rows in shared memory (residence=shared), which no kernel does; "
             "expected residence=registers or residence=reread";
    return failure();
  }
  return std::optional<performance::Schedule>(*parsed);
}

template <class T>
static std::optional<T> scheduleAs(const std::optional<performance::Schedule> &schedule) {
  if (const T *found = schedule ? std::get_if<T>(&*schedule) : nullptr)
    return *found;
  return std::nullopt;
}

/// Contractions of the body.
static unsigned countProducts(Block &body) {
  return llvm::count_if(body.getOps<linalg::GenericOp>(), looksLikeContraction);
}

/// True if mp-choose-functions marked the exponential of attention, the only one of the body.
static bool roundingHidesSoftmax(mpk::DispatchOp dispatch) {
  SmallVector<math::ExpOp> exponentials;
  dispatch.getBody().walk([&](math::ExpOp op) { exponentials.push_back(op); });
  return exponentials.size() == 1 && exponentials[0]->hasAttr(kApproximateAttrName);
}

/// Marks the exponentials of a kernel of attention where the rounding of probabilities hides them.
static gpu::GPUFuncOp marked(gpu::GPUFuncOp kernel, bool isHidden) {
  if (isHidden)
    kernel.walk([](math::ExpOp op) {
      op->setAttr(kApproximateAttrName, StringAttr::get(op.getContext(), "instruction"));
    });
  return kernel;
}

static FailureOr<FamilyKernels>
planAttentionKernel(mpk::DispatchOp dispatch, ArrayRef<Type> types, const KernelNumbers &numbers,
                    const std::optional<performance::Schedule> &schedule, std::string &reason) {
  auto asked = scheduleAs<performance::AttentionSchedule>(schedule);
  if (schedule && !asked) {
    reason = "its schedule is of family '" +
             mpk::stringifyFamily(dispatch.getScheduleAttr().getFamily()).str() +
             "', expected 'matmul', or 'attention' for two products";
    return failure();
  }
  Block &body = dispatch.getBody().front();
  if (!schedule && countProducts(body) == 1) {
    reason = "it has a product and no schedule, expected schedule = <matmul>";
    return failure();
  }
  FailureOr<AttentionPlan> plan = planAttention(body, reason);
  if (failed(plan))
    return failure();
  const MathForms forms{numbers.math == MathAccuracy::Approximate};
  const bool isHidden = roundingHidesSoftmax(dispatch);
  FailureOr<AttentionShape> shape = shapeAttention(*plan, numbers.hasAsyncCopies, asked, reason);
  if (failed(shape))
    return failure();
  Location loc = dispatch.getLoc();
  SmallVector<Value> operands(dispatch->getOperands());
  FamilyKernels made;
  SmallVector<Type> all(types);
  if (shape->splits > 1) {
    made.workspace = AttentionParts::buffers(*shape);
    made.workspaceSize = [=, shape = *shape](OpBuilder &host) {
      return partRows(host, loc, shape, operands);
    };
    all.append(made.workspace.begin(), made.workspace.end());
  }
  made.kernels.push_back(
      {"attention", shape->threads(),
       [=, shape = *shape](gpu::GPUModuleOp module, StringRef name) {
         return marked(emitAttentionKernel(module, loc, name, shape, all, forms), isHidden);
       },
       [=, shape = *shape](OpBuilder &host) { return attentionBlocks(host, loc, shape, operands); },
       shape->sharedBytes()});
  if (shape->splits > 1)
    made.kernels.push_back(
        {"attention_merge", kMergingThreads,
         [=, shape = *shape](gpu::GPUModuleOp module, StringRef name) {
           return marked(emitAttentionMerge(module, loc, name, shape, all, forms), isHidden);
         },
         [=, shape = *shape](OpBuilder &host) {
           return mergingBlocks(host, loc, shape, operands);
         }});
  return made;
}

FailureOr<FamilyKernels> mlir::mp::planKernels(mpk::DispatchOp dispatch,
                                               const KernelNumbers &numbers, std::string &reason) {
  using namespace performance;
  Block &body = dispatch.getBody().front();
  SmallVector<Type> types = bufferTypes(dispatch);
  FailureOr<std::optional<Schedule>> schedule = scheduleOf(dispatch, reason);
  if (failed(schedule))
    return failure();
  MathForms forms{numbers.math == MathAccuracy::Approximate};
  FailureOr<StreamPlan> plan = planStream(body, reason);
  if (failed(plan) && countProducts(body) != 0)
    return planAttentionKernel(dispatch, types, numbers, *schedule, reason);
  if (failed(plan))
    return failure();
  FailureOr<StreamOperands> accesses = accessesOf(*plan, body, types, reason);
  if (failed(accesses))
    return failure();
  for (StreamAccess &read : accesses->reads)
    read.isConstant = isConstant(dispatch, dispatch->getOperand(read.operand));
  Location loc = dispatch.getLoc();
  SmallVector<Value> operands(dispatch->getOperands());

  const bool isMap = plan->levels.empty();
  auto transpose = scheduleAs<TransposeSchedule>(*schedule);
  if (isMap && (transpose || !*schedule)) {
    std::string notOne;
    FailureOr<TransposeShape> shape =
        shapeTranspose(*plan, *accesses, transpose, transpose ? reason : notOne);
    if (succeeded(shape)) {
      FamilyKernel kernel{"transpose", shape->block,
                          [=, shape = *shape](gpu::GPUModuleOp module, StringRef name) {
                            return emitTransposeKernel(module, loc, name, shape, types, forms);
                          },
                          [=, shape = *shape](OpBuilder &host) {
                            return transposeBlocks(host, loc, shape, operands);
                          }};
      return FamilyKernels{{kernel}, {}};
    }
    if (transpose)
      return failure();
  }
  StreamChoice choice;
  choice.ordered = addsInOrder(*plan, numbers.sums);
  choice.rows = scheduleAs<RowSchedule>(*schedule);
  choice.map = scheduleAs<MapSchedule>(*schedule);
  if (*schedule && !(isMap ? choice.map.has_value() : choice.rows.has_value())) {
    reason = "its schedule is of family '" +
             mpk::stringifyFamily(dispatch.getScheduleAttr().getFamily()).str() + "', expected '" +
             (isMap ? "map" : "rows") + "'";
    return failure();
  }
  StreamShape shape = shapeStream(*plan, *accesses, choice);
  FamilyKernels made;
  made.departure = findDeparture(dispatch.getScheduleAttr(), choice, shape);
  made.workspace = streamWorkspace(shape);
  types.append(made.workspace.begin(), made.workspace.end());
  auto add = [&](const char *family, StreamPart part) {
    made.kernels.push_back(
        {family, shape.threads(),
         [=](gpu::GPUModuleOp module, StringRef name) {
           return emitStreamKernel(module, loc, name, shape, types, forms, part);
         },
         [=](OpBuilder &host) { return streamBlocks(host, loc, shape, operands, part); }});
  };
  if (shape.splits > 1) {
    add("parts", StreamPart::Parts);
    add("rows", StreamPart::Combination);
  } else {
    add(isMap ? "map" : "rows", StreamPart::All);
  }
  return made;
}
