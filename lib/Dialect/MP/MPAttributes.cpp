// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text form and rules of #mp.precision.

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mp/Dialect/MP/Scaling.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mp;

#define GET_ATTRDEF_CLASSES
#include "mp/Dialect/MP/MPAttributes.cpp.inc"

void MPDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "mp/Dialect/MP/MPAttributes.cpp.inc"
      >();
}

/// `[bf16, _, f32]`; `_` reads as NoneType.
static ParseResult parseStorages(AsmParser &parser, SmallVectorImpl<Type> &types) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalKeyword("_"))) {
      types.push_back(NoneType::get(parser.getContext()));
      return success();
    }
    return parser.parseType(types.emplace_back());
  });
}

static void printStorages(AsmPrinter &printer, ArrayRef<Type> types) {
  printer << '[';
  llvm::interleaveComma(types, printer, [&](Type type) {
    if (isa<NoneType>(type))
      printer << '_';
    else
      printer << type;
  });
  printer << ']';
}

Attribute PrecisionAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Type> in, out;
  Type compute, acc;
  std::string reason;
  StringRef originWord;
  if (parser.parseLess() || parser.parseKeyword("in") || parser.parseEqual() ||
      parseStorages(parser, in) || parser.parseComma())
    return {};
  if (succeeded(parser.parseOptionalKeyword("compute")) &&
      (parser.parseEqual() || parser.parseType(compute) || parser.parseComma()))
    return {};
  if (succeeded(parser.parseOptionalKeyword("acc")) &&
      (parser.parseEqual() || parser.parseType(acc) || parser.parseComma()))
    return {};
  SMLoc originLoc;
  if (parser.parseKeyword("out") || parser.parseEqual() || parseStorages(parser, out) ||
      parser.parseComma() || parser.parseKeyword("by") || parser.parseEqual() ||
      parser.getCurrentLocation(&originLoc) || parser.parseKeyword(&originWord) ||
      parser.parseString(&reason))
    return {};
  StringRef evidenceWord = "none";
  SMLoc evidenceLoc;
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("evidence") || parser.parseEqual() ||
       parser.getCurrentLocation(&evidenceLoc) || parser.parseKeyword(&evidenceWord)))
    return {};
  if (parser.parseGreater())
    return {};
  std::optional<Origin> origin = symbolizeOrigin(originWord);
  if (!origin) {
    parser.emitError(originLoc, "expected one of pin, policy, class, range, cost, found '")
        << originWord << "'";
    return {};
  }
  std::optional<Evidence> evidence = symbolizeEvidence(evidenceWord);
  if (!evidence) {
    parser.emitError(evidenceLoc,
                     "expected one of proved, guarded, stated, measured, assumed, found '")
        << evidenceWord << "'";
    return {};
  }
  return parser.getChecked<PrecisionAttr>(loc, parser.getContext(), in, compute, acc, out, *origin,
                                          reason, *evidence);
}

void PrecisionAttr::print(AsmPrinter &printer) const {
  printer << "<in = ";
  printStorages(printer, getIn());
  if (getCompute())
    printer << ", compute = " << getCompute();
  if (getAcc())
    printer << ", acc = " << getAcc();
  printer << ", out = ";
  printStorages(printer, getOut());
  printer << ", by = " << stringifyOrigin(getOrigin()) << ' ';
  printer.printString(getReason());
  if (getEvidence() != Evidence::None)
    printer << ", evidence = " << stringifyEvidence(getEvidence());
  printer << '>';
}

LogicalResult PrecisionAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<Type> in,
                                    Type compute, Type acc, ArrayRef<Type> out, Origin origin,
                                    StringRef reason, Evidence evidence) {
  auto isStorage = [](Type type) {
    return isa<NoneType, Float32Type>(type) || (isa<FloatType>(type) && !type.isTF32());
  };
  for (Type type : llvm::concat<const Type>(in, out))
    if (!isStorage(type))
      return emitError() << "expected a float format or '_' as storage, found " << type
                         << (type.isTF32() ? " (a way to compute; its storage is f32)" : "");
  for (Type type : {compute, acc})
    if (type && !isa<FloatType>(type))
      return emitError() << "expected a float format to compute in, found " << type;
  if (reason.empty())
    return emitError() << "expected a reason after 'by'";
  return success();
}
