// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that are no text.

#include "Rules.h"

using namespace llvm;
using namespace mlir::mp::import;

std::string mlir::mp::import::explainBinary(MemoryBufferRef input) {
  StringRef bytes = input.getBuffer();
  if (bytes.substr(4).starts_with("TFL3"))
    return "is a TFLite model; convert it with 'tosa-converter-for-tflite FILE --text -o OUT.mlir' "
           "(PyPI: tosa-converter-for-tflite); see docs/FromTFLite.md";
  if (!bytes.consume_front("ML\xefR"))
    return "";
  // Version, a varint of at most nine bytes, then the producer, which ends with a zero.
  size_t ends = std::min(bytes.take_front(256).find('\0'), bytes.size()); // truncated: no zero
  size_t begins = 0;
  while (begins < std::min<size_t>(ends, 9) && !isalpha(uint8_t(bytes[begins])))
    ++begins;
  StringRef producer = bytes.slice(begins, ends);
  if (producer.empty())
    return "is bytecode that ends within its first bytes; write it again, or fetch it whole";
  if (producer.starts_with("MLIR22.") || producer.starts_with("LLVM22."))
    return "";
  if (producer.starts_with("StableHLO"))
    return ("is a StableHLO artifact ('" + producer +
            "'); convert it with 'iree-compile --iree-input-type=stablehlo --compile-to=input FILE -o "
            "OUT.mlir' (PyPI: iree-base-compiler), then 'mp-opt --import OUT.mlir'; see "
            "docs/FromJAX.md")
        .str();
  return ("is bytecode of '" + producer +
          "'; MLIR 22 cannot read other releases' once it holds an affine map (unknown attribute "
          "code): re-emit as text, with the exporter's own tool (iree-opt FILE -o OUT.mlir, "
          "torch-mlir-opt FILE -o OUT.mlir)")
      .str();
}
