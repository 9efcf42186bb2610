// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reasons that more than one op has for its class (docs/reference/OpClasses.md).

#ifndef MP_LIB_INTERFACES_REASONS_H
#define MP_LIB_INTERFACES_REASONS_H

#include "mp/Interfaces/PrecisionOpInterface.h"

namespace mlir::mp::detail {

/// A class and a type rule, with the note that says why.
struct Reason {
  OpClass opClass;
  TypeRule rule;
  StringLiteral note;
};

inline constexpr Reason kContraction{OpClass::TensorCore, TypeRule::Contraction,
                                     "contraction: narrow factors, f32 accumulator"},
    kConvolution{OpClass::TensorCore, TypeRule::Contraction,
                 "convolution: narrow factors, f32 accumulator"},
    kDepthwise{OpClass::TensorCore, TypeRule::Contraction,
               "bandwidth-bound convolution: narrow storage, f32 accumulator"},
    kTosaConvolution{OpClass::TensorCore, TypeRule::Uniform,
                     "convolution: bias and result in the operand format, acc_type f32"};

inline constexpr Reason kCommutes{OpClass::ExactCommute, TypeRule::Uniform,
                                  "commutes with rounding"},
    kUserCast{OpClass::ExactCommute, TypeRule::Frozen,
              "a cast of the user: both formats are meant"},
    kConstant{OpClass::ExactCommute, TypeRule::Frozen, "a constant is converted where it is used"},
    kCarries{OpClass::ExactCommute, TypeRule::Container, "carried values have one format each"},
    kMovesData{OpClass::ExactCommute, TypeRule::Uniform, "moves data"},
    kMovesElements{OpClass::ExactCommute, TypeRule::Uniform, "moves data; indices stay"};

inline constexpr Reason kSumOfOperands{OpClass::Follow, TypeRule::Uniform,
                                       "bounded by the sum of its operands"},
    kBounded{OpClass::Follow, TypeRule::Uniform, "bounded"},
    kByBody{OpClass::Follow, TypeRule::Frozen, "by its iterators, maps and body"};

inline constexpr Reason kProduct{OpClass::RangeConditional, TypeRule::Uniform,
                                 "needs a bound on the product"},
    kQuotient{OpClass::RangeConditional, TypeRule::Uniform,
              "needs a lower bound on the denominator"},
    kRoot{OpClass::RangeConditional, TypeRule::Uniform, "subnormal operands lose digits"},
    kExponential{OpClass::RangeConditional, TypeRule::Uniform,
                 "overflows from 11.09 in f16: needs a bound"},
    kLogarithm{OpClass::RangeConditional, TypeRule::Uniform, "needs an operand well above zero"},
    kPeriodic{OpClass::RangeConditional, TypeRule::Uniform,
              "needs a small argument: positions are not"};

inline constexpr Reason kWindowSum{OpClass::Accumulate, TypeRule::Accumulator,
                                   "sums its window in f32"};

inline constexpr Reason kIntegerToFloat{OpClass::KeepWide, TypeRule::Frozen,
                                        "integer-valued: exact only while small"},
    kWinograd{OpClass::KeepWide, TypeRule::Frozen, "Winograd constants amplify"},
    kReciprocalRoot{OpClass::KeepWide, TypeRule::Uniform, "steep near zero: the epsilon of norms"},
    kPower{OpClass::KeepWide, TypeRule::Uniform, "powers explode"},
    kOverflowsEarly{OpClass::KeepWide, TypeRule::Uniform, "overflows early, and cancels near zero"},
    kSteepAtEnds{OpClass::KeepWide, TypeRule::Uniform, "steep near the ends of its range"},
    kFourier{OpClass::KeepWide, TypeRule::Frozen, "grows with its length"};

inline constexpr Reason kComparison{OpClass::Discontinuous, TypeRule::Uniform,
                                    "a comparison may flip"},
    kFloatToInteger{OpClass::Discontinuous, TypeRule::Frozen, "float to integer may step"},
    kSteps{OpClass::Discontinuous, TypeRule::Uniform, "steps"},
    kClassifiesFloats{OpClass::Discontinuous, TypeRule::Uniform,
                      "rounding makes infinities and subnormals"};

inline constexpr Reason kBitPattern{OpClass::Barrier, TypeRule::Frozen, "reads the bit pattern"},
    kIntegersOnly{OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    kPartOfParent{OpClass::Barrier, TypeRule::Frozen, "part of its parent"},
    kCall{OpClass::Barrier, TypeRule::Frozen, "formats are those of the callee"},
    kSymbol{OpClass::Barrier, TypeRule::Frozen, "a symbol"},
    kBranch{OpClass::Barrier, TypeRule::Frozen, "block arguments keep their formats"},
    kQuantized{OpClass::Barrier, TypeRule::Frozen, "integer already"},
    kUnsignedOrder{OpClass::Barrier, TypeRule::Frozen, "compares as unsigned integers"},
    kPartOfBody{OpClass::Barrier, TypeRule::Frozen, "part of a body"},
    kBooleansOnly{OpClass::Barrier, TypeRule::Frozen, "booleans only"},
    kShapesOnly{OpClass::Barrier, TypeRule::Frozen, "shapes only"},
    kState{OpClass::Barrier, TypeRule::Frozen, "state of the program"};

} // namespace mlir::mp::detail

#endif // MP_LIB_INTERFACES_REASONS_H
