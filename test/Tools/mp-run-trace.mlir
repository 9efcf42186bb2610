// The launches of a run, in time, as Perfetto reads them: without --estimate as long as the emulator took, with it as
// modelled, one behind the other; the sum is what the table says.
// RUN: mp-run %s --device=emulator --trace=%t.json > /dev/null
// RUN: FileCheck %s --input-file=%t.json
// RUN: mp-run %s --device=emulator --estimate=H100 --trace=%t.model.json --json=%t.report.json > /dev/null
// RUN: FileCheck %s --check-prefix=MODEL --input-file=%t.model.json
// RUN: %python -c "import json, sys; t = json.load(open(sys.argv[1]))['traceEvents']; x = [e for e in t if e['ph'] == 'X']; m = json.load(open(sys.argv[2]))['estimate']; assert len(x) == m['launches'] > 1; assert abs(sum(e['dur'] for e in x) - m['modelled_microseconds']) < 1e-9; assert all(abs(a['ts'] + a['dur'] - b['ts']) < 1e-9 for a, b in zip(x, x[1:]))" %t.model.json %t.report.json
// RUN: not mp-run %s --trace=%t.json 2>&1 | FileCheck %s --check-prefix=CPU

// CHECK: "name": "emulator, seconds of the machine it ran on"
// CHECK: "warp instructions": {{[1-9]}}
// CHECK: "ph": "X"
// MODEL: "name": "H100 SXM, modelled, never measured"
// MODEL: "bound":
// CPU: --trace={{.*}} is of launches of kernels: expected --device=emulator
func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %i: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%i : tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%i : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}
