# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays in the memory of a device: taken from torch and DLPack where they lie, given back the same way."""
import ctypes
import math
import weakref

from . import cuda_arrays, dlpack
from .arrays import ELEMENTS, HostArray, host_array
from .errors import Error
from .library import MAX_RANK, check_runtime, library

# Numbers of element types in the runtime's interface (include/mp/Runtime/Runtime.h).
CODES = {name: code for code, name in enumerate(("f64", "f32", "tf32", "bf16", "f16", "f8E5M2", "f8E4M3", "f8E4M3FN", "f8E5M2FNUZ", "f8E4M3FNUZ"))}
CODES.update({f"{sign}i{width}": 256 + width for sign in ("", "u") for width in (8, 16, 32, 64)}, i1=257, index=320)
ON_HOST, ON_DEVICE = 0, 1
LEGACY_STREAM = 1  # the driver's name for torch's stream 0
class CTensor(ctypes.Structure):
    """mp_rt_tensor."""

    _fields_ = [("data", ctypes.c_void_p), ("element", ctypes.c_int), ("place", ctypes.c_int), ("rank", ctypes.c_int),
                ("sizes", ctypes.c_int64 * MAX_RANK)]


def tensor_of(address, element, shape, place):
    tensor = CTensor(data=address, element=CODES[element], place=place, rank=len(shape))
    tensor.sizes[:len(shape)] = shape
    return tensor


def free(tensor):
    library().mp_rt_free_tensor(ctypes.addressof(tensor), None)


class DeviceArray:
    """Dense elements in the memory of a program's device. `.numpy()` copies them back; DLPack lends them where the device is a GPU."""

    def __init__(self, tensor, element, device, owner=None):
        self.tensor, self.element, self.device, self.owner = tensor, element, device, owner
        self.shape = tuple(tensor.sizes[:tensor.rank])
        if owner is None:
            weakref.finalize(self, free, tensor).atexit = False

    def __repr__(self):
        return f"<mp.DeviceArray {'x'.join(map(str, (*self.shape, self.element)))} on {self.device}>"

    @property
    def address(self):
        return self.tensor.data or 0

    @staticmethod
    def upload(array, device):
        """A HostArray in the device's memory."""
        host, tensor = tensor_of(array.address, array.element, array.shape, ON_HOST), CTensor()
        check_runtime(library().mp_rt_copy_tensor(ctypes.addressof(host), ctypes.addressof(tensor)))
        return DeviceArray(tensor, array.element, device)

    def host(self):
        copy = CTensor()
        check_runtime(library().mp_rt_copy_tensor(ctypes.addressof(self.tensor), ctypes.addressof(copy)))
        return adopt_host(copy, self.element)

    def numpy(self):
        return self.host().numpy()

    def __dlpack_device__(self):
        return (dlpack.DEVICES[self.device], 0)

    def __dlpack__(self, stream=None, **more):
        return dlpack.lend(self.address, self.element, self.shape, self.__dlpack_device__(), self)


def adopt_host(tensor, element):
    """Takes over a tensor that the runtime made on the host."""
    shape = tuple(tensor.sizes[:tensor.rank])
    memory = (ctypes.c_char * max(1, math.prod(shape) * ELEMENTS[element][2])).from_address(tensor.data)
    weakref.finalize(memory, free, tensor).atexit = False
    return HostArray(tensor.data, element, shape, memory)


def is_torch_cuda(value):
    return type(value).__module__.startswith("torch") and getattr(value, "is_cuda", False)


def is_on_device(value):
    """Whether an argument lies on a device: a DeviceArray, a CUDA tensor of torch, or what DLPack or CUDA's array interface says does."""
    return (isinstance(value, DeviceArray) or is_torch_cuda(value) or dlpack.device_of(value) is not None
            or cuda_arrays.is_cuda_array(value))


def as_tensor(value, element, device, what):
    """(CTensor, who owns the memory) of any argument."""
    if isinstance(value, DeviceArray):
        if value.device != device:
            raise Error(f"{what} lies on '{value.device}', but the program runs on '{device}'")
        return value.tensor, value
    if not is_on_device(value):
        array = host_array(value, element, what)
        return tensor_of(array.address, array.element, array.shape, ON_HOST), array
    if is_torch_cuda(value):
        if device != "cuda":
            raise Error(f"{what} is on {value.device}, but the program runs on '{device}'; .to('cuda') moves it")
        names = {names[1]: element for element, names in ELEMENTS.items() if element != "index"}
        dense = value.detach().contiguous()
        return tensor_of(dense.data_ptr(), names[str(dense.dtype).removeprefix("torch.")], dense.shape, ON_DEVICE), dense
    lies, lender = ("cuda", cuda_arrays) if cuda_arrays.is_cuda_array(value) else (dlpack.device_of(value), dlpack)
    if lies != device:
        raise Error(f"{what} lies on '{lies}', but the program runs on '{device}'")
    address, found, shape, owner = lender.borrow(value, what)
    return tensor_of(address, found, shape, ON_DEVICE), owner


def stream_of(values):
    """The stream that torch uses now, where all that lies on a device is torch's, or the one that all other arrays name; else None, and the
    call waits for its end."""
    there = [value for value in values if not isinstance(value, DeviceArray) and is_on_device(value)]
    named = {stream for value in there if cuda_arrays.is_cuda_array(value) and (stream := cuda_arrays.stream_of(value)) is not None}
    if len(named) > 1:
        raise Error(f"arrays of the call are ready behind {len(named)} streams, expected one: synchronise them first")
    if named:
        return named.pop()
    if not there or not all(map(is_torch_cuda, there)):
        return None
    import torch
    return torch.cuda.current_stream(there[0].device).cuda_stream or LEGACY_STREAM
