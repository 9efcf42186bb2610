# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of CUDA that say where they lie by __cuda_array_interface__ (numba's, PyCUDA's) and do not speak DLPack."""
from .arrays import BY_NUMPY, ELEMENTS
from .dlpack import strides_of
from .errors import Error

KINDS = {"f": "float", "i": "int", "u": "uint", "b": "bool"}


def is_cuda_array(value):
    kind = type(value)
    return (not kind.__module__.startswith("torch") and not hasattr(kind, "__dlpack__")
            and hasattr(kind, "__cuda_array_interface__"))


def element_of(typestr, what):
    """"f32" of "<f4"."""
    kind, size = typestr[1:2], typestr[2:]
    name = "bool" if typestr[1:] == "b1" else f"{KINDS.get(kind, kind)}{8 * int(size) if size.isdecimal() else size}"
    if name not in BY_NUMPY or typestr[:1] == ">":
        raise Error(f"{what} is of type '{typestr}' by its __cuda_array_interface__, which mp does not know")
    return BY_NUMPY[name]


def borrow(value, what):
    """(address, element, shape, owner) of dense memory; it may be read as long as the owner is kept."""
    told = value.__cuda_array_interface__
    element, shape = element_of(told["typestr"], what), tuple(told["shape"])
    if told.get("mask") is not None:
        raise Error(f"{what} has a mask, expected all elements: fill it first")
    width = ELEMENTS[element][2]
    dense, strides = [width * stride for stride in strides_of(shape)], told.get("strides")
    if strides and any(size > 1 and stride != wanted for size, stride, wanted in zip(shape, strides, dense)):
        raise Error(f"{what} has strides of {list(strides)} bytes, expected {dense}: make it dense first")
    return told["data"][0] or 0, element, shape, (value, told)


def stream_of(value):
    """The stream behind which the memory is ready; None where the interface names none."""
    return value.__cuda_array_interface__.get("stream")
