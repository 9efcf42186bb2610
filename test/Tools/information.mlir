// Flags that need no input, and help without LLVM's code generator options.
// RUN: mp-opt --mp-show-targets < /dev/null | FileCheck --check-prefix=TARGETS %s
// RUN: env MP_CUDA_DRIVER=%t.missing.so mp-opt --mp-show-targets < /dev/null | FileCheck --check-prefix=NODEVICE %s
// RUN: env MP_CUDA_DRIVER=%mp_build/lib/libMPEmulatedDriver.so MP_EMULATED_CHIP=sm_90 mp-opt --mp-show-targets < /dev/null | FileCheck --check-prefix=DEVICE %s
// RUN: mp-opt --help | FileCheck --check-prefix=HELP %s
// RUN: mp-opt --show-dialects < /dev/null | FileCheck --check-prefix=DIALECTS %s
// RUN: mp-opt --version | FileCheck --check-prefix=VERSION %s
// RUN: not mp-opt --mp-show-target 2>&1 | FileCheck --check-prefix=NEAREST %s
// TARGETS: sm_80
// NODEVICE: Device here: none (no driver: {{.*}}missing.so
// DEVICE: Device here: PTX emulator, compute capability 9.0 (target sm_90a), 64.0 GiB, 1 multiprocessors at 0 MHz, driver for CUDA 13.0
// HELP-NOT: --x86-
// HELP-NOT: aarch64-
// HELP: --mp-show-targets
// DIALECTS: ,mp,
// VERSION: mp {{[0-9]+\.[0-9]+}}
// NEAREST: unknown option '--mp-show-target'; did you mean '--mp-show-targets'?
