# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX: StableHLO with its names, lowered to linalg by torch-mlir's tools and mp, or by iree-compile where these lack an op."""
import logging
import re

from ..errors import Error, MissingPackage
from ..source import Source
from .jax_rewrites import inverse_error_functions, result_names, without_meshes
from .programs import PACKAGES, find_program, require, transform

log = logging.getLogger("mp")

PIPELINE = ("builtin.module(func.func(stablehlo-aggressive-simplification),inline,symbol-dce,canonicalize,"
            "stablehlo-legalize-to-linalg,func.func(canonicalize,cse))")

# torch-mlir leaves these, and mp translates them from the generic form.
TRANSLATED = {f"stablehlo.{name}" for name in (
    "case", "if", "optimization_barrier", "return", "scatter", "select_and_scatter", "sort", "while")} | {f"chlo.{name}" for name in (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erf", "erfc", "sinh", "square", "tan", "top_k")}


def lower(text):
    """Linalg text of StableHLO, and which tool made it."""
    text, problems = inverse_error_functions(without_meshes(text)), []
    if tool := find_program("torch-mlir-opt"):
        try:
            lowered = transform(text, (tool, f"--pass-pipeline={PIPELINE}", "--mlir-print-debuginfo")).decode()
            # Ops by name, those of chlo on complex numbers, which mp refuses, by more.
            left = set(re.findall(r"\b(?:stablehlo|chlo)\.\w+(?: %[\w#]+ : tensor<[\d?x]*complex)?", lowered))
            if not left:
                return lowered, "torch-mlir-opt"
            if left <= TRANSLATED:
                generic = transform(lowered, (tool, "--mlir-print-op-generic", "--mlir-print-debuginfo")).decode()
                return generic, "torch-mlir-opt"
            problems.append(f"torch-mlir-opt left {', '.join(sorted(left - TRANSLATED))}")
        except Error as error:
            problems.append(str(error))
    if tool := find_program("iree-compile"):
        command = (tool, "--iree-input-type=stablehlo", "--compile-to=input", "--mlir-print-debuginfo")
        return transform(text, command).decode(), "iree-compile"
    if routines := sorted(set(re.findall(r"stablehlo\.custom_call (@\w+)", text))):
        raise Error(f"the function calls {', '.join(routines)}, a routine of JAX's own, which no route lowers: convert the parts around it, "
                    "or use mp.jit, which runs in JAX what cannot be converted")
    if problems:
        raise MissingPackage("; ".join(problems) + "; this model", [PACKAGES["iree.compiler"]])
    raise MissingPackage("a JAX function", [PACKAGES["torch_mlir"]])


def parameter_name(path):
    """"params.q.kernel" of "params['q']['kernel']", and the like of lists and attributes."""
    return re.sub(r"\[['\"]?([^\]'\"]+)['\"]?\]", r".\1", path).strip(".")


def tidy_names(text):
    """Names as people know them: "blocks.1/query" of "jit(net)/blocks.1/query/dot_general"."""
    text = re.sub(r'loc\("((?:[^"\\]|\\.)*\[[^"]*)"', lambda m: f'loc("{parameter_name(m[1])}"', text)
    return re.sub(r'"(?:(?:p?jit|jvp|transpose|vmap)\([^"()]*\)/)+', '"', text)


def call_of(function, args, kwargs):
    """(what is jitted, its options, how a call is split): arguments that jax.jit was told are static stay so."""
    told = getattr(function, "_jit_info", None)
    places, names = tuple(getattr(told, "static_argnums", None) or ()), tuple(getattr(told, "static_argnames", None) or ())
    places = {place % len(args) for place in places if -len(args) <= place < len(args)}

    def split(given, keywords):
        """(static values, what remains): an argument by position or by name."""
        static = {index: value for index, value in enumerate(given) if index in places}
        static.update((name, value) for name, value in keywords.items() if name in names)
        return static, (tuple(value for index, value in enumerate(given) if index not in static),
                        {name: value for name, value in keywords.items() if name not in static})

    inner = function.__wrapped__ if places or names else function
    return inner, {"static_argnums": told.static_argnums, "static_argnames": told.static_argnames} if inner is not function else {}, split


def is_key(dtype):
    """Whether it is that of random keys, which are vectors of integers underneath."""
    import jax
    return jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key)


def plain_key(value):
    import jax
    return jax.random.key_data(value) if hasattr(value, "dtype") and is_key(value.dtype) else value


def trace(function, options, args, kwargs):
    """JAX's lowering, whose refusals are errors of ours with JAX's as their cause."""
    import jax
    try:
        return jax.jit(function, keep_unused=True, **options).lower(*args, **kwargs)
    except Exception as error:  # of many kinds, those of the user's own code among them
        said = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise Error(f"JAX does not trace the function: {type(error).__name__}: " + "\n".join(said[:6])) from error


def read(function, args, kwargs):
    """A Source of a function of JAX arrays with example arguments, pytrees among them."""
    require("a JAX function", "jax")
    import jax
    if args is None and not kwargs:
        raise Error("a JAX function needs example arguments: mp.convert(f, (x,))")
    args = tuple(args or ())
    inner, options, split = call_of(function, args, kwargs)
    lowered = trace(inner, options, args, kwargs)
    text = lowered.compiler_ir("stablehlo").operation.get_asm(enable_debug_info=True)
    text, tool = lower(result_names(tidy_names(text), parameter_name))
    static, dynamic = split(args, kwargs)
    tree, out_tree, outs = jax.tree.structure(dynamic), jax.tree.structure(lowered.out_info), jax.tree.leaves(lowered.out_info)

    def flatten(given, keywords):
        fixed, rest = split(given, keywords)
        if fixed != static:
            raise Error(f"static arguments were {static} when the function was converted, found {fixed}: convert it with those")
        found, structure = jax.tree.flatten(rest)
        if structure != tree:
            raise Error(f"the arguments have the structure {structure}, expected {tree}")
        return [plain_key(value) for value in found]

    def unflatten(results):
        values = [jax.random.wrap_key_data(value, impl=out.dtype._impl.name) if is_key(out.dtype) else value
                  for value, out in zip(results, outs)]
        return jax.tree.unflatten(out_tree, values)

    log.info("lowered by %s", tool)
    plain = [jax.eval_shape(plain_key, out) for out in outs]
    results = tuple((out.shape, out.dtype.name) for out in plain)
    name = getattr(function, "__name__", "function") + ".jax"
    return Source(text, name, prepare="mp-count-loops", framework="jax", results=results, flatten=flatten, unflatten=unflatten)
