# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The structs of DLPack (github.com/dmlc/dlpack, dlpack.h): memory of a device, lent and borrowed without a copy."""
import ctypes
import math

from .errors import Error

# (code, bits) of element types.
TYPES = {"f64": (2, 64), "f32": (2, 32), "f16": (2, 16), "bf16": (4, 16), "f8E4M3FN": (10, 8), "f8E4M3FNUZ": (11, 8), "f8E5M2": (12, 8),
         "i64": (0, 64), "i32": (0, 32), "i16": (0, 16), "i8": (0, 8), "i1": (6, 8), "ui64": (1, 64), "ui32": (1, 32),
         "ui16": (1, 16), "ui8": (1, 8), "index": (0, 64)}
ELEMENTS = {numbers: element for element, numbers in TYPES.items() if element != "index"}
#: Devices of programs; the emulator's memory is that of kDLExtDev, which frameworks refuse.
DEVICES = {"cuda": 2, "emulator": 12}
CUDA_MANAGED = 13


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class DLManagedTensor(ctypes.Structure):
    pass


Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(DLManagedTensor))
DLManagedTensor._fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", Deleter)]


class DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("tensor", DLTensor)]


#: Tensors that consumers still hold: address of the struct -> what it points to.
lent = {}


@Deleter
def _give_back(managed):
    lent.pop(ctypes.addressof(managed.contents), None)


def _python(name, result, *arguments):
    function = getattr(ctypes.pythonapi, name)
    function.restype, function.argtypes = result, arguments
    return function


# Prototypes of their own, since a destructor is given an object that must not be counted again.
_Destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_new = _python("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _Destructor)
_is_valid = _python("PyCapsule_IsValid", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
_pointer = _python("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
_is_valid_dying = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer_dying = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


@_Destructor
def _take_back(capsule):
    """Ends what no consumer took: one that does renames the capsule, and calls the deleter later."""
    if _is_valid_dying(capsule, b"dltensor"):
        lent.pop(_pointer_dying(capsule, b"dltensor"), None)


def strides_of(shape):
    return [math.prod(shape[place + 1:]) for place in range(len(shape))]


def lend(address, element, shape, device, owner):
    """A capsule over dense memory, which lives as long as a consumer holds it."""
    code, bits = TYPES[element]
    sizes = (ctypes.c_int64 * max(1, len(shape)))(*shape)
    strides = (ctypes.c_int64 * max(1, len(shape)))(*strides_of(shape))
    managed = DLManagedTensor(DLTensor(address, *device, len(shape), code, bits, 1, sizes, strides, 0), None, _give_back)
    lent[ctypes.addressof(managed)] = (managed, sizes, strides, owner)
    return _new(ctypes.addressof(managed), b"dltensor", _take_back)


def device_of(value):
    """The program's device in whose memory `value` lies; None for what does not say, or lies on the host or elsewhere."""
    if type(value).__module__.startswith(("numpy", "torch")) or not hasattr(type(value), "__dlpack_device__"):
        return None
    kind = int(value.__dlpack_device__()[0])
    return next((name for name, number in DEVICES.items() if kind == number or (name == "cuda" and kind == CUDA_MANAGED)), None)


def borrow(value, what):
    """(address, element, shape, capsule) of dense memory; it may be read as long as the capsule is kept."""
    try:
        capsule = value.__dlpack__(max_version=(1, 0))
    except TypeError:
        capsule = value.__dlpack__()
    if _is_valid(capsule, b"dltensor_versioned"):
        tensor = DLManagedTensorVersioned.from_address(_pointer(capsule, b"dltensor_versioned")).tensor
    elif _is_valid(capsule, b"dltensor"):
        tensor = DLManagedTensor.from_address(_pointer(capsule, b"dltensor")).tensor
    else:
        raise Error(f"{what}: __dlpack__ gave no unused capsule of DLPack 0 or 1")
    shape, numbers = tuple(tensor.shape[:tensor.ndim]), (tensor.code, tensor.bits)
    if numbers not in ELEMENTS or tensor.lanes != 1:
        raise Error(f"{what} is of DLPack's type {(*numbers, tensor.lanes)}, which mp does not know")
    if tensor.device_id:
        raise Error(f"{what} lies on device {tensor.device_id}, expected 0: programs run there")
    if tensor.strides and any(size > 1 and stride != dense
                              for size, stride, dense in zip(shape, tensor.strides[:tensor.ndim], strides_of(shape))):
        raise Error(f"{what} has strides {tensor.strides[:tensor.ndim]}, expected {strides_of(shape)}: make it dense first")
    return (tensor.data or 0) + tensor.byte_offset, ELEMENTS[numbers], shape, capsule
