// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Storage of one function's values as an assignment problem (docs/concepts/Assignment.md): a node
// per op, function argument and boundary, a type per format: f32 and the narrow ones.

#ifndef MP_LIB_TRANSFORMS_ASSIGN_STORAGEPROBLEM_H
#define MP_LIB_TRANSFORMS_ASSIGN_STORAGEPROBLEM_H

#include "ErrorShares.h"
#include "StorageCosts.h"
#include "StoragePermission.h"
#include "mp/Assignment/Baselines.h"
#include "mp/Dialect/MP/Namespaces.h"

namespace mlir::mp {

class StorageProblem {
public:
  using NodeId = assignment::NodeId;

  StorageProblem(FunctionDecisions &decisions, const StoragePermissions &permissions,
                 StorageCosts &costs, const ErrorShares &errors, const OperandSchemes *schemes,
                 const PlacementOptions &options);

  /// Returns the problem to be solved.
  const assignment::Problem &get() const { return problem; }
  /// Returns the list on which a painting compiler would put each node.
  ArrayRef<assignment::Paint> getPaints() const { return paints; }
  /// The cost of everything in f32.
  int64_t getCostBefore() const { return costBefore; }

  /// Null for arguments and boundaries.
  Operation *getOp(NodeId node) const { return ops[node]; }
  /// The f32 variant of a contraction that was decided to be narrow and so has none; or null.
  const assignment::Variant *getWideVariant(NodeId node) const;
  /// The problem with `node` forced to `variant`, where nothing may reach an f32 op rounded.
  assignment::Problem force(NodeId node, const assignment::Variant &variant) const;

  /// Returns the bytes that the casts of an assignment read, those of constants aside. Readers
  /// share a cast, or each has its own.
  int64_t countCastBytes(const assignment::Labels &labels, bool perUse) const;

  /// Puts what `labels` choose into the decisions.
  void apply(const assignment::Labels &labels);

private:
  using TypeId = assignment::TypeId;
  static constexpr TypeId wide = 0;

  bool isTracked(Value value) const;
  assignment::ValueId getValue(Value value);
  TypeId typeOf(FloatType format);
  /// Parts of an f32 value, beside it.
  TypeId typeOf(numerics::SplitScheme scheme);
  bool isSplit(TypeId type) const { return bitsOfParts[type] != 0; }
  /// Returns the type in which a recipe stores values, beside f32 as well.
  TypeId typeOf(const numerics::Recipe &recipe);
  bool isMadeFromWide(TypeId type) const { return isSplit(type) || recipes[type]; }
  /// Returns the cost of a copy of `value` in a type that is made from f32.
  int64_t costOfMaking(Value value, TypeId type) const;
  /// The type `value` may have besides f32; f32 if none.
  TypeId narrowTypeOf(Value value);
  /// The type in which control flow, a call or a return takes what it carries; f32 for other uses.
  TypeId typeTakenBy(OpOperand &use);

  void addOp(Operation *op, const Decision &decision);
  void addContraction(Operation *op, const Decision &decision, assignment::Node &node);
  void addMover(Operation *op, assignment::Node &node);
  void addComputing(Operation *op, const Decision &decision, assignment::Node &node);
  /// Uses by what was not decided: the terminator, ops in bodies that keep their formats.
  void addBoundaries();
  /// A node to be filled in; it moves when the next is added.
  assignment::Node &addNode(Operation *op, assignment::Paint paint);
  void computeCostBefore();
  void forbidLosses(assignment::Problem &of) const;

  /// Returns the ways in which a contraction may compute, the widest first.
  SmallVector<ComputeChoice, 4> getChoices(Operation *op, const Decision &decision) const;
  /// Adds the split schemes that are not both slower and less accurate than others.
  void addSplits(Operation *op, SmallVectorImpl<ComputeChoice> &choices) const;
  /// Returns the type that factors are read as.
  TypeId typeOfFactors(const ComputeChoice &choice);
  int64_t getCost(Operation *op, const ComputeChoice &choice) const;
  bool isFree(const Decision &decision) const;
  /// Tells whether a constant that may be narrow is; nothing for other ops.
  std::optional<bool> isMadeNarrow(Operation *op) const;
  void applyConstants(const assignment::Labels &labels);
  bool runsNarrow(Operation *op, const Decision &decision) const;

  FunctionDecisions &decisions;
  const StoragePermissions &permissions;
  StorageCosts &costs;
  const ErrorShares &errors;
  const PlacementOptions &options;
  const OperandSchemes *schemes;
  SmallVector<FloatType, 3> formats;                ///< by TypeId; f32 for parts
  SmallVector<unsigned, 3> bitsOfParts;             ///< by TypeId, of one element; 0: no parts
  SmallVector<const numerics::Recipe *, 3> recipes; ///< by TypeId, of scaled values; null: none
  assignment::Problem problem;
  int64_t costBefore = 0;
  std::vector<assignment::Paint> paints;
  std::vector<std::pair<NodeId, assignment::Variant>> wideContractions; ///< by node
  std::vector<Operation *> ops;                                         ///< per node
  std::vector<SmallVector<ComputeChoice, 0>> choices; ///< of each variant, of contractions alone
  DenseMap<Value, assignment::ValueId> values;
  SmallVector<Value> trackedValues; ///< by ValueId
};

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_ASSIGN_STORAGEPROBLEM_H
