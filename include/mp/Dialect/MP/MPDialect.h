// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The mp dialect: attribute names, attributes, ops.

#ifndef MP_DIALECT_MP_MPDIALECT_H
#define MP_DIALECT_MP_MPDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mp/Dialect/MP/Namespaces.h"

#include "mp/Dialect/MP/MPDialect.h.inc"
#include "mp/Dialect/MP/MPEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "mp/Dialect/MP/MPAttributes.h.inc"

#define GET_OP_CLASSES
#include "mp/Dialect/MP/MPOps.h.inc"

namespace mlir::mp {

/// Names of the discardable attributes (see the dialect's description).
inline constexpr llvm::StringLiteral kPrecisionAttrName = "mp.precision";
inline constexpr llvm::StringLiteral kPinAttrName = "mp.pin";
inline constexpr llvm::StringLiteral kRangeAttrName = "mp.range";
inline constexpr llvm::StringLiteral kRoleAttrName = "mp.role";
inline constexpr llvm::StringLiteral kStateAttrName = "mp.state";
inline constexpr llvm::StringLiteral kDimAttrName = "mp.dim";
inline constexpr llvm::StringLiteral kStorageAttrName = "mp.storage";
inline constexpr llvm::StringLiteral kConvertsAttrName = "mp.converts";
inline constexpr llvm::StringLiteral kInitOfAttrName = "mp.init_of";
inline constexpr llvm::StringLiteral kPhaseAttrName = "mp.phase";
inline constexpr llvm::StringLiteral kFactsAttrName = "mp.facts";
inline constexpr llvm::StringLiteral kRuntimeChecksAttrName = "mp.runtime_checks";
inline constexpr llvm::StringLiteral kOperandsTF32AttrName = "mp.operands_tf32";

/// The float format of a float, or of the elements of a shaped type; null if
/// the elements are no floats.
FloatType getFloatFormat(Type type);
/// True if it has one; quicker.
bool hasFloatFormat(Type type);

/// `type` with its elements (or itself, for scalars) replaced by `format`.
Type withFormat(Type type, FloatType format);

/// True if every value of `narrow` (NaN and signed zeros included) is a value of
/// `wide`; decided by the formats' own semantics, not by their widths.
bool holdsEveryValueOf(FloatType wide, FloatType narrow);

/// The constant `attr` (FloatAttr, dense or resource elements of floats) converted
/// to the format `to`; null when `attr` is of another kind, or a resource whose
/// data is missing or of the wrong length. A converted resource gets a name of its
/// own, `NAME_FORMAT`.
Attribute convertConstant(Attribute attr, FloatType to, Rounding rounding, Overflow overflow);

/// The bytes of a dense constant (one element if it is a splat) or of a resource;
/// nullopt where they are missing or of the wrong length.
std::optional<ArrayRef<char>> getRawElements(ElementsAttr attr);

} // namespace mlir::mp

#endif // MP_DIALECT_MP_MPDIALECT_H
