// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Storage of one function's values as an assignment problem (docs/Assignment.md):
// a node per op, function argument and boundary, two types, f32 and the narrow one.
//
// Costs follow fusion groups: what stays inside a kernel is neither written nor read,
// kernels that convert in registers read whatever is stored, an elementwise kernel
// writes narrow for nothing, and every other change of type is a cast of its own.

#ifndef MP_LIB_TRANSFORMS_ASSIGN_STORAGEPROBLEM_H
#define MP_LIB_TRANSFORMS_ASSIGN_STORAGEPROBLEM_H

#include "StoragePermission.h"
#include "mp/Analysis/FusionGroups.h"
#include "mp/Analysis/Sizes.h"
#include "mp/Assignment/Baselines.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::mp {

class StorageProblem {
public:
  StorageProblem(FunctionDecisions &decisions, const StoragePermissions &permissions,
                 const AssignSettings &settings);

  const ::mp::assignment::Problem &get() const { return problem; }
  const Sizes &getSizes() const { return sizes; }
  /// How a painting compiler would list each node.
  ArrayRef<::mp::assignment::Paint> getPaints() const { return paints; }

  /// The cost of everything in f32.
  int64_t costBefore() const;

  /// Puts the storages that `labels` choose into the decisions; returns how many of them round
  /// where not every use would have.
  int64_t apply(const ::mp::assignment::Labels &labels);

private:
  using TypeId = ::mp::assignment::TypeId;
  static constexpr TypeId wide = 0;

  bool isTracked(Value value) const;
  ::mp::assignment::ValueId getValue(Value value);
  TypeId typeOf(FloatType format);
  /// The type `value` may have besides f32; f32 if none.
  TypeId narrowTypeOf(Value value);
  unsigned bitsOf(TypeId type) const { return FloatType(formats[type]).getWidth(); }

  void addOp(Operation *op, const Decision &decision);
  void addContraction(Operation *op, const Decision &decision, ::mp::assignment::Node &node);
  void addMover(Operation *op, ::mp::assignment::Node &node);
  void addComputing(Operation *op, const Decision &decision, ::mp::assignment::Node &node);
  /// Uses by what was not decided: the terminator, ops in bodies that keep their formats.
  void addBoundaries();
  void add(::mp::assignment::Node node, Operation *op, ::mp::assignment::Paint paint);

  bool isMadeNarrow(Operation *op) const;
  bool runsNarrow(Operation *op, const Decision &decision) const;
  /// The type in which control flow, a call or a return takes what it carries; f32 for other uses.
  TypeId typeTakenBy(OpOperand &use);
  /// True if `use` converts what it reads in registers.
  bool readsAnyType(OpOperand &use) const;
  /// Cost of having `value` in memory as `type`: writing it, and reading it by what reads any type.
  int64_t costOfStoring(Value value, TypeId type);
  int64_t costOfContraction(Operation *op, FloatType format, TypeId factors);
  int64_t costOfCast(Value value, TypeId from, TypeId to);
  int64_t costOfBytes(Value value, TypeId type);
  int64_t costOfLaunch() const { return options.memory ? 0 : costs.launch(); }
  int64_t capped(int64_t cost) const { return std::min(cost, largestCost); }

  FunctionDecisions &decisions;
  const StoragePermissions &permissions;
  const ::mp::target::CostModel &costs;
  const PlacementOptions &options;
  FusionGroups groups;
  Sizes sizes;
  SmallVector<FloatType, 3> formats; ///< by TypeId
  int64_t largestCost; ///< of one term, so that all of them add up
  ::mp::assignment::Problem problem;
  std::vector<::mp::assignment::Paint> paints;
  /// What contractions would be that are decided to be narrow.
  std::vector<std::pair<::mp::assignment::NodeId, ::mp::assignment::Variant>> wideContractions;
  std::vector<Operation *> ops; ///< per node; null for arguments and boundaries
  DenseMap<Value, ::mp::assignment::ValueId> values;
  SmallVector<Value> trackedValues; ///< by ValueId
};

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_ASSIGN_STORAGEPROBLEM_H
