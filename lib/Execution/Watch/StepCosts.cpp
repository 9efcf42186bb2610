// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks kernels as the cost model of decisions forms them.

#include "StepCosts.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mp/Analysis/Cost/ExecutionFrequency.h"
#include "mp/Analysis/Cost/FusionGroups.h"
#include "mp/Analysis/Cost/Sizes.h"
#include "mp/Analysis/DataMovement.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Performance/CostModel.h"
#include "mp/Target/Targets.h"

using namespace mlir;
using namespace mlir::mp;

/// Dynamic sizes that nobody states count as this.
static constexpr int64_t kAssumedDim = 128;

static std::string formatName(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << getElementTypeOrSelf(type);
  return text;
}

/// The format of a contraction's factors; integers are named by their width.
static std::string factorFormat(Operation *op) {
  Value first = op->getOperand(0);
  if (op->getNumOperands() > 1 && holdsTF32(first) && holdsTF32(op->getOperand(1)))
    return "tf32";
  return formatName(first.getType());
}

/// Float operations for each element that the body of `op` makes.
static double countBody(linalg::LinalgOp op) {
  double count = 0;
  for (Operation &inner : *op.getBlock())
    for (Type type : inner.getResultTypes())
      count += isa<FloatType>(type) && inner.getName().getDialectNamespace() != "tensor";
  return count;
}

namespace {
/// Sums up one kernel.
struct Kernel {
  double runs = 1, bytes = 0, multiplyAdds = 0, operations = 0;
  std::map<std::string, double> traffic;      ///< bytes by format
  mpcore::performance::MatmulProblem product; ///< that its contraction is
  llvm::SmallPtrSet<void *, 8> read;
};

class Counting {
public:
  Counting(ModuleOp module, const mpcore::performance::CostModel &model)
      : module(module), model(model), frequency(module), sizes(kAssumedDim) {
    costs.part = model.part().name.str();
  }

  StepCosts run() {
    for (auto function : module.getOps<FunctionOpInterface>())
      if (!function.isExternal() && frequency.getCalls(function) > 0)
        addFunction(function);
    return std::move(costs);
  }

private:
  void addFunction(FunctionOpInterface function) {
    FusionGroups groups(function);
    llvm::MapVector<Operation *, Kernel> kernels;
    function.walk([&](Operation *op) {
      const KernelKind kind = groups.getKind(op);
      if (kind == KernelKind::None || kind == KernelKind::View)
        return;
      Kernel &kernel = kernels[groups.getRoot(op)];
      kernel.runs = frequency.get(op);
      addOperations(op, kernel);
      addBytes(op, groups, kernel);
    });
    for (const auto &[root, kernel] : kernels)
      addKernel(kernel);
  }

  void addOperations(Operation *op, Kernel &kernel) {
    if (isContraction(op)) {
      const double products = double(sizes.countMultiplyAdds(op));
      kernel.multiplyAdds += products;
      kernel.product = sizes.countProduct(op);
      kernel.product.format = factorFormat(op);
      costs.multiplyAdds[kernel.product.format] += products * kernel.runs;
      return;
    }
    if (op->getNumResults() == 0 || !isa<FloatType>(getElementTypeOrSelf(op->getResult(0))))
      return;
    double count = double(sizes.countElements(op->getResult(0)));
    if (auto structured = dyn_cast<linalg::LinalgOp>(op))
      count = double(sizes.countMultiplyAdds(op)) * countBody(structured); // points of its loops
    else if (movesEveryElement(op))
      return;
    kernel.operations += count;
    costs.operations[formatName(op->getResult(0).getType())] += count * kernel.runs;
  }

  void addBytes(Operation *op, const FusionGroups &groups, Kernel &kernel) {
    auto move = [&](Value value) {
      Type type = getElementTypeOrSelf(value);
      if (!isa<RankedTensorType>(value.getType()) || !type.isIntOrFloat())
        return;
      const double bytes = double(sizes.countBytes(value, type.getIntOrFloatBitWidth()));
      kernel.bytes += bytes;
      kernel.traffic[formatName(type)] += bytes;
    };
    for (Value operand : op->getOperands()) {
      Operation *made = operand.getDefiningOp();
      const bool isFree = made && (groups.getKind(made) == KernelKind::None ||
                                   groups.isAbsorbed(made) || groups.isRemakeable(made));
      if (!isFree && kernel.read.insert(operand.getAsOpaquePointer()).second)
        move(operand);
    }
    for (Value result : op->getResults())
      if (!groups.isAbsorbed(op))
        move(result);
  }

  void addKernel(const Kernel &kernel) {
    constexpr double kMicro = 1e-6; // of picoseconds
    const double launch = double(model.launch()) * kMicro,
                 memory = double(model.memoryTime(uint64_t(kernel.bytes))) * kMicro;
    const double whole =
        double(kernel.multiplyAdds > 0 ? model.timeOf(kernel.product)
                                       : model.elementwiseTime(uint64_t(kernel.operations), 0)) *
        kMicro;
    const double arithmetic = std::max(0.0, whole - launch),
                 time = kernel.runs * (launch + std::max(memory, arithmetic));
    costs.bytes += kernel.runs * kernel.bytes;
    for (const auto &[format, bytes] : kernel.traffic)
      costs.traffic[format] += kernel.runs * bytes;
    costs.kernels += kernel.runs;
    double &bound = launch >= std::max(memory, arithmetic) ? costs.launchTime
                    : memory >= arithmetic                 ? costs.memoryTime
                                                           : costs.arithmeticTime;
    bound += time;
  }

  ModuleOp module;
  const mpcore::performance::CostModel &model;
  ExecutionFrequency frequency;
  Sizes sizes;
  StepCosts costs;
};
} // namespace

llvm::Expected<StepCosts> mlir::mp::countStepCosts(ModuleOp module, StringRef targetName) {
  auto found = target::lookupTarget(targetName);
  if (!found)
    return found.takeError();
  auto model = mpcore::performance::CostModel::create(*found);
  if (!model)
    return model.takeError();
  return Counting(module, *model).run();
}

llvm::json::Object mlir::mp::numbersToJSON(const std::map<std::string, double> &numbers) {
  llvm::json::Object object;
  for (const auto &[format, count] : numbers)
    object[format] = count;
  return object;
}

static std::map<std::string, double> numbersOf(const llvm::json::Object *object) {
  std::map<std::string, double> numbers;
  if (object)
    for (const auto &[format, count] : *object)
      numbers[format.str()] = count.getAsNumber().value_or(0);
  return numbers;
}

llvm::json::Object StepCosts::toJSON() const {
  return llvm::json::Object{{"part", part},
                            {"multiply_adds", numbersToJSON(multiplyAdds)},
                            {"operations", numbersToJSON(operations)},
                            {"traffic", numbersToJSON(traffic)},
                            {"bytes", bytes},
                            {"kernels", kernels},
                            {"launch_us", launchTime},
                            {"memory_us", memoryTime},
                            {"arithmetic_us", arithmeticTime}};
}

StepCosts StepCosts::fromJSON(const llvm::json::Object &object) {
  auto number = [&](StringRef key) { return object.getNumber(key).value_or(0); };
  StepCosts costs;
  costs.part = object.getString("part").value_or("").str();
  costs.multiplyAdds = numbersOf(object.getObject("multiply_adds"));
  costs.operations = numbersOf(object.getObject("operations"));
  costs.traffic = numbersOf(object.getObject("traffic"));
  costs.bytes = number("bytes");
  costs.kernels = number("kernels");
  costs.launchTime = number("launch_us");
  costs.memoryTime = number("memory_us");
  costs.arithmeticTime = number("arithmetic_us");
  return costs;
}

llvm::ArrayRef<EnergyTable> mlir::mp::energyTables() {
  // Bytes: DDR3 and DDR4 take 1.3 to 2.6 nJ for 64 bits, HBM2 250 to 450 pJ; the middle is used.
  static const EnergyTable tables[] = {
      {"7 nm",
       "Jouppi et al., Ten Lessons From Three Generations, ISCA 2021, table 2; HBM2",
       {{"i8", 0.07, 0.007}, {"bf16", 0.21, 0.11}, {"f16", 0.34, 0.16}, {"f32", 1.31, 0.38}},
       (250 + 450) / 2.0 / 8},
      {"45 nm",
       "Horowitz, Computing's Energy Problem, ISSCC 2014; DRAM; bf16 counts as f16",
       {{"i8", 0.2, 0.03}, {"bf16", 1.1, 0.4}, {"f16", 1.1, 0.4}, {"f32", 3.7, 0.9}},
       (1300 + 2600) / 2.0 / 8}};
  return tables;
}

double EnergyTable::of(const StepCosts &costs) const {
  auto rowOf = [&](StringRef format) -> const Operation & {
    // A product of tf32 is one of significands as long as those of f16.
    if (format == "tf32")
      format = "f16";
    else if (format.starts_with("f8") || format.starts_with("f6") || format.starts_with("f4"))
      format = "bf16";
    for (const Operation &row : operations)
      if (row.format == format)
        return row;
    return operations[3];
  };
  double picojoules = costs.bytes * byte;
  for (const auto &[format, count] : costs.multiplyAdds)
    picojoules += count * (rowOf(format).multiply + operations[3].add);
  for (const auto &[format, count] : costs.operations)
    picojoules += count * rowOf(format).multiply;
  return picojoules * 1e-12;
}
