// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Predicts which ops of a graph one kernel computes, before casts stand in it and dispatches are
// formed: the rules of docs/concepts/Dispatches.md by sizes alone. What follows a product element
// by element is its epilogue; reductions of the same rows and what is elementwise beside them are
// one kernel; so are neighbors of equal size.

#ifndef MP_ANALYSIS_COST_DISPATCHGROUPS_H
#define MP_ANALYSIS_COST_DISPATCHGROUPS_H

#include "mp/Analysis/Cost/FusionGroups.h"
#include "mp/Analysis/Cost/Sizes.h"

namespace mlir::mp {

class DispatchGroups {
public:
  /// `formatInTiles` gives what a contraction computes in if its kernel computes in tiles, else
  /// null; only then others join it. `fusesAttention`: the target has kernels of attention.
  DispatchGroups(FunctionOpInterface function, const FusionGroups &groups, Sizes &sizes,
                 llvm::function_ref<FloatType(Operation *)> formatInTiles, bool fusesAttention);

  /// The kernel that computes `op`; nothing if it needs none, several compute it, or another op
  /// than these makes its result (arguments, loops, copies).
  std::optional<unsigned> getKernel(Operation *op) const;
  /// True of one op of each kernel: the first.
  bool isFirst(Operation *op) const;
  /// True if the kernel that makes `value` alone reads it.
  bool isInternal(Value value) const;
  /// True if `op` is read where its operand lies: a view, or what the products that alone read it
  /// see to.
  bool showsOperand(Operation *op) const {
    return groups.getKind(op) == KernelKind::View || isFolded(op);
  }
  /// True of zeros around an operand of products, and of its dimensions in another order.
  bool isFolded(Operation *op) const { return folded.contains(op); }
  /// True if ops have joined this contraction.
  bool hasEpilogue(Operation *op) const;
  /// True if an earlier product of the same sizes reads an operand of this one: one kernel may
  /// compute both.
  bool sharesLaunch(Operation *op) const { return siblings.contains(op); }

  /// The contraction whose results become the probabilities that this one multiplies, if one kernel
  /// may compute both and the softmax between them: of 16 bits, nothing else reads what lies
  /// between, heads as kernels take them. Null: it is no such product.
  Operation *getLogits(Operation *op) const { return attentions.lookup(op); }
  /// The contraction for which getLogits() gives `op`, or null.
  Operation *getValueProduct(Operation *op) const { return valueProducts.lookup(op); }

private:
  enum class Kind : uint8_t { Map, Rows, Product, Alone };
  struct Kernel {
    Kind kind;
    unsigned level;    ///< above those of all that it needs
    uint64_t elements; ///< that it goes through
    uint64_t rows;     ///< of reductions; 0: unknown yet
    uint64_t outside;  ///< uses of its results by others, as far as these were seen
    Operation *first;
    bool hasGrown = false;
    unsigned reductions = 0;   ///< a softmax is two
    bool takesMaximum = false; ///< first of all
    unsigned source = ~0u;     ///< the product of as many elements whose results it reads
    uint64_t sourceReads = 0;  ///< uses of these
    unsigned joined = ~0u;     ///< the kernel that it has become part of
  };
  /// Kernels whose results an op reads, one for each use.
  using Reads = SmallVector<unsigned, 4>;

  void visitBlock(Block &block);
  void visit(Operation *op);
  void visitView(Operation *op);
  bool mayFold(Operation *op) const;
  bool productsAloneRead(Operation *op, bool throughViews) const;
  void visitContraction(Operation *op, const Reads &reads);
  void joinAttention(Operation *op, const Reads &reads);
  void noteReads(unsigned kernel, Operation *op, const Reads &reads);
  static void absorb(Kernel &into, const Kernel &other);
  void visitComputing(Operation *op, const Reads &reads);
  unsigned add(Operation *op, Kind kind, const Reads &reads, uint64_t elements);
  /// The kernel of those read that `op` may become part of; nothing if none.
  std::optional<unsigned> findHost(Operation *op, const Reads &reads, uint64_t elements,
                                   uint64_t results) const;
  bool suits(const Kernel &kernel, Operation *op, uint64_t elements, uint64_t results) const;
  void join(Operation *op, unsigned host, const Reads &reads, uint64_t results);
  Reads collectReads(Operation *op);
  unsigned find(unsigned kernel) const;
  unsigned levelAbove(const Reads &reads) const;

  const FusionGroups &groups;
  Sizes &sizes;
  bool hasTiles(Operation *op) const { return bool(formatInTiles(op)); }

  llvm::function_ref<FloatType(Operation *)> formatInTiles; ///< while constructing
  bool fusesAttention;
  std::vector<Kernel> kernels;
  llvm::DenseMap<Operation *, unsigned> kernelOf;
  llvm::DenseMap<Operation *, Reads> pending;  ///< of ops inside of later ones
  llvm::DenseMap<Value, Operation *> products; ///< that read a value first
  llvm::DenseSet<Operation *> siblings, folded;
  llvm::DenseSet<Operation *> answered; ///< reductions whose results a maximum tells
  llvm::DenseMap<Operation *, Operation *> attentions, valueProducts; ///< one by the other
  unsigned highest = 0; ///< level of the block at work
};

} // namespace mlir::mp

#endif // MP_ANALYSIS_COST_DISPATCHGROUPS_H
