// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognises text of dialects that MLIR does not have and says what to do about it.

#include "Rules.h"

using namespace llvm;
using namespace mlir::mp::import;

namespace {
struct Advice {
  StringRef dialects; ///< separated by blanks
  StringRef text;
};
} // namespace

static constexpr Advice kAdvice[] = {
    {"stablehlo chlo mhlo vhlo sdy",
     "convert to linalg with 'iree-compile --iree-input-type=stablehlo --compile-to=input FILE -o "
     "OUT.mlir' (PyPI: iree-base-compiler), then 'mp-opt --import OUT.mlir'; see "
     "docs/guides/FromJAX.md"},
    {"torch torch_c",
     "convert to linalg with 'torch-mlir-opt --torchdynamo-export-to-torch-backend-pipeline "
     "--torch-backend-to-linalg-on-tensors-backend-pipeline --canonicalize --cse FILE -o OUT.mlir' "
     "(PyPI: torch-mlir), then 'mp-opt --import OUT.mlir'; see docs/guides/FromPyTorch.md"},
    {"onnx krnl", "import the .onnx file with 'torch-mlir-import-onnx MODEL.onnx -o OUT.mlir' "
                  "(PyPI: torch-mlir) "
                  "instead of onnx-mlir; see docs/guides/FromONNX.md"},
    {"tfl",
     "convert the .tflite file with 'tosa-converter-for-tflite MODEL.tflite --text -o OUT.mlir' "
     "(PyPI: tosa-converter-for-tflite); see docs/guides/FromTFLite.md"},
    {"tf tf_executor tf_device tf_saved_model",
     "export StableHLO with 'tf.function(f, jit_compile=True).experimental_get_compiler_ir(*args)"
     "(stage=\"stablehlo\")', or TFLite; see docs/guides/FromTFLite.md"},
    {"hal stream flow vm", "stop IREE at the input phase: 'iree-compile --compile-to=input', for "
                           "models from PyTorch with "
                           "'--iree-input-type=torch --iree-torch-emit-async-entry-points=false'; "
                           "see docs/guides/FromPyTorch.md"},
    {"util",
     "mp translates util.func, util.return, util.call, util.global and util.optimization_barrier "
     "only: re-export at '--compile-to=input'; see docs/guides/FromJAX.md"},
    {"iree_linalg_ext tm_tensor", "mp translates scatter, scan, sort, topk, arg_compare, fft, "
                                  "quantize_affine and dequantize_affine only: re-export with "
                                  "this operation decomposed (attention: run_decompositions)"},
    {"iree_codegen iree_encoding iree_gpu iree_tensor_ext iree_input",
     "re-export at '--compile-to=input', before IREE's own code generation"},
    {"std",
     "a dialect of MLIR 14 and older: ops are in arith, math, func, cf, tensor and memref now"},
};

static constexpr StringRef kFromONNX =
    "convert to linalg with 'torch-mlir-opt --torch-onnx-to-torch-backend-pipeline "
    "--torch-backend-to-linalg-on-tensors-backend-pipeline FILE -o OUT.mlir' (PyPI: torch-mlir); "
    "see "
    "docs/guides/FromONNX.md";

static constexpr StringRef kLeftByTFLiteConverter =
    "tosa-converter-for-tflite has no TOSA for it: write the model without it (loops of layers: "
    "'unroll=True'), or "
    "export the TensorFlow function as StableHLO with 'tf.function(f, jit_compile=True)"
    ".experimental_get_compiler_ir(*args)(stage=\"stablehlo\")'; see docs/guides/FromTFLite.md and "
    "docs/guides/FromJAX.md";

static constexpr StringRef kCustomOp =
    "a custom op, such as the post-processing of detection models, is code that only its runtime "
    "has: cut the model before "
    "it (export boxes and scores), or export the TensorFlow function as StableHLO; see "
    "docs/guides/FromTFLite.md";

static const Advice *findAdvice(StringRef dialect) {
  for (const Advice &advice : kAdvice) {
    SmallVector<StringRef> dialects;
    advice.dialects.split(dialects, ' ');
    if (is_contained(dialects, dialect))
      return &advice;
  }
  return nullptr;
}

void Foreign::visit(size_t i) {
  StringRef name = source.text(i);
  bool isType = source.kind(i) == Tok::Type;
  if (isType || source.kind(i) == Tok::String)
    name = name.drop_front().rtrim('"');
  auto [dialect, rest] = name.split('.');
  if (rest.empty())
    return;
  const Advice *advice = findAdvice(dialect);
  if (!advice || (!isType && !source.isOperation(i)))
    return;
  // A second sentence would be of what the first is about: an op, or the end of its body.
  const bool endsBody = rest == "yield" || name == "stablehlo.return" || name == "mhlo.return";
  if (!isType && (refused.contains(name) || endsBody))
    return;
  auto [entry, isNew] = seen.insert({advice->dialects, {i, 0, ""}});
  ++entry->second.count;
  bool isOnnx = name == "torch.operator" && source.text(i + 1).starts_with("\"onnx.");
  bool isLeftOver =
      advice->dialects.starts_with("tf") && source.getBuffer().getBuffer().contains("tosa.");
  if (isNew || isOnnx)
    entry->second.advice = (name == "tfl.custom" ? kCustomOp
                            : isOnnx             ? kFromONNX
                            : isLeftOver         ? kLeftByTFLiteConverter
                                                 : advice->text)
                               .str();
}

void Foreign::report() {
  for (auto &[dialects, entry] : seen) {
    std::string others;
    if (entry.count > 1)
      others = " (and " + std::to_string(entry.count - 1) + " more like it)";
    source.error(entry.first, "'" + source.text(entry.first).trim('"') + "'" + others +
                                  " cannot be read: " + nameFile(entry.advice, source.getBuffer()));
  }
}
