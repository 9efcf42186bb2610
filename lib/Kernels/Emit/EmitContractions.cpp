// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-emit-contractions: write contractions marked mpk.mma, alone or in dispatches, as
// Tensor Core kernels.

#include "../Build/KernelFunction.h"
#include "../Plan/ProductParts.h"
#include "../Select/MatmulProblem.h"
#include "../Select/TargetPart.h"
#include "GemmEpilogues.h"
#include "GemmKernel.h"
#include "PassBuffers.h"
#include "ScheduleChoice.h"
#include "SparseWeights.h"
#include "SplitSums.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Dialect/MPK/MPKDialect.h"
#include "mp/Kernels/MmaSelection.h"
#include "mp/Kernels/Passes.h"
#include "mp/Target/Targets.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::mp {
#define GEN_PASS_DEF_EMITCONTRACTIONS
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;
using mpcore::performance::MatmulSchedule;

/// Instructions of an epilogue for an element, from which on kernels have it once, in a loop: as
/// many as a math function takes.
static constexpr double kLongEpilogue = 20;

/// True if a result, or what is added to it, has elements of less than four bytes: the two
/// neighbours that a lane has then fill no sector with those of the lanes beside it.
static bool hasNarrowResult(ArrayRef<GemmOperand> operands, const GemmPlan &plan) {
  for (auto [number, operand] : llvm::enumerate(operands))
    if (number >= 2 && cast<MemRefType>(operand.buffer.getType()).getRank() >= 2 &&
        plan.bytes[number] < 4 && plan.width[number] == 4)
      return true;
  return false;
}

namespace {

struct EmitContractions : mlir::mp::impl::EmitContractionsBase<EmitContractions> {
  using Base::Base;

  void runOnOperation() override {
    const auto *model = valueOrError(getOperation(), target::lookupTarget(target));
    if (!model)
      return signalPassFailure();
    if (sparse)
      getOperation()->walk([&](linalg::GenericOp op) { chooseSparse(op, *model); });
    SmallVector<linalg::GenericOp> ops;
    SmallVector<mpk::DispatchOp> dispatches;
    getOperation()->walk([&](Operation *op) {
      if (auto dispatch = dyn_cast<mpk::DispatchOp>(op)) {
        if (dispatch.getSchedule() && dispatch.getSchedule()->getFamily() == mpk::Family::Matmul)
          dispatches.push_back(dispatch);
      } else if (op->hasAttr(kMmaAttrName) && !op->getParentOfType<mpk::DispatchOp>()) {
        ops.push_back(cast<linalg::GenericOp>(op));
      }
    });
    constants = SparseConstants(getOperation());
    for (linalg::GenericOp op : ops)
      if (failed(emitContraction(op, *model)))
        return signalPassFailure();
    for (mpk::DispatchOp dispatch : dispatches)
      if (failed(emitDispatch(dispatch, *model)))
        return signalPassFailure();
    kernels.clear();
    counters.clear();
    constants = {};
  }

private:
  /// A contraction on buffers: C is written, or added to.
  LogicalResult emitContraction(linalg::GenericOp op, const target::TargetModel &model) {
    std::string reason;
    FailureOr<Contraction> contraction = matchContraction(op, reason);
    if (failed(contraction))
      return op.emitOpError("is marked '") << kMmaAttrName << "' but " << reason;
    OpBuilder b(op);
    ProductArguments product;
    for (auto [buffer, access] : llvm::zip_equal(op->getOperands(), contraction->access))
      product.operands.push_back({buffer, access, {}, {}});
    for (Range range : cast<linalg::LinalgOp>(op.getOperation()).createLoopRanges(b, op.getLoc()))
      product.sizes.push_back(range.size);
    const bool fresh = op->hasAttr(kMmaFreshAttrName), starts = startsFromOld(op);
    auto store = [&](const GemmEpilogue &e) { storeSums(e, fresh || starts); };
    GemmEnds ends{store};
    if (starts)
      ends.start = oldSum;
    if (failed(emitKernel(op, op, model, *contraction, {product}, fresh ? "fresh" : "added",
                          /*epilogueInstructions=*/0, ends)))
      return failure();
    op.erase();
    return success();
  }

  /// A dispatch on buffers: contractions, and elementwise work on the result of each.
  LogicalResult emitDispatch(mpk::DispatchOp dispatch, const target::TargetModel &model) {
    std::string reason;
    NumberLaunches numbered(dispatch);
    FailureOr<SmallVector<mpk::DispatchOp>> parts = splitDispatch(dispatch, reason);
    if (failed(parts))
      return refuse(dispatch, reason);
    SmallVector<Product> products;
    for (mpk::DispatchOp part : *parts) {
      auto plan = std::make_unique<EpiloguePlan>();
      FailureOr<EpiloguePlan> read = planEpilogue(part.getBody().front(), reason);
      if (failed(read))
        return refuse(dispatch, reason);
      *plan = std::move(*read);
      auto epilogue = std::make_unique<DispatchEpilogue>(part, *plan);
      products.push_back({std::move(plan), std::move(epilogue)});
    }
    ArrayRef<Product> rest = products;
    while (!rest.empty()) { // what is equal is one kernel
      const size_t equal =
          llvm::all_of(rest, [&](const Product &other) { return isEqual(rest.front(), other); })
              ? rest.size()
              : 1;
      if (failed(emitProducts(dispatch, rest.take_front(equal), model)))
        return failure();
      rest = rest.drop_front(equal);
    }
    products.clear();
    if (parts->front() != dispatch)
      llvm::for_each(*parts, [](mpk::DispatchOp part) { part.erase(); });
    dispatch.erase();
    return success();
  }

  struct Product {
    std::unique_ptr<EpiloguePlan> plan;
    std::unique_ptr<DispatchEpilogue> epilogue;
  };

  static LogicalResult refuse(mpk::DispatchOp dispatch, StringRef reason) {
    return dispatch.emitOpError("is scheduled as a matmul, but cannot be one kernel because ")
           << reason;
  }

  /// A dispatch for each contraction, before `dispatch`; itself if it has one.
  static FailureOr<SmallVector<mpk::DispatchOp>> splitDispatch(mpk::DispatchOp dispatch,
                                                               std::string &reason) {
    Block &body = dispatch.getBody().front();
    if (llvm::count_if(body, [](Operation &op) { return op.hasAttr(kMmaAttrName); }) < 2)
      return SmallVector<mpk::DispatchOp>{dispatch};
    FailureOr<SmallVector<ProductPart>> parts = splitProducts(body, reason);
    if (failed(parts))
      return failure();
    OpBuilder b(dispatch);
    SmallVector<mpk::DispatchOp> made;
    for (const ProductPart &part : *parts) {
      SmallVector<Value> inputs, outputs;
      for (BlockArgument argument : part.arguments)
        inputs.push_back(dispatch->getOperand(argument.getArgNumber()));
      for (unsigned result : part.results)
        outputs.push_back(dispatch.getOutputs()[result]);
      made.push_back(mpk::DispatchOp::create(b, dispatch.getLoc(), TypeRange(), inputs, outputs,
                                             dispatch.getScheduleAttr()));
      writePart(part, body, made.back().getBody().emplaceBlock());
    }
    return made;
  }

  /// True if the kernels of two products differ in their buffers only, and perhaps in where these
  /// begin and in sizes that only the run knows.
  static bool isEqual(const Product &a, const Product &b) {
    const bool isSparse = a.plan->op->hasAttr(kMmaSparseAttrName);
    auto typesOf = [&](const Product &product) {
      SmallVector<Type> types(product.epilogue->scalars().getTypes());
      for (const GemmOperand &operand : product.epilogue->operands())
        types.push_back(isSparse ? operand.buffer.getType() : atAnyPlace(operand.buffer.getType()));
      return types;
    };
    const SmallVector<Type> types = typesOf(a);
    return types == typesOf(b) && a.epilogue->text() == b.epilogue->text() &&
           (!isSparse || llvm::all_of(types, hasKnownLayout));
  }

  LogicalResult emitProducts(mpk::DispatchOp dispatch, ArrayRef<Product> products,
                             const target::TargetModel &model) {
    const EpiloguePlan &plan = *products.front().plan;
    const DispatchEpilogue &epilogue = *products.front().epilogue;
    OpBuilder b(dispatch);
    Block &body = epilogue.getDispatch().getBody().front();
    SmallVector<ProductArguments, 0> arguments;
    for (const Product &product : products)
      arguments.push_back({SmallVector<GemmOperand>(product.epilogue->operands()),
                           loopSizes(b, product.epilogue->getDispatch(), *product.plan),
                           SmallVector<Value>(product.epilogue->scalars())});
    auto store = [&](const GemmEpilogue &e) { epilogue.emit(e); };
    auto start = [&](const GemmEpilogue &e, Point point) { return epilogue.start(e, point); };
    GemmEnds ends{store};
    if (startsFromOld(plan.op))
      ends.start = start;
    return emitKernel(dispatch, plan.op, model, plan.contraction, std::move(arguments),
                      epilogue.text(), problemOf(plan, body).epilogueInstructions, ends);
  }

  /// `root` becomes a launch of a kernel for `op`, the first of several products like it, or alone.
  LogicalResult emitKernel(Operation *root, linalg::GenericOp op, const target::TargetModel &model,
                           Contraction contraction, SmallVector<ProductArguments, 0> products,
                           StringRef text, double epilogueInstructions, const GemmEnds &ends) {
    StringRef format = op->getAttrOfType<StringAttr>(kMmaAttrName).getValue();
    const bool isSparse = op->hasAttr(kMmaSparseAttrName);
    const MmaInstruction *instruction =
        isSparse ? selectSparseInstruction(model, format) : selectMmaInstruction(model, format);
    if (!instruction)
      return op.emitOpError("is marked '")
             << kMmaAttrName << " = " << format << "', which " << model.name
             << " has no instruction for; run mp-select-contractions for the same target";
    OpBuilder b(root);
    Location loc = root->getLoc();
    if (isSparse)
      constants.replaceA(b, op, contraction, products);
    SmallVector<GemmPlan, 0> plans;
    for (const ProductArguments &product : products)
      plans.push_back(
          planGemm(b, loc, contraction, product.operands, product.sizes, *instruction, model));
    if (!shareKernel(b, loc, plans)) { // never sparse ones, whose layouts are known and equal
      for (const ProductArguments &product : products)
        if (failed(emitKernel(root, op, model, contraction, {product}, text, epilogueInstructions,
                              ends)))
          return failure();
      return success();
    }
    GemmPlan &plan = plans.front();
    const ProductArguments &first = products.front();
    if (isSparse)
      planSparse(plan, first.operands);
    plan.products = int(products.size());
    plan.isRagged = products.size() > 1 && !dynamicSizes(plan).empty();
    plan.prefersRows =
        epilogueInstructions >= kLongEpilogue || hasNarrowResult(first.operands, plan);
    llvm::Expected<MatmulSchedule> schedule = scheduleOf(op, plan, model, sums);
    if (!schedule)
      return op.emitOpError() << toString(schedule.takeError());
    plan.schedule = *schedule;
    note(op, plan);
    if (plan.schedule.splitK == 1)
      launchProducts(b, plans, products, text, ends);
    else
      launchShared(b, plan, contraction, std::move(products), text, model, ends);
    return success();
  }

  /// Blocks share each sum; the last one of a tile adds the parts of all.
  void launchShared(OpBuilder &b, const GemmPlan &plan, const Contraction &contraction,
                    SmallVector<ProductArguments, 0> products, StringRef text,
                    const target::TargetModel &model, const GemmEnds &ends) {
    ArrayRef<GemmOperand> operands = products.front().operands;
    Location loc = operands.front().buffer.getLoc();
    auto function = b.getInsertionBlock()->getParent()->getParentOfType<func::FuncOp>();
    const GemmOperand counts = countersOf(function, counters[function], contraction);
    for (ProductArguments &product : products) {
      const GemmOperand parts =
          allocateParts(b, loc, contraction, product.sizes, plan.schedule.splitK);
      // The metadata of a sparse A stay behind the others.
      auto end = product.operands.end() - (plan.sparse ? 1 : 0);
      product.operands.insert(product.operands.insert(end, parts) + 1, counts);
    }
    const ProductArguments &first = products.front();
    GemmPlan made =
        planGemm(b, loc, contraction, first.operands, first.sizes, *plan.instruction, model);
    if (plan.sparse)
      planSparse(made, first.operands);
    made.schedule = plan.schedule;
    made.products = plan.products;
    launchProducts(b, made, products, text, ends);
  }

  /// Arguments of a launch, and the key of the kernel that takes them.
  static std::pair<SmallVector<Value>, std::string> argumentsOf(OpBuilder &b, const GemmPlan &plan,
                                                                ArrayRef<ProductArguments> products,
                                                                StringRef text) {
    SmallVector<Value> arguments;
    for (const ProductArguments &product : products) {
      for (const GemmOperand &operand : product.operands)
        arguments.push_back(passBuffer(b, operand.buffer, plan.isRagged));
      llvm::append_range(arguments, product.scalars);
    }
    std::string key = plan.key();
    llvm::raw_string_ostream stream(key);
    for (Value argument : arguments)
      stream << ' ' << argument.getType();
    stream << text;
    return {arguments, key};
  }

  /// A plan for each product; the first is that of the kernel.
  void launchProducts(OpBuilder &b, ArrayRef<GemmPlan> plans, ArrayRef<ProductArguments> products,
                      StringRef text, const GemmEnds &ends) {
    const GemmPlan &plan = plans.front();
    ArrayRef<GemmOperand> operands = products.front().operands;
    Location loc = operands.front().buffer.getLoc();
    auto [arguments, key] = argumentsOf(b, plan, products, text);
    gpu::GPUFuncOp &kernel = kernels[key];
    if (!kernel) {
      const MmaInstruction &instruction = *plan.instruction;
      StringRef unit = instruction.isScalar() ? "fma" : instruction.isSparse ? "mma_sp" : "mma";
      std::string name = (unit + "_" + instruction.format + "_" + Twine(plan.schedule.m) + "x" +
                          Twine(plan.schedule.n) + "_" + Twine(kernels.size() - 1))
                             .str();
      SmallVector<Type> types(ValueRange(arguments)
                                  .take_front(operands.size() + products.front().scalars.size())
                                  .getTypes());
      ArrayRef<Type> first = types;
      kernel = emitGemmKernel(kernelModuleOf(getOperation()), loc, name, plan,
                              first.take_front(operands.size()), first.drop_front(operands.size()),
                              ends);
    }
    for (GemmPlan sized : plan.isRagged ? plans : plans.take_front())
      for (Size *size : dynamicSizes(sized))
        arguments.push_back(size->dynamic);
    launch(b, loc, kernel, plan, gridBlocks(b, loc, plans), arguments);
  }

  /// Says which schedule the kernel has, and who shares its sums.
  static void note(linalg::GenericOp op, const GemmPlan &plan) {
    const MatmulSchedule &s = plan.schedule;
    std::string text = mpcore::performance::toString(mpcore::performance::Schedule(s));
    if (s.slices > 1)
      text += llvm::formatv(": {0} groups of warps share each sum, and add their parts by a tree",
                            s.slices);
    if (s.splitK > 1)
      text +=
          llvm::formatv(": {0} blocks share each sum, and the last one adds their parts", s.splitK);
    remark::analysis(op.getLoc(), remarks::kSchedule) << text;
  }

  static void launch(OpBuilder &b, Location loc, gpu::GPUFuncOp kernel, const GemmPlan &plan,
                     Value blocks, ValueRange operands) {
    OpBuilder::InsertionGuard guard(b);
    bool certain = plan.isCertainlyNonEmpty();
    if (!certain) { // a grid of zero blocks is an error of the driver
      Value zero = arith::ConstantIndexOp::create(b, loc, 0);
      Value any = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, blocks, zero);
      auto branch = scf::IfOp::create(b, loc, any, /*withElseRegion=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value threads = arith::ConstantIndexOp::create(b, loc, plan.threads());
    Value shared = arith::ConstantIntOp::create(b, loc, plan.ringBytes(plan.schedule), 32);
    gpu::LaunchFuncOp::create(b, loc, kernel, gpu::KernelDim3{blocks, one, one},
                              gpu::KernelDim3{threads, one, one}, shared, operands);
  }

  llvm::StringMap<gpu::GPUFuncOp> kernels;
  DenseMap<Operation *, Value> counters; ///< of tiles, by function
  SparseConstants constants;
};

} // namespace
