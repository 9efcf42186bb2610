# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX: StableHLO with its names, lowered to linalg by torch-mlir's tools and mp, or by iree-compile where these lack an op."""
import logging
import re

from ..errors import Error, MissingPackage
from ..source import Source
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
    problems = []
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


def read(function, args, kwargs):
    """A Source of a function of JAX arrays with example arguments, pytrees among them."""
    require("a JAX function", "jax")
    import jax
    if args is None:
        raise Error("a JAX function needs example arguments: mp.convert(f, (x,))")
    lowered = jax.jit(function, keep_unused=True).lower(*args, **kwargs)
    text, tool = lower(tidy_names(lowered.compiler_ir("stablehlo").operation.get_asm(enable_debug_info=True)))
    tree, out_tree = jax.tree.structure((tuple(args), dict(kwargs))), jax.tree.structure(lowered.out_info)

    def flatten(given, keywords):
        found, structure = jax.tree.flatten((tuple(given), dict(keywords)))
        if structure != tree:
            raise Error(f"the arguments have the structure {structure}, expected {tree}")
        return found

    def unflatten(results):
        return jax.tree.unflatten(out_tree, list(results))

    log.info("lowered by %s", tool)
    results = tuple((out.shape, out.dtype.name) for out in jax.tree.leaves(lowered.out_info))
    name = getattr(function, "__name__", "function") + ".jax"
    return Source(text, name, prepare="mp-count-loops", framework="jax", results=results, flatten=flatten, unflatten=unflatten)
