// The graph for Graphviz: layers are clusters, colours are formats, and a cast is said on its edge.
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 dot=%t.dot table=false" -o /dev/null
// RUN: FileCheck %s --input-file=%t.dot
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 dot=%t.2.dot table=false" -o /dev/null && cmp %t.dot %t.2.dot
// RUN: %python %S/Inputs/parse_dot.py %t.dot
// RUN: not mp-opt %s --mp-mixed-precision="dot=%t/no/such.dot table=false" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NOWHERE

// CHECK: digraph precision {
// CHECK: label="@drawn";
// CHECK: "drawn/argument0" [label="argument 0 | f32"
// CHECK: label="layer0";
// CHECK: "drawn/0" [label="linalg.matmul | bf16" fillcolor="#2f6fb7"];
// CHECK: "drawn/argument0" -> "drawn/0" [color="#d9480f" label="f32 to bf16"];
// NOWHERE: cannot write output file {{.*}}such.dot
func.func @drawn(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %i: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%i : tensor<64x64xf32>) -> tensor<64x64xf32> loc("layer0.up")
  %1 = math.tanh %0 : tensor<64x64xf32> loc("layer0.\22quoted\22")
  return %1 : tensor<64x64xf32>
}
