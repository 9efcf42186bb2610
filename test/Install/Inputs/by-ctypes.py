# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Converts a module through the C interface of an installed library, with nothing of mp but that: by-ctypes.py LIBRARY."""
import ctypes
import sys

TEXT = b"""func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %c: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%c : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
"""


class Text(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]


def check(status):
    if status:
        sys.exit(mp.mp_last_error().decode())


mp = ctypes.CDLL(sys.argv[1])
mp.mp_last_error.restype = ctypes.c_char_p
context, module, report, text = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), Text()
check(mp.mp_context_create(ctypes.byref(context)))
check(mp.mp_module_parse(context, TEXT, ctypes.c_size_t(len(TEXT)), b"dense.mlir", 0, ctypes.byref(module)))
check(mp.mp_module_convert(module, b"mp-mixed-precision", b'{"format": "bf16"}', ctypes.byref(report)))
check(mp.mp_report_print(report, 0, ctypes.byref(text)))
print(text.data.decode())
