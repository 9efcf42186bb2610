// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The decisions about one function, and the layers that make them.

#ifndef MP_LIB_TRANSFORMS_ASSIGN_DECISIONS_H
#define MP_LIB_TRANSFORMS_ASSIGN_DECISIONS_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Analysis/Evidence.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Policy/Policy.h"
#include "mp/Target/TargetModel.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::mp {

/// What was decided about one op, and by whom.
struct Decision {
  OpClass opClass;
  TypeRule rule;
  /// The format the op computes in; its own where no layer said otherwise.
  FloatType compute;
  std::optional<Origin> origin; ///< empty while undecided
  std::string reason;
  /// Operands and results are stored as they are found (a pin or policy says wide).
  bool keepsStorage = false;
  /// What a pin or the policy wants results stored in; null leaves it to the cost layer.
  FloatType resultStorage = {};

  void decide(FloatType format, Origin by, const Twine &why) {
    compute = format;
    origin = by;
    reason = why.str();
  }
};

/// What a run was asked to do.
struct AssignSettings {
  const ::mp::policy::Policy &policy;
  const ::mp::target::TargetModel &target;
  ::mp::policy::Matcher &rules; ///< of the policy
  /// The format asked for; a way to compute, with f32 storage, if it is tf32.
  FloatType narrow;
  double maxUnderflow;
};

/// The format that options, pins and policies call `name`, or null if none may be assigned.
FloatType getAssignableFormat(StringRef name, MLIRContext *context);
/// How they spell `format`: bf16, f16, tf32.
std::string getFormatName(FloatType format);

/// All decisions about a function: a compute format per op, a storage per value.
class FunctionDecisions {
public:
  /// Collects the ops outside bodies that have a float operand or result.
  explicit FunctionDecisions(FunctionOpInterface function);

  FunctionOpInterface getFunction() const { return function; }

  /// In program order.
  llvm::MapVector<Operation *, Decision> &getOps() { return ops; }
  Decision *find(Operation *op) {
    auto it = ops.find(op);
    return it == ops.end() ? nullptr : &it->second;
  }

  /// True if `op` is a contraction of f32 factors that computes in a narrower format.
  bool isNarrowContraction(Operation *op);
  /// True if `op` is a contraction that can read its factors in `format`: they are f32, or
  /// `format` already, and some is f32.
  bool canContractIn(Operation *op, FloatType format);
  /// True if `value` may be stored narrow at all: a tensor of f32 that is no
  /// block argument.
  bool mayStoreNarrow(Value value) const;
  /// What is known of ranges; computed at the first call.
  const EvidenceAnalysis &getEvidence();

  /// Storage of a value; its own format unless `setStorage` said otherwise.
  FloatType getStorage(Value value) const;
  void setStorage(Value value, FloatType format) { storages[value] = format; }

private:
  void collect(Region &region);

  FunctionOpInterface function;
  std::optional<EvidenceAnalysis> evidence;
  llvm::MapVector<Operation *, Decision> ops;
  llvm::DenseMap<Value, FloatType> storages;
};

/// The layers, strongest first. Each decides ops that none before it has; the last
/// chooses the storage of every value, given what computes how. One signature, one file each.
using Layer = LogicalResult (*)(FunctionDecisions &decisions, const AssignSettings &settings);
LogicalResult applyPins(FunctionDecisions &decisions, const AssignSettings &settings);
LogicalResult applyPolicy(FunctionDecisions &decisions, const AssignSettings &settings);
LogicalResult applyRanges(FunctionDecisions &decisions, const AssignSettings &settings);
LogicalResult applyClasses(FunctionDecisions &decisions, const AssignSettings &settings);
LogicalResult chooseStorage(FunctionDecisions &decisions, const AssignSettings &settings);
/// Chooses the storage of arguments, once values have theirs.
LogicalResult decideSignature(FunctionDecisions &decisions, const AssignSettings &settings);

/// The narrow format in which every use reads `value`, or null; once storage is chosen.
FloatType commonFormat(FunctionDecisions &decisions, Value value);

/// Writes `mp.precision` on every op, and `mp.storage` on arguments that change their format.
void writeDecisions(FunctionDecisions &decisions);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_ASSIGN_DECISIONS_H
