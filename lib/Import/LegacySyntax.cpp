// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of older releases of MLIR whose syntax changed, or that are gone.

#include "Forms/LoopText.h"
#include "Rules.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mlir::mp::import;

/// linalg.init_tensor [4, %n] : T  ==>  tensor.empty(%n) : T
static bool translateInitTensor(Source &source, size_t name) {
  size_t close = source.closing(name + 1);
  Values dynamic;
  for (size_t i = name + 1; i < close; ++i)
    if (source.isValue(i))
      dynamic.push_back(source.text(i).str());
  source.replace({name, close + 1}, "tensor.empty(" + join(dynamic, ", ") + ")");
  return true;
}

/// linalg.fill(%v, %t) : f32, T -> T  ==>  linalg.fill ins(%v : f32) outs(%t : T) -> T
/// (MLIR 12 had the tensor first)
static bool translateFill(Source &source, size_t name) {
  size_t close = source.closing(name + 1);
  SmallVector<Span> values = source.split({name + 2, close});
  size_t type = close + 2, second = source.typeEnd(type) + 1;
  if (values.size() != 2 || !source.is(close + 1, ":") || !source.is(second - 1, ","))
    return false;
  size_t end = source.typeEnd(second);
  SmallVector<Span> types = {{type, second - 1}, {second, end}};
  size_t tensor = source.is(type, "tensor") || source.is(type, "memref") ? 0 : 1;
  source.replace({name, end}, "linalg.fill ins(" + source.text(values[1 - tensor]) + " : " +
                                  source.text(types[1 - tensor]) + ") outs(" +
                                  source.text(values[tensor]) + " : " + source.text(types[tensor]) +
                                  ")");
  return true;
}

/// tensor.expand_shape %t [[0, 1]] : T into U gets its output_shape. A dynamic size is what the
/// others of its group leave of the source's.
static bool addOutputShape(Source &source, size_t name) {
  if (source.is(name, "linalg.tensor_expand_shape"))
    source.replace({name, name + 1}, "tensor.expand_shape");
  size_t value = name + 1, open = value + 1;
  if (!source.isValue(value) || !source.is(open, "["))
    return false;
  size_t close = source.closing(open), from = close + 2, into = source.typeEnd(from);
  if (!source.is(close + 1, ":") || !source.is(into, "into"))
    return false;
  auto before = TensorType::parse(source.text(Span{from, into}));
  auto after = TensorType::parse(source.text(Span{into + 1, source.typeEnd(into + 1)}));
  if (!before || !after)
    return false;
  LoopText text(source);
  Values sizes(after->rank());
  for (auto [dim, group] : enumerate(source.split({open + 1, close}))) {
    int64_t known = 1, unknown = -1;
    for (Span entry : source.split({group.begin + 1, group.end - 1})) {
      size_t i;
      if (source.text(entry).getAsInteger(10, i) || i >= after->rank() || dim >= before->rank())
        return false;
      if (after->shape[i] < 0 && unknown >= 0) {
        source.error(name, "'tensor.expand_shape' has two dynamic sizes in one group; write them "
                           "as output_shape [...], which MLIR 19 and later demand");
        return true;
      }
      if (after->shape[i] < 0)
        unknown = i;
      else
        known *= after->shape[i], sizes[i] = std::to_string(after->shape[i]);
    }
    if (unknown < 0)
      continue;
    std::string size = text.size({source.text(value).str(), *before}, dim);
    if (known != 1)
      size = text.define("arith.divui " + size + ", " + text.index(known) + " : index");
    sizes[unknown] = size;
  }
  source.insertBefore(close + 1, "output_shape [" + join(sizes, ", ") + "] ");
  source.insertBefore(source.statementBegin(name), text.take());
  return true;
}

/// linalg.matmul_transpose_b  ==>  linalg.matmul indexing_maps = [...]; likewise _a and batches.
static bool translateTransposedMatmul(Source &source, size_t name, bool batch, bool a) {
  StringRef dims = batch ? "(d0, d1, d2, d3) -> (d0, " : "(d0, d1, d2) -> (";
  StringRef m = batch ? "d1" : "d0", n = batch ? "d2" : "d1", k = batch ? "d3" : "d2";
  auto map = [&](StringRef first, StringRef second) {
    return ("affine_map<" + dims + first + ", " + second + ")>").str();
  };
  std::string lhs = a ? map(k, m) : map(m, k), rhs = a ? map(k, n) : map(n, k);
  source.replace({name, name + 1}, (batch ? "linalg.batch_matmul" : "linalg.matmul") +
                                       Twine(" indexing_maps = [") + lhs + ", " + rhs + ", " +
                                       map(m, n) + "]");
  return true;
}

/// Returns what to write instead of an op that is gone.
static StringRef replacement(StringRef name) {
  return StringSwitch<StringRef>(name)
      .Case("linalg.indexed_generic", "linalg.generic, with linalg.index in its body")
      .Case("linalg.pad_tensor", "tensor.pad, with tensor.yield in its body")
      .Cases({"linalg.reshape", "linalg.tensor_reshape"},
             "tensor.expand_shape or tensor.collapse_shape")
      .Cases({"linalg.tiled_loop", "scf.foreach_thread"}, "scf.forall")
      .Cases({"linalg.elemwise_unary", "linalg.elemwise_binary"},
             "linalg.elementwise kind=#linalg.elementwise_kind<add>")
      .Case("arith.addui_carry", "arith.addui_extended")
      .Cases({"memref.tensor_load", "std.tensor_load"}, "bufferization.to_tensor")
      .Cases({"memref.buffer_cast", "bufferization.to_memref"},
             "bufferization.to_buffer %t : TENSOR to MEMREF")
      .Cases({"dynamic_tensor_from_elements", "std.dynamic_tensor_from_elements"},
             "tensor.generate")
      .Case("tosa.fully_connected", "tosa.matmul, or tosa.conv2d with a 1x1 window")
      .Default("");
}

/// TOSA before 1.0: attributes that are operands now. As leftovers on ops that never had them they
/// still parse.
static StringRef oldTosaAttribute(Source &source, size_t name) {
  StringRef op = source.text(name).trim('"');
  StringRef old =
      StringSwitch<StringRef>(op)
          .Case("tosa.reshape", "new_shape")
          .Case("tosa.clamp", "min_fp")
          .Cases({"tosa.mul", "tosa.rescale"}, "shift")
          .Cases({"tosa.conv2d", "tosa.depthwise_conv2d", "tosa.matmul"}, "quantization_info")
          .Case("tosa.const", "value")
          .Default("");
  size_t end = std::min(source.size(), name + 64);
  for (size_t i = name + 1; i < end && !old.empty() && !source.isOperation(i); ++i)
    if (source.is(i, old) && source.is(i + 1, "="))
      return StringSwitch<StringRef>(old)
          .Case("new_shape", "the shape as an operand, made by tosa.const_shape")
          .Case("min_fp", "min_val and max_val, typed as the elements")
          .Case("shift", "the shift as an operand, made by tosa.const")
          .Case("value", "values = instead of value =")
          .Default("zero points as operands, made by tosa.const");
  return "";
}

bool mlir::mp::import::translateOldForm(Source &source, size_t name) {
  StringRef text = source.text(name).trim('"');
  if (!text.contains('.') && text != "dynamic_tensor_from_elements")
    return false;
  if (text == "linalg.init_tensor" && source.is(name + 1, "["))
    return translateInitTensor(source, name);
  if (text == "linalg.fill" && source.is(name + 1, "("))
    return translateFill(source, name);
  if (text == "tensor.expand_shape" || text == "linalg.tensor_expand_shape")
    return addOutputShape(source, name);
  if (StringRef rest = text; source.is(name + 1, "ins") && rest.consume_front("linalg.")) {
    bool batch = rest.consume_front("batch_");
    if (rest == "matmul_transpose_a" || rest == "matmul_transpose_b")
      return translateTransposedMatmul(source, name, batch, rest.ends_with("a"));
  }
  if (StringRef now = replacement(text); !now.empty() && source.isOperation(name)) {
    source.error(name, "'" + text + "' is a spelling of an older MLIR; write " + now);
    return true;
  }
  if (text.starts_with("tosa.") && source.isOperation(name)) {
    if (StringRef now = oldTosaAttribute(source, name); !now.empty()) {
      source.error(name, "'" + text +
                             "' is written as before TOSA 1.0 (MLIR 20 and older); export "
                             "again with a current converter, or write " +
                             now);
      return true;
    }
  }
  return false;
}
