# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of numpy, torch, JAX and whatever speaks DLPack, as the library takes and gives them: dense, on the host."""
import ctypes
import math
import weakref

from .errors import Error
from .library import MAX_RANK, CArray, library

# MLIR's spelling: numpy's (or ml_dtypes') name, torch's, bytes.
ELEMENTS = {
    "f64": ("float64", "float64", 8), "f32": ("float32", "float32", 4), "f16": ("float16", "float16", 2),
    "bf16": ("bfloat16", "bfloat16", 2), "f8E4M3FN": ("float8_e4m3fn", "float8_e4m3fn", 1),
    "f8E5M2": ("float8_e5m2", "float8_e5m2", 1), "f8E4M3FNUZ": ("float8_e4m3fnuz", "float8_e4m3fnuz", 1),
    "f8E5M2FNUZ": ("float8_e5m2fnuz", "float8_e5m2fnuz", 1), "i64": ("int64", "int64", 8), "i32": ("int32", "int32", 4),
    "i16": ("int16", "int16", 2), "i8": ("int8", "int8", 1), "ui64": ("uint64", "uint64", 8), "ui32": ("uint32", "uint32", 4),
    "ui16": ("uint16", "uint16", 2), "ui8": ("uint8", "uint8", 1), "i1": ("bool", "bool", 1), "index": ("int64", "int64", 8),
}
BY_NUMPY = {names[0]: element for element, names in ELEMENTS.items() if element != "index"}
ON_HOST = (1, 3)  # DLPack's devices whose memory the host reads: its own, pinned or not
PLAIN = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64"}  # integers that carry patterns


def framework_of(value):
    """numpy, torch, jax or other, without importing any."""
    module = type(value).__module__.partition(".")[0]
    return {"torch": "torch", "jax": "jax", "jaxlib": "jax", "numpy": "numpy"}.get(module, "other")


def framework_for(values, otherwise):
    """What results are given as: torch or JAX where any value is theirs, else numpy; `otherwise` where no value is an array."""
    found = [framework_of(value) for value in values]
    return next((name for name in found if name in ("torch", "jax")), "numpy" if "numpy" in found else otherwise)


def with_sign(element, name):
    """Integers of the library have no sign: an element type as that of the dtype `name`, which the model gave the value."""
    signed = BY_NUMPY.get(name, element)
    return signed if signed.removeprefix("u") == element else element


class HostArray:
    """Dense elements on the host: address, MLIR's element type, shape, and who owns the memory."""

    def __init__(self, address, element, shape, owner):
        self.address, self.element, self.shape, self.owner = address, element, tuple(shape), owner

    def __deepcopy__(self, memo):
        patterns = self.patterns().copy()
        return HostArray(patterns.ctypes.data, self.element, self.shape, patterns)

    @property
    def bytes(self):
        return math.prod(self.shape) * ELEMENTS[self.element][2]

    def descriptor(self):
        array = CArray(struct_size=ctypes.sizeof(CArray), data=self.address, element=self.element.encode(), rank=len(self.shape))
        array.sizes[:len(self.shape)] = self.shape
        return array

    @staticmethod
    def adopt(result):
        """Takes over an array that the library made."""
        copy = CArray.from_buffer_copy(result)
        shape, element = copy.sizes[:copy.rank], copy.element.decode()
        memory = (ctypes.c_char * max(1, math.prod(shape) * ELEMENTS[element][2])).from_address(copy.data)
        weakref.finalize(memory, library().mp_array_free, copy).atexit = False
        return HostArray(copy.data, element, shape, memory)

    def patterns(self):
        """A numpy array of unsigned integers over the same memory."""
        import numpy as np
        plain = np.dtype(PLAIN[ELEMENTS[self.element][2]])
        if not self.bytes:
            return np.zeros(self.shape, plain)
        buffer = self.owner if isinstance(self.owner, ctypes.Array) else (ctypes.c_char * self.bytes).from_address(self.address)
        array = np.frombuffer(buffer, plain, count=math.prod(self.shape)).reshape(self.shape)
        if buffer is not self.owner:
            weakref.finalize(buffer, lambda owner: None, self.owner).atexit = False
        return array

    def numpy(self):
        """Over the same memory. Formats that numpy lacks need ml_dtypes; without it come their patterns."""
        import numpy as np
        name = ELEMENTS[self.element][0]
        try:
            return self.patterns().view(np.dtype(name))
        except TypeError:
            try:
                import ml_dtypes
            except ImportError:
                return self.patterns()
            return self.patterns().view(np.dtype(getattr(ml_dtypes, name)))

    def torch(self):
        """Over the same memory."""
        import torch
        signed = {1: "uint8", 2: "int16", 4: "int32", 8: "int64"}[ELEMENTS[self.element][2]]
        return torch.from_numpy(self.patterns().view(signed)).view(getattr(torch, ELEMENTS[self.element][1]))

    def jax(self):
        import jax.numpy as jnp
        return jnp.asarray(self.numpy())

    def to(self, framework):
        return getattr(self, framework if framework in ("torch", "jax") else "numpy")()


def host_array(value, element=None, what="argument"):
    """What `value` holds. `element`: what is expected; Python numbers and lists become that."""
    if isinstance(value, HostArray):
        return value
    framework = framework_of(value)
    if framework == "torch":
        return from_torch(value, what)
    if framework == "other" and hasattr(value, "__dlpack__"):
        import numpy as np
        kind = int(value.__dlpack_device__()[0])
        if kind not in ON_HOST:
            raise Error(f"{what} lies on DLPack's device {kind}, expected on the host: this program runs there")
        value = np.from_dlpack(value)
    elif framework == "other" and hasattr(type(value), "__cuda_array_interface__"):
        raise Error(f"{what} lies on a GPU, expected on the host: this program runs there; .to('cuda') moves it")
    return from_numpy(value, element, what)


def from_torch(tensor, what):
    import torch
    if tensor.device.type != "cpu":
        way = "it has no values; load the model's weights first" if tensor.is_meta else "this program runs there; .cpu() copies it"
        raise Error(f"{what} is on {tensor.device}, expected on the CPU: {way}")
    if tensor.layout != torch.strided:
        raise Error(f"{what} is {tensor.layout}, expected a dense tensor: .to_dense() makes one")
    tensor = tensor.detach().resolve_conj().resolve_neg().contiguous()
    names = {names[1]: element for element, names in ELEMENTS.items() if element != "index"}
    name = str(tensor.dtype).removeprefix("torch.")
    if name not in names:
        raise Error(f"{what} is of {tensor.dtype}, which mp does not know")
    return HostArray(tensor.data_ptr(), names[name], tensor.shape, tensor)


def from_numpy(value, element, what):
    import numpy as np
    try:
        array = np.asarray(value)
    except ValueError as error:  # lists of unequal lengths
        raise Error(f"{what} is no array: {error}") from None
    name = array.dtype.name
    if name not in BY_NUMPY:
        found = name if hasattr(value, "dtype") else f"{type(value).__name__} ({name})"
        raise Error(f"{what} is of {found}, which mp does not know; expected an array of floats, integers or booleans, or numbers in lists")
    if len(array.shape) > MAX_RANK:
        raise Error(f"{what} has rank {len(array.shape)}, expected at most {MAX_RANK}")
    if not hasattr(value, "dtype") and element in ELEMENTS and (element == "i1" or hasattr(np, ELEMENTS[element][0])):
        array = from_numbers(array, element, what)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    array = np.ascontiguousarray(array).reshape(array.shape)
    name = array.dtype.name
    found = BY_NUMPY[name]
    # Patterns stand for formats that numpy lacks.
    if element in ELEMENTS and found != element and name == PLAIN[ELEMENTS[element][2]] and element[0] in "bf":
        found = element
    return HostArray(array.ctypes.data, found, array.shape, array)


def from_numbers(array, element, what):
    """What Python's numbers are in the element type of an argument: floats are rounded, integers must be ones that it holds."""
    import numpy as np
    with np.errstate(invalid="ignore"):
        taken = array.astype(ELEMENTS[element][0])
    same = taken == array
    if taken.dtype.kind == "i":  # the library's integers have no sign
        same |= taken.view(f"u{taken.dtype.name}") == array
    if taken.dtype.kind != "f" and not np.all(same):
        raise Error(f"{what} is or holds {array.flat[np.flatnonzero(~same)[0]]}, which {element} does not")
    return taken
