# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs inside of what JAX compiles, through XLA's foreign functions: mp.jit, and calls of a Program with tracers."""
import functools
import hashlib
import logging

from .arrays import BY_NUMPY, ELEMENTS, framework_of, host_array, with_sign
from .errors import Error, MissingPackage
from .library import check, library

log = logging.getLogger("mp")
TARGET = "mp_call"
#: Key -> executable. Compiled code of XLA knows keys alone and may outlive everything else, so these stay as long as the process.
_published = {}


def is_traced(value):
    """Whether JAX is tracing the function that was called with this, without importing JAX."""
    return framework_of(value) == "jax" and any(base.__name__ == "Tracer" for base in type(value).__mro__)


@functools.lru_cache(maxsize=None)
def register():
    import jax
    jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(library().mp_xla_host_call), platform="cpu")
    jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(library().mp_xla_device_call), platform="CUDA")


def publish(program):
    """The key by which compiled code finds the program: the same for the same model, options and device, in every process."""
    if program.key is None:
        executable = program._executable()
        key = hashlib.sha256("\n".join((program.device, program.target, program.entry, program.module.print())).encode()).hexdigest()[:32]
        if key not in _published:
            check(library().mp_program_publish(executable.handle, key.encode()))
            _published[key] = executable
        program.key = key
    return program.key


def element_of(dtype):
    name = dtype.name
    if name not in BY_NUMPY:
        raise Error(f"an array is of {name}, which mp does not know")
    return BY_NUMPY[name]


def check_argument(value, parameter, what):
    """What the handler would refuse when it runs is refused when JAX traces."""
    plain = lambda element: element.replace("index", "i64").removeprefix("u")
    shape, element = tuple(parameter["shape"]), parameter["element"]
    fits = len(shape) == len(value.shape) and all(size in (-1, found) for size, found in zip(shape, value.shape))
    if not fits or plain(element_of(value.dtype)) != plain(element):
        text = lambda sizes, name: "x".join([*map(str, sizes), name]).replace("-1", "?")
        raise Error(f"{what}: expected {text(shape, element)}, found {text(value.shape, element_of(value.dtype))}")


def result_types(program, outputs):
    """Shapes and dtypes of the results, as JAX wants to know them before the call."""
    import jax
    import jax.numpy as jnp
    known = program.source.results or [(spec["shape"], "") for spec in outputs]
    types = []
    for index, (spec, (shape, dtype)) in enumerate(zip(outputs, known)):
        if -1 in shape:
            raise Error(f"the size of result {index} is known only when the program runs, but JAX must know it before")
        name = ELEMENTS[with_sign(spec["element"], dtype)][0]
        types.append(jax.ShapeDtypeStruct(shape, getattr(jnp, name.replace("bool", "bool_"))))
    return types


def call(program, given):
    """The program as an op of what JAX traces. `given`: values of the arguments that are not bound."""
    import jax
    import jax.numpy as jnp
    register()
    key, signature = publish(program), program._executable().signature
    inputs = signature["arguments"]
    wanted = [index for index in range(len(inputs)) if index not in program.source.bound]
    if len(given) != len(wanted):
        raise Error(f"the program takes {len(wanted)} arguments, found {len(given)}")
    values = dict(zip(wanted, map(jnp.asarray, given)))
    for index, value in program.source.bound.items():
        values[index] = host_array(value, inputs[index]["element"]).jax()
    for index, parameter in enumerate(inputs):
        check_argument(values[index], parameter, program._name(index, inputs))
    foreign = jax.ffi.ffi_call(TARGET, result_types(program, signature["results"]), vmap_method="sequential")
    op = jax.custom_vjp(lambda *operands: foreign(*operands, program=key))
    op.defvjp(refuse_gradient, refuse_gradient)
    return op(*[values[index] for index in range(len(inputs))])


def refuse_gradient(*operands):
    raise Error("a converted program has no gradient; mp.jit(function) converts that of the function")


class Jitted:
    """A function of JAX that computes in mixed precision; made by mp.jit.

    `programs` has (description of the arguments, Program or None, reason) for each set of shapes so far.
    """

    def __init__(self, function, device, given):
        import jax
        functools.update_wrapper(self, function)
        self.function, self.device, self.given = function, device, given
        self.programs, self._known, self._gradients = [], {}, {}
        self._core = jax.custom_vjp(self._run, nondiff_argnums=(0,))
        self._core.defvjp(lambda tree, *leaves: (self._core(tree, *leaves), leaves), self._pull_back)

    def __call__(self, *args, **kwargs):
        import jax
        import jax.numpy as jnp
        leaves, tree = jax.tree.flatten((args, kwargs))
        return self._core(tree, *map(jnp.asarray, leaves))

    def _program(self, tree, leaves):
        """The Program for arguments of these shapes; None where JAX runs the function itself."""
        import jax
        from .convert import convert
        key = (tree, tuple((leaf.shape, str(leaf.dtype)) for leaf in leaves))
        if key not in self._known:
            args, kwargs = jax.tree.unflatten(tree, [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in leaves])
            program, reason = None, ""
            try:
                program = convert(self.function, args, kwargs, **self.given)
                program = program if self.device == "cpu" else program.to(self.device)
            except (Error, MissingPackage, NotImplementedError) as error:
                reason = str(error).splitlines()[0]
                log.warning("%s runs in JAX, not in mp: %s", self.__name__, reason)
            self._known[key] = program
            self.programs.append((", ".join(f"{name}{list(shape)}" for shape, name in key[1]), program, reason))
        return self._known[key]

    def _run(self, tree, *leaves):
        import jax
        program = self._program(tree, leaves)
        args, kwargs = jax.tree.unflatten(tree, leaves)
        if program is None:
            return self.function(*args, **kwargs)
        return program.source.unflatten(call(program, program.source.flatten(args, kwargs)))

    def _pull_back(self, tree, leaves, cotangents):
        """Gradients, by a function that is converted as well; its own gradients come the same way."""
        import jax
        import jax.numpy as jnp
        places = [index for index, leaf in enumerate(leaves) if jnp.issubdtype(leaf.dtype, jnp.inexact)]
        given, out_tree = jax.tree.flatten(cotangents)
        kept = tuple(index for index, value in enumerate(given) if value.dtype != jax.dtypes.float0)
        shapes = tuple(value.shape for value in given)
        key = (tree, out_tree, kept, shapes, tuple(places))
        if key not in self._gradients:
            self._gradients[key] = Jitted(backward(self.function, *key), self.device, self.given)
        found = self._gradients[key](leaves, [given[index] for index in kept])
        result = [None] * len(leaves)
        for place, gradient in zip(places, found):
            result[place] = gradient
        return tuple(result)


def backward(function, tree, out_tree, kept, shapes, places):
    """The function of (arguments, cotangents of float results) that gives the gradients of the float arguments."""
    import jax
    import numpy as np

    def gradient(leaves, cotangents):
        def of(*floats):
            merged = list(leaves)
            for place, value in zip(places, floats):
                merged[place] = value
            args, kwargs = jax.tree.unflatten(tree, merged)
            return function(*args, **kwargs)

        full = [np.zeros(shape, jax.dtypes.float0) for shape in shapes]
        for index, value in zip(kept, cotangents):
            full[index] = value
        return jax.vjp(of, *[leaves[place] for place in places])[1](jax.tree.unflatten(out_tree, full))

    gradient.__name__ = "gradient of " + getattr(function, "__name__", "a function")
    return gradient


def jit(function=None, *, device="cpu", **given):
    """A function of JAX arrays in mixed precision, to be called like the original, also under jax.jit, grad and vmap.

    Each set of shapes is converted when it is first met, as mp.convert does with these keywords (format, target, keep, ...), and is
    one call in what JAX compiles. Gradients are converted, too. vmap calls once for each element: map inside, where that is slow.
    What cannot be converted runs in JAX, and a warning says why.
    device: "cpu", "emulator", "cuda", or a target such as "sm_90a" (Program.to).
    """
    from .convert import check_request
    check_request(**given)
    if function is None:
        return functools.partial(jit, device=device, **given)
    return Jitted(function, device, given)
