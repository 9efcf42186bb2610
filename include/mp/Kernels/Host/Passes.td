// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host side of a module of kernels: memory, launches, and what other programs call.

#ifndef MP_KERNELS_HOST_PASSES
#define MP_KERNELS_HOST_PASSES

include "mlir/Pass/PassBase.td"

def PlanBuffers : Pass<"mp-plan-buffers", "::mlir::func::FuncOp"> {
  let summary = "Give buffers of static size places in one allocation, free the others after "
                "their last use (exact)";
  let description = [{
    Needs: host code on buffers. Gives: one allocation for all buffers of static
    size that stay inside the function; those whose lifetimes do not meet share
    memory. Other buffers that stay inside are freed after their last use; one
    that leaves its function, its loop or its block is left alone, and the runtime
    frees it when the call ends. `mpk.buffers` says how many bytes the plan takes
    and how many are live at once at most, which no plan can undercut.

    Example (`--mp-plan-buffers`): two of 1024 bytes, live one after the other.
    ```mlir
    module attributes {gpu.container_module} {
      gpu.module @mp_kernels {
        gpu.func @k(%x: memref<256xf32>, %y: memref<256xf32>) kernel {
          gpu.return
        }
      }
      func.func @f(%x: memref<256xf32>, %y: memref<256xf32>) {
        %c1 = arith.constant 1 : index
        %a = memref.alloc() : memref<256xf32>
        gpu.launch_func @mp_kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<256xf32>, %a : memref<256xf32>)
        gpu.launch_func @mp_kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<256xf32>, %y : memref<256xf32>)
        %b = memref.alloc() : memref<256xf32>
        gpu.launch_func @mp_kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<256xf32>, %b : memref<256xf32>)
        gpu.launch_func @mp_kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%b : memref<256xf32>, %y : memref<256xf32>)
        return
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::arith::ArithDialect"];
}

def CheckViews : Pass<"mp-check-views", "::mlir::func::FuncOp"> {
  let summary = "Check views on the host whose place or sizes only the run knows (exact)";
  let description = [{
    Needs: host code on buffers. A `memref.subview`, `memref.cast` or `memref.expand_shape`
    with an offset, size or stride that is no constant gets a `cf.assert` that it fits
    its buffer, where a kernel would otherwise write what belongs to others. Views that a
    kernel takes by itself, inside somebody's loops, are not checked.

    Example (`--mp-check-views`):
    ```mlir
    func.func @row(%x: memref<4x8xf32>, %i: index) -> memref<8xf32, strided<[1], offset: ?>> {
      %0 = memref.subview %x[%i, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<8xf32, strided<[1], offset: ?>>
      return %0 : memref<8xf32, strided<[1], offset: ?>>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::memref::MemRefDialect"];
}

def LowerLaunches : Pass<"mp-lower-launches", "::mlir::ModuleOp"> {
  let summary = "Turn launches, read-backs and checks into calls of libMPRuntime (exact)";
  let description = [{
    Needs: host code on buffers beside a `gpu.binary` (`mp-to-nvvm`). Gives: no
    `gpu` op; the binary's image, a record for it and one for each kernel, which
    caches what the driver returned, are globals. Each launch is
    `mp_rt_device_launch`, each read of a marked value `mp_rt_device_read`, each
    `gpu.memset` of zeros `mp_rt_device_clear`, each `cf.assert` a call of
    `mp_rt_check_failed` where it fails. Host code that reads vectors, or fills
    with anything but zeros, is an error.

    Example (`--mp-to-nvvm --mp-lower-launches`):
    ```mlir
    func.func @double(%x: tensor<300xf32>) -> tensor<300xf32> {
      %0 = arith.addf %x, %x : tensor<300xf32>
      return %0 : tensor<300xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def DropSigns : Pass<"mp-drop-signs", "::mlir::ModuleOp"> {
  let summary = "Make integers signless, whose ops say the sign themselves (exact)";
  let description = [{
    Needs: no op that reads a sign off a type (TOSA lowered). Gives: `ui8` to `ui64` and
    `si8` to `si64` are `i8` to `i64` everywhere, constants too, with the same bits: what
    is left moves them, and `arith` says itself whether it divides, compares or widens
    with a sign. Arguments and results of functions that callers see as unsigned carry
    `mpk.unsigned`, by which `mp-run`, C headers and bindings keep their types.

    Example (`--mp-drop-signs`):
    ```mlir
    func.func @f(%x: tensor<2xui8>) -> (tensor<2xui8>, tensor<2xui8>) {
      %0 = arith.constant dense<[1, 255]> : tensor<2xui8>
      return %x, %0 : tensor<2xui8>, tensor<2xui8>
    }
    ```
    becomes
    ```mlir
    func.func @f(%arg0: tensor<2xi8> {mpk.unsigned}) -> (tensor<2xi8> {mpk.unsigned}, tensor<2xi8> {mpk.unsigned}) {
      %cst = arith.constant dense<[1, -1]> : tensor<2xi8>
      return %arg0, %cst : tensor<2xi8>, tensor<2xi8>
    }
    ```
  }];
}

def KeepTypes : Pass<"mp-keep-types", "::mlir::ModuleOp"> {
  let summary = "Note the types of public functions that run on the host, for callers (exact)";
  let description = [{
    Needs: functions on buffers (`mp-to-cpu` runs this then). Gives: `mpk.cpu_type`
    on each public one, by which `mp-link-runtime` makes it callable when it is in
    the LLVM dialect.

    Example (`--mp-keep-types`):
    ```mlir
    func.func @first(%x: memref<4xf32>) -> f32 {
      %c0 = arith.constant 0 : index
      %0 = memref.load %x[%c0] : memref<4xf32>
      return %0 : f32
    }
    ```
  }];
}

def LinkRuntime : Pass<"mp-link-runtime", "::mlir::ModuleOp"> {
  let summary = "Place memory of lowered host code on the device and make its public functions "
                "callable (exact)";
  let description = [{
    Needs: host code in the LLVM dialect (`mp-host-to-llvm` runs this last). Gives:
    allocation and release are the device's; constants are uploaded once, on first
    use; each public function @F has a record `mp_function_F` (`mp_rt_function` in
    mp/Runtime/Device.h) by which `mp_rt_call` runs it on arrays of the host. Of a
    module that `mp-to-cpu` lowered, memory and constants stay on the host, and
    `mp_rt_call_host` runs its functions.

    Example (`--mp-link-runtime`): nothing to do without device memory.
    ```mlir
    llvm.func @f() {
      llvm.return
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def EmitObject : Pass<"mp-emit-object", "::mlir::ModuleOp"> {
  let summary = "Compile host code to an object file with its kernels inside, and write a C "
                "header for it";
  let description = [{
    Needs: `mp-host-to-llvm`, or `mp-to-cpu` and it. Gives: DIR/NAME.o for the
    machine this runs on, with the image of the kernels as data, and DIR/NAME.h
    with one function for each public one: NAME_F takes arrays of the host and
    gives arrays of the host. A program links the object and libMPRuntime; the
    driver is loaded when the first function is called. The module stays as it is.

    Example (`--mp-to-nvvm --mp-host-to-llvm`) of what `--mp-emit-object="dir=DIR name=model"`
    makes `model_double` of:
    ```mlir
    func.func @double(%x: tensor<300xf32>) -> tensor<300xf32> {
      %0 = arith.addf %x, %x : tensor<300xf32>
      return %0 : tensor<300xf32>
    }
    ```
  }];
  let options = [
    Option<"dir", "dir", "std::string", "\".\"", "Folder for the files; created if missing">,
    Option<"name", "name", "std::string", "\"model\"",
           "Name of the files and prefix of the functions: a C identifier">
  ];
}

#endif // MP_KERNELS_HOST_PASSES
