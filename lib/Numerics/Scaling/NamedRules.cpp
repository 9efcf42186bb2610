// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds the table of scale rules, each with the implementation it follows.

#include "mp/Numerics/Scaling/NamedRules.h"

using namespace mpcore::numerics;

namespace {
using Form = ScaleForm;
using Pow2 = PowerOfTwo;
using Zero = OnZero;
using Bad = OnNonFinite;
} // namespace

static constexpr NamedRule kRules[] = {
    {"te-delayed",
     "Transformer Engine, DelayedScaling",
     {.onZero = Zero::Keep, .onNonFinite = Bad::Keep, .limit = Format::F32},
     Format::F32},
    {"te-current", "Transformer Engine, Float8CurrentScaling", {.limit = Format::F32}, Format::F32},
    {"te-current-pow2",
     "Transformer Engine, Float8CurrentScaling with powers of two",
     {.pow2 = Pow2::Down, .limit = Format::F32},
     Format::F32},
    {"te-block",
     "Transformer Engine, Float8BlockScaling of bf16 data",
     {.pow2 = Pow2::Down, .limit = Format::BF16},
     Format::F32},
    {"te-block-f32",
     "Transformer Engine, Float8BlockScaling of bf16 data with f32 scales",
     {.limit = Format::BF16},
     Format::F32},
    {"te-mxfp8",
     "Transformer Engine, MXFP8BlockScaling",
     {.form = Form::Reciprocal,
      .pow2 = Pow2::Up,
      .onZero = Zero::Formula,
      .onNonFinite = Bad::Saturate},
     Format::F8E8M0FNU},
    {"mx-floor",
     "OCP Microscaling, and torchao FLOOR; for E4M3",
     {.form = Form::Reciprocal,
      .pow2 = Pow2::Down,
      .onZero = Zero::Formula,
      .onNonFinite = Bad::Propagate,
      .largest = 256},
     Format::F8E8M0FNU},
    {"mx-floor-e2m1",
     "OCP Microscaling, and torchao FLOOR; for E2M1",
     {.form = Form::Reciprocal,
      .pow2 = Pow2::Down,
      .onZero = Zero::Formula,
      .onNonFinite = Bad::Propagate,
      .largest = 4},
     Format::F8E8M0FNU},
    {"mx-ceil",
     "torchao CEIL; for E4M3",
     {.form = Form::Reciprocal,
      .pow2 = Pow2::Up,
      .onZero = Zero::Formula,
      .onNonFinite = Bad::Propagate,
      .largest = 256},
     Format::F8E8M0FNU},
    {"mx-even",
     "torchao EVEN; for E4M3",
     {.form = Form::Reciprocal,
      .pow2 = Pow2::Even,
      .onZero = Zero::Formula,
      .onNonFinite = Bad::Propagate,
      .largest = 256},
     Format::F8E8M0FNU},
    {"te-nvfp4-tensor",
     "Transformer Engine, NVFP4BlockScaling, scale of the tensor",
     {.onNonFinite = Bad::Propagate, .largest = 448 * 6, .limit = Format::F32},
     Format::F32},
    {"te-nvfp4-block",
     "Transformer Engine, NVFP4BlockScaling, scale of a block",
     {.form = Form::Reciprocal,
      .onZero = Zero::Formula,
      .onNonFinite = Bad::Saturate,
      .limit = Format::F32},
     Format::F8E4M3FN},
    {"torchao",
     "torchao, tensorwise",
     {.onZero = Zero::Formula, .onNonFinite = Bad::Propagate, .wide = true, .floor = 1e-12},
     Format::F32},
    {"torchao-pow2",
     "torchao, rowwise",
     {.pow2 = Pow2::Down,
      .onZero = Zero::Formula,
      .onNonFinite = Bad::Propagate,
      .wide = true,
      .floor = 1e-12},
     Format::F32},
    {"flax", "Flax, fp8_ops", {.onZero = Zero::Keep, .onNonFinite = Bad::Keep}, Format::F32},
    {"deepgemm",
     "DeepGEMM with f32 scales",
     {.form = Form::Decode, .onZero = Zero::Formula, .onNonFinite = Bad::Propagate, .floor = 1e-4},
     Format::F32},
    {"deepgemm-e8m0",
     "DeepGEMM with E8M0 scales",
     {.form = Form::Decode,
      .pow2 = Pow2::Up,
      .onZero = Zero::Formula,
      .onNonFinite = Bad::Propagate,
      .floor = 1e-4},
     Format::F8E8M0FNU},
    {"te-moment",
     "Transformer Engine, FusedAdam with scaled state",
     {.form = Form::Decode, .onNonFinite = Bad::Propagate, .limit = Format::F32},
     Format::F32},
    {"te-moment-f16",
     "Transformer Engine, FusedAdam with scaled state, for f16",
     {.form = Form::Decode,
      .onNonFinite = Bad::Propagate,
      .largest = 65504.0 / 2,
      .limit = Format::F32},
     Format::F32},
    {"f16-pow2",
     "f16 with a power of two, exact short of underflow; what is infinite spoils everything",
     {.pow2 = Pow2::Down, .onNonFinite = Bad::Propagate, .largest = 32768, .limit = Format::F32},
     Format::F32},
    {"int", "TensorRT Model Optimizer, symmetric integers", {.limit = Format::F32}, Format::F32},
};

llvm::ArrayRef<NamedRule> mpcore::numerics::namedScaleRules() { return kRules; }

const NamedRule *mpcore::numerics::findScaleRule(llvm::StringRef name) {
  for (const NamedRule &rule : kRules)
    if (rule.name == name)
      return &rule;
  return nullptr;
}
