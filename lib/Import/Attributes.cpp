// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes that only exporters read, and constants that a newer MLIR writes otherwise.

#include "Forms/StructuredOp.h"
#include "Rules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir::mp::import;

static bool isExporters(StringRef name) {
  static constexpr StringRef dialects[] = {"mhlo",  "jax",  "tf_saved_model", "tf",   "tfl",
                                           "torch", "iree", "stablehlo",      "vhlo", "sdy",
                                           "hal",   "flow", "stream",         "util", "onnx"};
  return name.contains('.') && is_contained(dialects, name.split('.').first);
}

/// By the key, or by the value. jax.result_info stays: it names the results.
static bool isDropped(const Source &source, Span entry) {
  StringRef key = source.text(entry.begin).trim('"'), value = source.text(entry.begin + 2);
  if (key == "jax.result_info")
    return false;
  return isExporters(key) ||
         (entry.end > entry.begin + 2 && value.consume_front("#") && isExporters(value));
}

size_t mlir::mp::import::dropForeignAttributes(Source &source, size_t open) {
  bool isKey = source.kind(open + 1) == Tok::Name || source.kind(open + 1) == Tok::String;
  bool isEntry = source.is(open + 2, "=") || source.is(open + 2, ",") || source.is(open + 2, "}");
  if (!isKey || !isEntry)
    return open;
  size_t close = source.closing(open);
  SmallVector<Span> entries = source.split({open + 1, close});
  auto isDroppedEntry = [&](Span entry) { return isDropped(source, entry); };
  if (close >= source.size() || none_of(entries, isDroppedEntry))
    return open;
  std::string kept;
  for (Span entry : entries)
    if (!isDroppedEntry(entry))
      kept += (kept.empty() ? "" : ", ") + source.text(entry).str();
  size_t begin = open;
  if (kept.empty() && open > 0 && source.is(open - 1, "attributes"))
    --begin;
  source.replace({begin, close + 1}, kept.empty() ? "" : "{" + kept + "}",
                 /*needed=*/false);
  return close + 1;
}

void mlir::mp::import::packMask(Source &source, size_t elements) {
  StringRef bytes = source.text(elements);
  size_t end = source.is(elements + 1, ":") ? source.typeEnd(elements + 2) : elements;
  auto type =
      end > elements ? TensorType::parse(source.text(Span{elements + 2, end})) : std::nullopt;
  if (!bytes.consume_front("<\"0x") || !bytes.consume_back("\">") || !type || type->element != "i1")
    return;
  size_t count = 1;
  for (int64_t size : type->shape)
    count *= size_t(std::max<int64_t>(size, 0));
  if (count < 2 || bytes.size() != 2 * count)
    return;
  std::string packed((count + 7) / 8, '\0');
  for (size_t i = 0; i < count; ++i)
    if (bytes.substr(2 * i, 2) != "00")
      packed[i / 8] |= char(1 << (i % 8));
  source.replace({elements, elements + 1}, "<\"0x" + toHex(packed) + "\">");
}
