// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of older releases of MLIR whose syntax is still the same.

#include "Rules.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mlir::mp::import;

/// Ops of the std dialect (MLIR 14 and older), written without its name inside functions.
static StringRef standardOp(StringRef name) {
  return StringSwitch<StringRef>(name)
      .Cases({"addf", "subf", "mulf", "divf", "remf", "negf", "cmpf"}, name)
      .Cases({"addi", "subi", "muli", "cmpi", "select", "index_cast", "bitcast"}, name)
      .Cases({"sitofp", "uitofp", "fptosi", "fptoui", "trunci", "divsi", "divui", "remsi", "remui"},
             name)
      .Cases({"extf", "truncf", "extsi", "extui", "andi", "ori", "xori", "shli", "shrsi", "shrui"},
             name)
      .Cases({"maxsi", "maxui", "minsi", "minui", "ceildivsi", "floordivsi"}, name)
      .Case("constant", "constant")
      .Case("fpext", "extf")
      .Case("fptrunc", "truncf")
      .Case("sexti", "extsi")
      .Case("zexti", "extui")
      .Case("divi_signed", "divsi")
      .Case("divi_unsigned", "divui")
      .Case("remi_signed", "remsi")
      .Case("remi_unsigned", "remui")
      .Case("and", "andi")
      .Case("or", "ori")
      .Case("xor", "xori")
      .Case("shift_left", "shli")
      .Case("shift_right_signed", "shrsi")
      .Case("shift_right_unsigned", "shrui")
      .Case("maxf", "maximumf")
      .Case("minf", "minimumf")
      .Default("");
}

static StringRef renamedOp(StringRef name) {
  return StringSwitch<StringRef>(name)
      .Case("arith.maxf", "arith.maximumf")
      .Case("arith.minf", "arith.minimumf")
      .Case("math.abs", "math.absf")
      .Cases({"absf", "std.absf"}, "math.absf")
      .Cases({"ceilf", "std.ceilf"}, "math.ceil")
      .Cases({"floorf", "std.floorf"}, "math.floor")
      .Cases({"copysign", "std.copysign"}, "math.copysign")
      .Cases({"exp", "std.exp"}, "math.exp")
      .Cases({"exp2", "std.exp2"}, "math.exp2")
      .Cases({"log", "std.log"}, "math.log")
      .Cases({"sqrt", "std.sqrt"}, "math.sqrt")
      .Cases({"rsqrt", "std.rsqrt"}, "math.rsqrt")
      .Cases({"tanh", "std.tanh"}, "math.tanh")
      .Cases({"sin", "std.sin"}, "math.sin")
      .Cases({"cos", "std.cos"}, "math.cos")
      .Cases({"splat", "std.splat"}, "tensor.splat")
      .Cases({"subtensor", "std.subtensor"}, "tensor.extract_slice")
      .Cases({"subtensor_insert", "std.subtensor_insert"}, "tensor.insert_slice")
      .Cases({"tensor_cast", "std.tensor_cast"}, "tensor.cast")
      .Cases({"extract_element", "std.extract_element"}, "tensor.extract")
      .Cases({"tensor_from_elements", "std.tensor_from_elements"}, "tensor.from_elements")
      .Case("std.return", "func.return")
      .Case("std.call", "func.call")
      .Case("std.br", "cf.br")
      .Case("std.cond_br", "cf.cond_br")
      .Case("std.assert", "cf.assert")
      .Case("builtin.func", "func.func")
      .Case("tensor.pack", "linalg.pack")
      .Case("tensor.unpack", "linalg.unpack")
      .Case("linalg.tensor_collapse_shape", "tensor.collapse_shape")
      .Case("linalg.conv_2d_input_nhwc_filter_hwcf", "linalg.conv_2d_nhwc_hwcf")
      .Case("linalg.conv_2d_input_nchw_filter_fchw", "linalg.conv_2d_nchw_fchw")
      .Case("linalg.depthwise_conv_2d_input_nhwc_filter_hwc", "linalg.depthwise_conv_2d_nhwc_hwc")
      .Default("");
}

bool mlir::mp::import::renameOldOp(Source &source, size_t name) {
  StringRef text = source.text(name);
  auto become = [&](const Twine &now) {
    source.replace({name, name + 1}, now);
    return true;
  };
  bool hasResults = source.statementBegin(name) != name;
  bool dotted = text.contains('.');
  if (!hasResults && !dotted) {
    // Without results and without a dialect only what is unmistakable.
    size_t next = name + 1;
    bool visibility =
        source.is(next, "private") || source.is(next, "public") || source.is(next, "nested");
    if (text == "func" && source.kind(next + visibility) == Tok::Symbol && source.isOperation(name))
      return become("func.func");
    if (text == "br" && source.kind(next) == Tok::Block)
      return become("cf.br");
    if (text == "cond_br" && source.isValue(next))
      return become("cf.cond_br");
    if (text == "assert" && source.isValue(next))
      return become("cf.assert");
    return false;
  }
  if (!source.isOperation(name))
    return false;
  StringRef standard = text;
  if (!dotted || standard.consume_front("std.")) {
    if (standard == "constant" && source.kind(name + 1) == Tok::Symbol)
      return become("func.constant");
    if (standard == "dim") {
      size_t type = source.find(name, name + 16, ":") + 1;
      return become(source.is(type, "tensor") ? "tensor.dim" : "memref.dim");
    }
    if (StringRef arith = standardOp(standard); !arith.empty())
      return become("arith." + arith);
  }
  if (StringRef now = renamedOp(text); !now.empty())
    return become(now);
  return false;
}
