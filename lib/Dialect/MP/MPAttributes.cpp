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

namespace {
/// Text that goes to a printer in one piece: every decided op has an attribute of many pieces, and
/// printers need not buffer.
class PieceWriter {
public:
  explicit PieceWriter(AsmPrinter &printer) : printer(printer) {}
  ~PieceWriter() { printer << text; }

  PieceWriter &operator<<(StringRef piece) {
    text += piece;
    return *this;
  }
  /// A float format, or '_' for none. Printers look for aliases of types, of which these have none.
  PieceWriter &operator<<(Type type) {
    if (isa<NoneType>(type))
      return *this << "_";
    if (type.isF32())
      return *this << "f32";
    if (type.isBF16())
      return *this << "bf16";
    if (type.isF16())
      return *this << "f16";
    printer << text << type;
    text.clear();
    return *this;
  }
  PieceWriter &operator<<(ArrayRef<Type> storages) {
    *this << "[";
    llvm::interleave(storages, [&](Type type) { *this << type; }, [&] { *this << ", "; });
    return *this << "]";
  }
  PieceWriter &quote(StringRef piece) {
    llvm::raw_svector_ostream os(text);
    os << '"';
    llvm::printEscapedString(piece, os);
    os << '"';
    return *this;
  }

private:
  AsmPrinter &printer;
  SmallString<128> text;
};
} // namespace

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
    parser.emitError(originLoc, "expected one of pin, policy, range, class, cost, found '")
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
  PieceWriter os(printer);
  os << "<in = " << getIn();
  if (getCompute())
    os << ", compute = " << getCompute();
  if (getAcc())
    os << ", acc = " << getAcc();
  os << ", out = " << getOut() << ", by = " << stringifyOrigin(getOrigin()) << " ";
  os.quote(getReason());
  if (getEvidence() != Evidence::None)
    os << ", evidence = " << stringifyEvidence(getEvidence());
  os << ">";
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
