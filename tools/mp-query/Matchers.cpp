// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matches ops by class, by layer, by line, by element type, and by who reads or makes their values.

#include "Matchers.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Query/Matcher/MatchersInternal.h"
#include "mp/Analysis/Locations.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Numerics/Format.h"
#include "mp/Target/TargetModel.h"
#include "llvm/ADT/StringExtras.h"

#include <functional>

using namespace mlir;
using namespace mlir::mp;
namespace qm = mlir::query::matcher;

namespace {
/// A matcher as the registry takes it.
struct Predicate {
  std::function<bool(Operation *)> holds;
  bool match(Operation *op) { return holds(op); }
};
} // namespace

/// A layer's name, or one that begins with it: "block.1" names "block.1.up", but not "block.10".
static bool isNamed(Location location, StringRef name) {
  return llvm::any_of(namesIn(location), [&](StringRef found) {
    return found.consume_front(name) &&
           (found.empty() || found.front() == '.' || found.front() == '/');
  });
}

/// The location of what made `value`: an op, or, of an argument, its own.
static Location madeAt(Value value) {
  Operation *op = value.getDefiningOp();
  return op ? op->getLoc() : value.getLoc();
}

static std::string wrongArgument;

std::string mlir::mp::takeWrongArgument() { return std::exchange(wrongArgument, ""); }

/// Notes that a matcher was given no name, which would be in all names or in none.
static void expectName(StringRef matcher, StringRef name, StringRef expected) {
  if (name.empty())
    wrongArgument = (matcher + "(\"\"): expected " + expected).str();
}

static Predicate named(StringRef name) {
  expectName("named", name, "the name of a layer");
  return {[name = name.str()](Operation *op) { return isNamed(op->getLoc(), name); }};
}

static Predicate at(StringRef place) {
  expectName("at", place, "a file, or a line of it, as in model.py:12");
  return {[place = place.str()](Operation *op) {
    std::string found = describeLocation(op->getLoc());
    return StringRef(found).contains(place + ":") || StringRef(found).ends_with(place);
  }};
}

static Predicate opClass(StringRef name) {
  if (!symbolizeOpClass(name)) {
    std::string known;
    for (uint32_t value = 0; value <= getMaxEnumValForOpClass(); ++value)
      if (auto one = symbolizeOpClass(value))
        known += (known.empty() ? "" : ", ") + stringifyOpClass(*one).str();
    wrongArgument = ("opClass(\"" + name + "\"): expected one of " + known).str();
  }
  return {[name = name.str()](Operation *op) { return stringifyOpClass(getOpClass(op)) == name; }};
}

static Predicate contraction() {
  return {[](Operation *op) { return getOpClass(op) == OpClass::TensorCore; }};
}

/// An element type as MLIR spells it, or a short name of one.
static StringRef elementTypeOf(StringRef name) {
  name = mpcore::target::canonicalFormatName(name);
  StringRef digits = name;
  const bool isInteger =
      (digits.consume_front("i") || digits.consume_front("si") || digits.consume_front("ui")) &&
      !digits.empty() && llvm::all_of(digits, llvm::isDigit);
  const bool isFloat =
      mpcore::numerics::parseFormat(name) || name == "tf32" || name == "f80" || name == "f128";
  if (!isInteger && !isFloat && name != "index" && !name.starts_with("complex<"))
    wrongArgument =
        ("hasFormat(\"" + name + "\"): expected an element type, as f32, bf16, e4m3, i8 or index")
            .str();
  return name;
}

static Predicate hasFormat(StringRef format) {
  return {[format = elementTypeOf(format).str()](Operation *op) {
    auto isOfFormat = [&](Type type) {
      std::string text;
      llvm::raw_string_ostream(text) << getElementTypeOrSelf(type);
      return text == format;
    };
    return llvm::any_of(op->getOperandTypes(), isOfFormat) ||
           llvm::any_of(op->getResultTypes(), isOfFormat);
  }};
}

static Predicate reads(StringRef name) {
  return {[name = name.str()](Operation *op) {
    return llvm::any_of(op->getOperands(),
                        [&](Value value) { return isNamed(madeAt(value), name); });
  }};
}

static Predicate readBy(StringRef name) {
  return {[name = name.str()](Operation *op) {
    return llvm::any_of(op->getUsers(),
                        [&](Operation *user) { return isNamed(user->getLoc(), name); });
  }};
}

void mlir::mp::registerMatchers(qm::Registry &registry) {
  registry.registerMatcher("allOf", qm::internal::allOf);
  registry.registerMatcher("anyOf", qm::internal::anyOf);
  registry.registerMatcher("hasOpName",
                           static_cast<::mlir::detail::NameOpMatcher (*)(StringRef)>(m_Op));
  registry.registerMatcher("hasOpAttrName",
                           static_cast<::mlir::detail::AttrOpMatcher (*)(StringRef)>(m_Attr));
  registry.registerMatcher("isConstantOp",
                           static_cast<::mlir::detail::constant_op_matcher (*)()>(m_Constant));
  registry.registerMatcher("named", named);
  registry.registerMatcher("at", at);
  registry.registerMatcher("opClass", opClass);
  registry.registerMatcher("contraction", contraction);
  registry.registerMatcher("hasFormat", hasFormat);
  registry.registerMatcher("reads", reads);
  registry.registerMatcher("readBy", readBy);
}
