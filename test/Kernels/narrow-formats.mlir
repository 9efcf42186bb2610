// fp8 in kernels is integer arithmetic on every target; bf16 keeps its conversion instruction.
// RUN: rm -rf %t && mp-opt %s --mp-to-nvvm="target=sm_80 dir=%t dispatches=false" -o /dev/null && FileCheck %s < %t/mp_kernels.ptx
// RUN: rm -rf %t && mp-opt %s --mp-to-nvvm="target=sm_80 dir=%t dispatches=true" -o /dev/null && FileCheck %s --check-prefix=DISPATCH < %t/mp_kernels.ptx

// CHECK: .visible .entry fp8_0
// CHECK-NOT: cvt.rn.satfinite
// CHECK: st.global.b8
// CHECK: .visible .entry bf16_0
// CHECK: cvt.rn.bf16.f32
// DISPATCH: .visible .entry map_0
// DISPATCH-NOT: cvt.rn.satfinite
// DISPATCH: st.global.b32
// DISPATCH: .visible .entry map_1
// DISPATCH: cvt.rn.bf16x2.f32
func.func @fp8(%x: tensor<64xf32>) -> tensor<64xf8E4M3FN> {
  %0 = mp.cast saturate %x : tensor<64xf32> to tensor<64xf8E4M3FN>
  return %0 : tensor<64xf8E4M3FN>
}

func.func @bf16(%x: tensor<64xf32>) -> tensor<64xbf16> {
  %0 = mp.cast ieee %x : tensor<64xf32> to tensor<64xbf16>
  return %0 : tensor<64xbf16>
}
