// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FloatSemanticsOpInterface, and the words it uses: what an op computes, moves or can be made again
// as.

#ifndef MP_INTERFACES_FLOATSEMANTICSOPINTERFACE_H
#define MP_INTERFACES_FLOATSEMANTICSOPINTERFACE_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Domains/Contraction.h"

namespace mlir::mp {

/// The meaning of an op: the function that gives all its float results, element by element.
struct FloatMeaning {
  enum class Kind : uint8_t {
    Unknown,       ///< nothing may be concluded
    Constant,      ///< its attribute
    Unary,         ///< `unary` of one operand
    Binary,        ///< `binary` of two operands
    IntegerPower,  ///< one operand to the power of `exponent`
    Fma,           ///< a * b + c of three operands
    Clamp,         ///< one operand, kept in [lo, hi]
    Cast,          ///< one float operand in another format
    Integer,       ///< an integer operand as float
    Move,          ///< elements of the operand, all of them or some
    Compare,       ///< `predicate` of two operands: a truth value
    Select,        ///< one of two operands, element by element, as operand 0 of the op says
    Merge,         ///< each element is one of some operand: concatenation, insertion, padding
    Average,       ///< means of up to `products` elements of one operand
    Reduction,     ///< `reduce` over the dimensions `dims` of one operand, kept with size 1
    Contraction,   ///< sums of products of operands 0 and 1, plus operand 2 if there is one
    Softmax,       ///< over dimension dims[0] of one operand
    SplitResidual, ///< what words so far leave of one operand, rounded to one more
    JoinSplit,     ///< split products: operand 0 plus operand 1, plus operand 2 if there is one
    Structured,    ///< a linalg op: its body says
  };
  /// The fate of rows (runs along the innermost dimension) when elements move.
  enum class Rows : uint8_t {
    Kept,  ///< each row is a row
    Part,  ///< each new row is part of an old one, or a permutation
    Other, ///< anything
  };

  Kind kind = Kind::Unknown;
  domains::UnaryFn unary = domains::UnaryFn::Identity;
  domains::BinaryFn binary = domains::BinaryFn::Add;
  domains::ReduceFn reduce = domains::ReduceFn::Sum;
  arith::CmpFPredicate predicate = arith::CmpFPredicate::AlwaysFalse;
  /// Clamps and reductions to an extremum: true if a NaN beside a number is dropped.
  bool dropsNaN = false;
  Rows rows = Rows::Other;
  SmallVector<unsigned, 3> operands; ///< operand numbers, in the function's order
  SmallVector<int64_t, 2> dims;
  double lo = 0, hi = 0;
  int64_t exponent = 0;
  /// For a merge: a constant that may be among the elements (padding).
  std::optional<double> padding;
  /// For a contraction: the number of products each element sums, and whether the contracted
  /// dimension is the innermost one of operand 0 and of operand 1 (and the only one).
  domains::Extent products;
  bool innermost[2] = {false, false};

  static FloatMeaning unknown() { return {}; }
  static FloatMeaning of(Kind kind, ArrayRef<unsigned> operands) {
    FloatMeaning meaning;
    meaning.kind = kind;
    meaning.operands.assign(operands.begin(), operands.end());
    return meaning;
  }
};

/// Says how elements of an operand become a result.
enum class Movement : uint8_t {
  None,  ///< they do not, or others join them
  View,  ///< each stays in its order, under another shape
  Slice, ///< a rectangular part of them
  Whole, ///< each is there, perhaps repeatedly or in another order
  Some,  ///< those picked by indices
};

} // namespace mlir::mp

#include "mp/Interfaces/FloatSemanticsOpInterface.h.inc"

namespace mlir::mp {

/// Returns the meaning of any op: the interface's answer, Unknown without it.
FloatMeaning getFloatMeaning(Operation *op);

/// Returns the movement of any op: the interface's answer, None without it.
Movement getMovement(Operation *op);

/// True if `op` is a constant of any dialect, or the interface says that it can be made again.
bool isRemakeable(Operation *op);

/// Makes `op`, which is remakeable, again in `format`; null if that cannot be.
Value remakeIn(Operation *op, OpBuilder &builder, FloatType format, Overflow overflow,
               llvm::function_ref<Value(Value)> operandIn);

/// A copy of a constant op with another value of this type, inserted nowhere: each dialect has its
/// own name for the attribute.
Operation *cloneConstant(Operation *constant, Attribute value, Type type);

} // namespace mlir::mp

#endif // MP_INTERFACES_FLOATSEMANTICSOPINTERFACE_H
