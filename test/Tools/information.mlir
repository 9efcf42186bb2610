// Flags that need no input, and help without LLVM's code generator options.
// RUN: mp-opt --mp-show-targets < /dev/null | FileCheck --check-prefix=TARGETS %s
// RUN: env MP_CUDA_DRIVER=%t.missing.so mp-opt --mp-show-targets < /dev/null | FileCheck --check-prefix=NODEVICE %s
// RUN: env MP_CUDA_DRIVER=%mp_build/lib/libMPEmulatedDriver.so MP_EMULATED_CHIP=sm_90 mp-opt --mp-show-targets < /dev/null | FileCheck --check-prefix=DEVICE %s
// RUN: mp-opt --mp-show-schedules="matmul m=512 n=512 k=512 format=bf16 on A100" < /dev/null | FileCheck --check-prefix=SCHEDULES %s
// RUN: not mp-opt --mp-show-schedules="matmul m=512" < /dev/null 2>&1 | FileCheck --check-prefix=NOPART %s
// RUN: mp-opt --help-all | FileCheck --check-prefix=HELP %s
// RUN: mp-opt --help | FileCheck --check-prefix=SHORT %s
// RUN: mp-opt -h | %python -c "import sys; lines = sys.stdin.read().splitlines(); assert len(lines) <= 40 and max(map(len, lines)) <= 88, len(lines)"
// RUN: mp-opt --help-pass=mp-mixed-precision | FileCheck --check-prefix=PASS %s
// RUN: sh -c 'for p in train-step to-nvvm to-cpu host-to-llvm assign-precision insert-casts; do mp-opt --help-pass=mp-$p; done' | %python -c "import sys; assert len(sys.stdin.read(100000)) < 20000"
// RUN: not mp-opt --help-pass=nothing 2>&1 | FileCheck --check-prefix=NOPASS %s
// RUN: mp-opt --show-dialects < /dev/null | FileCheck --check-prefix=DIALECTS %s
// RUN: mp-opt --version | FileCheck --check-prefix=VERSION %s
// RUN: not mp-opt --mp-show-target 2>&1 | FileCheck --check-prefix=NEAREST %s
// TARGETS: sm_80
// NODEVICE: Device here: none (no driver: {{.*}}missing.so
// DEVICE: Device here: PTX emulator, compute capability 9.0 (target sm_90a), 64.0 GiB, 1 multiprocessors at 0 MHz, driver for CUDA 13.0
// SHORT: usage: mp-opt
// SHORT: mp-opt model.mlir --mp-mixed-precision="format=bf16 target=sm_90a" -o narrow.mlir
// PASS: --mp-mixed-precision
// PASS: --max-rel-error=
// NOPASS: --help-pass=nothing: no such pass or pipeline
// SCHEDULES: matmul m=512 n=512 k=512 on A100 SXM {{.*}}, modelled (peaks only)
// SCHEDULES: {{^\*  .* us launch +matmul tile=}}
// SCHEDULES: {{^\* takes at most [0-9]\.[0-9] % longer than the fastest while one constant is a fifth off$}}
// NOPART: --mp-show-schedules: expected 'PROBLEM on PART', found 'matmul m=512'
// HELP-NOT: --x86-
// HELP-NOT: aarch64-
// HELP: --mp-show-targets
// DIALECTS: ,mp,
// VERSION: mp {{[0-9]+\.[0-9]+}}
// NEAREST: unknown option '--mp-show-target'; did you mean '--mp-show-targets'?
