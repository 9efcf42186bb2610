// REQUIRES: ptxas
// RUN: rm -rf %t && mp-opt %s --mp-to-nvvm="target=sm_75 emit=cubin dir=%t/75" -o /dev/null && ls %t/75 | FileCheck %s
// RUN: mp-opt %s --mp-to-nvvm="target=sm_80 dispatches=false emit=cubin dir=%t/80" --remarks-filter=mp-emit-kernels -o /dev/null 2>%t.remarks
// RUN: FileCheck %s --check-prefix=GATES < %t.remarks
// RUN: %python %mp_src/tools/dev/kernels/cubin-opcodes.py %t/80/mp_kernels.cubin | FileCheck %s --check-prefix=OPCODES
// RUN: not %python %mp_src/tools/dev/kernels/cubin-opcodes.py %s 2>&1 | FileCheck %s --check-prefix=NOCUBIN
// RUN: mp-opt %s --mp-to-nvvm="target=sm_89 emit=cubin dir=%t/89" -o /dev/null
// RUN: mp-opt %s --mp-to-nvvm="target=sm_90a emit=cubin dir=%t/90" -o /dev/null
// RUN: mp-opt %s --mp-to-nvvm="target=sm_120 emit=cubin dir=%t/120" -o /dev/null
// Without ptxas the message says what to do, and PTX still works.
// RUN: env PATH=/nowhere CUDA_HOME= CUDA_ROOT= CUDA_PATH= %mp_build/bin/mp-opt %s --mp-to-nvvm="target=sm_80" -o /dev/null
// RUN: not env PATH=/nowhere CUDA_HOME= CUDA_ROOT= CUDA_PATH= %mp_build/bin/mp-opt %s --mp-to-nvvm="target=sm_80 emit=cubin" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE

// Every run above fails if a kernel spills registers. ptxas has nothing to complain of; the tiles
// take what 32 accumulators, two sets of fragments and the addresses need, and no more.
// GATES-NOT: warning
// GATES: kernel 'mma_tf32_64x64_2' takes {{(9[0-9]|10[0-9])}} registers a thread
// GATES-NEXT: kernel 'mma_bf16_64x64_1' takes {{(9[0-9]|10[0-9])}} registers a thread
// GATES-NEXT: kernel 'mma_f16_64x64_0' takes {{(9[0-9]|10[0-9])}} registers a thread and {{[0-9]+}} bytes of shared memory
// GATES-NOT: warning

// Local memory, which no kernel uses, would be LDL and STL.
// OPCODES-NOT: {{LDL|STL}}
// OPCODES: mma_tf32_64x64_2: BAR 2, HMMA 32, LDGSTS 40, LDSM
// OPCODES: mma_bf16_64x64_1: BAR 2, HMMA 32, LDGSTS 40, LDSM
// OPCODES: mma_f16_64x64_0: BAR 2, HMMA 32, LDGSTS 40, LDSM
// NOCUBIN: expected a cubin, found a file that begins with
// CHECK: mp_kernels.cubin
// NONE: error: 'ptxas' was not found in PATH, CUDA_ROOT, CUDA_HOME or CUDA_PATH: install the CUDA toolkit, or use emit=ptx, which needs none
// RUN: not mp-opt %s --mp-to-nvvm="target=sm_70 emit=cubin" -o /dev/null 2>&1 | FileCheck %s --check-prefix=VOLTA
// VOLTA: error: ptxas of CUDA 13 no longer assembles for sm_70: use emit=ptx, which the driver compiles

#a = affine_map<(m, n, k) -> (m, k)>
#bt = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

func.func @formats(%a: tensor<1024x512xf16>, %b: tensor<512x1024xf16>, %c: tensor<1024x1024xf32>,
                   %d: tensor<1024x512xbf16>, %e: tensor<512x1024xbf16>,
                   %g: tensor<1024x512xf32>, %h: tensor<512x1024xf32>) -> (tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>) {
  %0 = linalg.matmul ins(%a, %b : tensor<1024x512xf16>, tensor<512x1024xf16>) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %1 = linalg.matmul ins(%d, %e : tensor<1024x512xbf16>, tensor<512x1024xbf16>) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %rg = mp.round tf32 %g : tensor<1024x512xf32>
  %rh = mp.round tf32 %h : tensor<512x1024xf32>
  %2 = linalg.matmul ins(%rg, %rh : tensor<1024x512xf32>, tensor<512x1024xf32>) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %0, %1, %2 : tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>
}

func.func @ragged_transposed(%a: tensor<37x45xf16>, %b: tensor<29x45xf16>, %c: tensor<37x29xf32>) -> tensor<37x29xf32> {
  %0 = linalg.generic {indexing_maps = [#a, #bt, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<37x45xf16>, tensor<29x45xf16>) outs(%c : tensor<37x29xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %wx = arith.extf %x : f16 to f32
    %wy = arith.extf %y : f16 to f32
    %p = arith.mulf %wx, %wy : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<37x29xf32>
  return %0 : tensor<37x29xf32>
}

func.func @dynamic(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func @all_math(%x: tensor<64xf32>, %h: tensor<64xbf16>, %i: tensor<64xi32>) -> (tensor<64xf32>, tensor<64xbf16>, tensor<64xi32>) {
  %0 = math.exp %x : tensor<64xf32>
  %1 = math.tanh %0 : tensor<64xf32>
  %2 = math.erf %1 : tensor<64xf32>
  %3 = math.sin %2 : tensor<64xf32>
  %4 = math.powf %3, %x : tensor<64xf32>
  %5 = math.floor %4 : tensor<64xf32>
  %6 = math.round %5 : tensor<64xf32>
  %7 = math.atan2 %6, %x : tensor<64xf32>
  %8 = math.sqrt %7 : tensor<64xf32>
  %9 = math.acosh %8 : tensor<64xf32>
  %10 = arith.remf %9, %x : tensor<64xf32>
  %11 = math.tan %10 : tensor<64xf32>
  %12 = math.erfc %11 : tensor<64xf32>
  %13 = math.trunc %12 : tensor<64xf32>
  %14 = arith.maximumf %13, %x : tensor<64xf32>
  %15 = math.exp %h : tensor<64xbf16>
  %16 = math.rsqrt %15 : tensor<64xbf16>
  %17 = math.ctlz %i : tensor<64xi32>
  %18 = math.ctpop %17 : tensor<64xi32>
  %19 = math.absi %18 : tensor<64xi32>
  %20 = math.ipowi %19, %i : tensor<64xi32>
  return %14, %16, %20 : tensor<64xf32>, tensor<64xbf16>, tensor<64xi32>
}
