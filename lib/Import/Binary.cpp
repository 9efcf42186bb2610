// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that are no text.

#include "Rules.h"

using namespace llvm;
using namespace mlir::mp::import;

std::string mlir::mp::import::explainBinary(MemoryBufferRef input) {
  StringRef bytes = input.getBuffer();
  if (bytes.substr(4).starts_with("TFL3"))
    return "is a TFLite model; convert it with 'tosa-converter-for-tflite FILE --text -o OUT.mlir' "
           "(PyPI: tosa-converter-for-tflite), as 'python -m mp FILE -o OUT.mlir' does; see "
           "docs/guides/FromTFLite.md";
  // A protobuf message whose first fields are a version and a string or message, as ONNX writes
  // them.
  if (bytes.size() > 2 && bytes[0] == 0x08 && bytes[1] < 0x20 &&
      is_contained({0x12, 0x1a, 0x22, 0x2a, 0x32, 0x3a, 0x42}, bytes[2]))
    return "is an ONNX model; import it with 'torch-mlir-import-onnx FILE -o OUT.torch.mlir' "
           "(PyPI: torch-mlir), lower that "
           "with 'torch-mlir-opt --torch-onnx-to-torch-backend-pipeline "
           "--torch-backend-to-linalg-on-tensors-backend-pipeline "
           "OUT.torch.mlir -o OUT.mlir', then 'mp-opt --import OUT.mlir'; 'python -m mp FILE -o "
           "OUT.mlir' does all of it; see "
           "docs/guides/FromONNX.md";
  if (bytes.starts_with("PK\x03\x04"))
    return "is a zip archive, as PyTorch (.pt2, .pt) and Keras (.keras) write: export MLIR from "
           "the framework; of a .pt2, 'python -m mp FILE -o OUT.mlir' does it; see "
           "docs/guides/FromPyTorch.md and docs/guides/FromTFLite.md";
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
            "'); convert it with 'iree-compile --iree-input-type=stablehlo --compile-to=input FILE "
            "-o "
            "OUT.mlir' (PyPI: iree-base-compiler), then 'mp-opt --import OUT.mlir'; see "
            "docs/guides/FromJAX.md")
        .str();
  return ("is bytecode of '" + producer +
          "'; MLIR 22 cannot read other releases' once it holds an affine map (unknown attribute "
          "code): re-emit as text, with the exporter's own tool (iree-opt FILE -o OUT.mlir, "
          "torch-mlir-opt FILE -o OUT.mlir)")
      .str();
}
