// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A derivation says why contractions may read their factors in a format of small range: a claim per
// float value that the conclusion rests on. The deciding analysis writes it, `mp-check-proofs`
// derives it again with code of its own. docs/concepts/CheckingProofs.md describes the file.

#ifndef MP_PROOFS_DERIVATION_H
#define MP_PROOFS_DERIVATION_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/JSON.h"

#include <limits>

namespace mlir::mp::proofs {

/// The strength of what a fact rests on; a conclusion is as strong as its weakest premise.
enum class Basis : uint8_t {
  Proved,   ///< the program alone
  Stated,   ///< a range that the program states (`mp.range`), too
  Measured, ///< a range that was measured, too
};
StringRef toString(Basis basis);
std::optional<Basis> parseBasis(StringRef text);

/// States what is said of all elements of one value.
struct Claim {
  std::string value;     ///< its name, see ValueNames
  std::string operation; ///< that computes it, "" for an argument
  std::string rule;      ///< interval, constant, stated, carried, or the name of a lemma
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool mayBeNaN = true, mayBeInfinite = true;
  /// Bound on the 2-norm of rows, runs along the innermost dimension.
  double norm = std::numeric_limits<double>::infinity();
  Basis basis = Basis::Proved;
  /// The values that the conclusion of a lemma relates, by name.
  std::vector<std::string> premises;
};

/// An operand of a contraction that is read in the derivation's format.
struct Conclusion {
  unsigned op = 0; ///< number of the contraction
  unsigned operand = 0;
  std::string value; ///< the name of the operand
  Basis basis = Basis::Proved;
};

struct FunctionDerivation {
  std::string name;
  unsigned opCount = 0;      ///< ops of the function, bodies included
  std::vector<Claim> claims; ///< in program order
  std::vector<Conclusion> conclusions;
};

struct Derivation {
  std::string format; ///< that factors are read in: f16
  std::vector<FunctionDerivation> functions;
};

llvm::json::Value toJSON(const Derivation &derivation);
/// An error names the key, what was expected and what was found.
llvm::Expected<Derivation> parseDerivation(StringRef text);

/// Names of the values of a function: `%12#0` is result 0 of the op that a walk in pre-order visits
/// as number 12 (0 is the first op of the body), `%arg3` an argument of the function, `%12^0.0#1`
/// argument 1 of block 0 in region 0 of op 12, and `%f^2#0` argument 0 of block 2 of the function.
class ValueNames {
public:
  explicit ValueNames(FunctionOpInterface function);

  std::string getName(Value value) const;
  /// Null if the function has no value of this name.
  Value find(StringRef name) const;
  Operation *getOp(unsigned number) const { return number < ops.size() ? ops[number] : nullptr; }
  unsigned getNumber(Operation *op) const { return numbers.lookup(op); }
  unsigned size() const { return ops.size(); }
  /// Orders values as the program makes them.
  std::pair<int64_t, unsigned> getPlace(Value value) const;

private:
  FunctionOpInterface function;
  std::vector<Operation *> ops;
  DenseMap<Operation *, unsigned> numbers, ends; ///< ends: of the last op inside
  llvm::StringMap<Value> values;
};

} // namespace mlir::mp::proofs

#endif // MP_PROOFS_DERIVATION_H
