// One page, nothing else: no address, no other file, and data that cannot break out of its element.
// RUN: mp-opt %s --mp-mixed-precision="format=f16 html=%t.html table=false" -o /dev/null
// RUN: not grep -E "https?://|<link|@import|url\(|src=|fetch\(|XMLHttpRequest" %t.html
// RUN: FileCheck %s --input-file=%t.html
// RUN: not mp-opt %s --mp-mixed-precision="html=/no/such/folder/r.html table=false" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NOFILE

// CHECK: <!doctype html>
// CHECK: <script type="application/json" id="data">{"assumed_dim":128,
// CHECK-SAME: "name":"\u003c/script>\u003c!--"
// CHECK-SAME: "body":"subf exp"
// CHECK: id="aboutData">{"after":"{{.*}}mp.cast ieee %arg1 {inserted}{{.*}},"against":"","before":"#map{{.*}}"changes":null,"command":"mp-mixed-precision=\"format=f16\"","model":"page.mlir","table":"mp: 3 ops: {{.*}}","version":"mp {{[0-9.]+}}
// CHECK: 'use strict';
// CHECK: </html>
// CHECK-NOT: </html>
// NOFILE: error: cannot write output file '/no/such/folder/r.html': No such file or directory [MP301]
#id = affine_map<(i,j)->(i,j)>
func.func @shown(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32> loc("</script><!--")
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %d = arith.subf %a, %b : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  } -> tensor<4x4xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
