// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the C header of an object file: functions, types and shapes.

#include "CHeader.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mp;

bool mlir::mp::isCIdentifier(StringRef text) {
  return !text.empty() && !llvm::isDigit(text[0]) &&
         llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// MLIR allows more in names than C.
static std::string cName(StringRef prefix, StringRef name) {
  std::string result = (prefix + "_" + name).str();
  for (char &c : result)
    if (!llvm::isAlnum(c))
      c = '_';
  return result;
}

std::string mlir::mp::recordName(StringRef prefix, const CFunction &function) {
  return cName(prefix, function.name) + "_function";
}

/// "2x?xf32"; a value is its element type alone.
static std::string shapeText(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto buffer = dyn_cast<MemRefType>(type))
    for (int64_t size : buffer.getShape()) {
      if (ShapedType::isDynamic(size))
        os << "?x";
      else
        os << size << "x";
    }
  os << getElementTypeOrSelf(type);
  return text;
}

static std::string list(TypeRange types) {
  return llvm::join(llvm::map_range(types, shapeText), ", ");
}

std::string mlir::mp::headerText(StringRef prefix, ArrayRef<CFunction> functions) {
  std::string text;
  llvm::raw_string_ostream os(text);
  std::string guard = "MP_MODEL_" + prefix.upper() + "_H";
  os << "/* Made by mp. Link with " << prefix << ".o and libMPRuntime.\n"
     << " *\n"
     << " * Arrays are row-major on the host: data and sizes of each. Results come in memory to "
        "free().\n"
     << " * Each function returns 0, or -1 and says why in mp_rt_device_error(). */\n"
     << "#ifndef " << guard << "\n#define " << guard << "\n\n#include \"mp/Runtime/Device.h\"\n\n"
     << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  for (const CFunction &function : functions) {
    std::string record = recordName(prefix, function);
    os << llvm::formatv("\n/* ({0}) -> ({1}) */\n", list(function.type.getInputs()),
                        list(function.type.getResults()))
       << "extern const mp_rt_function " << record << ";\n"
       << "static inline int " << cName(prefix, function.name)
       << "(const mp_rt_array *arguments, mp_rt_array *results) {\n"
       << "  return " << (function.isOnHost ? "mp_rt_call_host" : "mp_rt_call") << "(&" << record
       << ", arguments, results);\n}\n";
  }
  os << "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
  return text;
}
