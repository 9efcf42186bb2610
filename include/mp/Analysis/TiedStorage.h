// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds values that must be stored in one format because control flow or a signature ties them.
//
// Tied values are what a loop carries (block argument and result), what a branch returns, an
// argument of a function, or the results of all calls of a function. Its *feeds* are the operands
// that become it: initial and yielded values, arguments of calls, returned values; one stored in
// another format is cast there. Values in no tie are results of plain ops, each a storage of its
// own.

#ifndef MP_ANALYSIS_TIEDSTORAGE_H
#define MP_ANALYSIS_TIEDSTORAGE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include <deque>

namespace mlir::mp {

struct TiedValues {
  FloatType format;                  ///< the format it has in the program
  SmallVector<Value, 2> values;      ///< in program order; none where nobody calls the function
  SmallVector<OpOperand *, 2> feeds; ///< in program order
  std::string frozen;                ///< why the format must stay; empty if it may change
};

class TiedStorage {
public:
  /// Visits the functions of one module, not those of modules nested in it.
  explicit TiedStorage(ModuleOp module);

  /// All ties, signatures first, each function in program order.
  const std::deque<TiedValues> &getAll() const { return ties; }
  /// The tie that `value` belongs to; null if it is alone.
  const TiedValues *find(Value value) const { return byValue.lookup(value); }
  /// The tie that `operand` becomes; null if its op takes it as a plain operand.
  const TiedValues *findFed(OpOperand &operand) const { return byFeed.lookup(&operand); }
  /// Returns the storage format that was decided for `value` (`mp.precision` on its op or the op
  /// whose block argument it is, `mp.storage` of an argument); its own format where nothing was
  /// decided.
  FloatType getDecided(Value value) const;
  FloatType getDecided(const TiedValues &tied) const;
  /// Calls `found` with every decision that speaks of `tied`, and the op it is on.
  void findDecisions(const TiedValues &tied,
                     llvm::function_ref<void(Operation *, FloatType)> found) const;

private:
  void addSignature(FunctionOpInterface function, ArrayRef<Operation *> calls, StringRef frozen);
  void addRegion(Region &region);
  void addTied(TiedValues tied);

  std::deque<TiedValues> ties; ///< never moved
  llvm::DenseMap<Value, const TiedValues *> byValue;
  llvm::DenseMap<OpOperand *, const TiedValues *> byFeed;
};

} // namespace mlir::mp

#endif // MP_ANALYSIS_TIEDSTORAGE_H
