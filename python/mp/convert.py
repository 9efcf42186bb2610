# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mp.convert: a model of any kind that is known, to a Program."""
import json
import os
import shutil
import tempfile
import weakref

from .errors import Error
from .frontends import read_model
from .library import Context, describe
from .program import convert_source

# The formats as people write them, and as mp spells them.
FORMATS = {"bfloat16": "bf16", "fp16": "f16", "float16": "f16", "half": "f16", "tensorfloat32": "tf32", "float8_e4m3fn": "e4m3",
           "float8_e5m2": "e5m2"}
# Product names of targets, where one is meant.
PRODUCTS = {"t4": "sm_75", "a100": "sm_80", "a10": "sm_86", "l4": "sm_89", "l40s": "sm_89", "h100": "sm_90a", "h200": "sm_90a",
            "b200": "sm_100a"}


def format_name(format):
    """"bf16" of "bfloat16", torch.bfloat16, jnp.bfloat16, numpy.float16, ..."""
    if format is None:
        return None
    name = format if isinstance(format, str) else getattr(format, "__name__", None) or getattr(format, "name", None) or str(format)
    name = name.rpartition(".")[2]
    if name in ("fp8", "float8"):
        raise Error("format 'fp8' is one of two: e4m3 (more fraction) or e5m2 (more range)")
    return FORMATS.get(name, name)


def keep_rules(keep):
    """Rules of a policy that keep layers wide: globs of names ("*.norm", "head"), each with what lies below it."""
    return [{"name": f"keep {glob}", "select": {"name": f"^{glob_pattern(glob)}([./].*)?$"}, "precision": "wide"} for glob in keep]


def glob_pattern(glob):
    """The extended regular expression of a glob."""
    return "".join({"*": ".*", "?": "."}.get(c, c if c.isalnum() or c in "_/" else "\\" + c) for c in glob)


def make_policy(policy, keep, format, target):
    """The policy as the option takes it, and the folder of a file that was made for it: whoever explains reads it again."""
    if isinstance(policy, (str, os.PathLike)) and not keep:
        return os.fspath(policy), None
    if policy is None and not keep:
        return None, None
    if isinstance(policy, dict):
        content = {"mp_policy": 1, **policy}
    else:
        words = [f"{k}={v}" for k, v in (("policy", policy), ("format", format), ("target", target)) if v]
        content = json.loads(describe("policy", " ".join(map(str, words))))
    content["rules"] = keep_rules(keep) + list(content.get("rules", []))
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "policy.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file)
    return path, folder


def check_request(format=None, target=None, max_rel_error=None, options=None, **more):
    """Refuses options that no graph could be converted with, before one is traced: a graph that is refused later may run elsewhere."""
    given = conversion_options(format, target, max_rel_error, options)
    Context().parse("func.func @nothing() { return }", imports=False).convert("mp-mixed-precision", given)


def conversion_options(format, target, max_rel_error, options):
    """Options of the pipeline; those given by keyword win."""
    if options is not None and not isinstance(options, dict):
        raise Error(f"options is of {type(options).__name__}, expected a dict of names and values")
    result = {str(name).replace("_", "-"): value for name, value in (options or {}).items()}
    for name, value in (("format", format_name(format)), ("target", PRODUCTS.get(str(target).lower(), target)), ("max-rel-error", max_rel_error)):
        if value is not None:
            result[name] = value
    return result


def convert(model, args=None, kwargs=None, *, inputs=None, format=None, target=None, max_rel_error=None, policy=None, keep=(),
            entry=None, dynamic=None, f64="keep", options=None, name=None):
    """Converts a model to mixed precision.

    model: a torch.nn.Module or torch.export.ExportedProgram, a function of JAX arrays, MLIR text, or the path of a
        .mlir, .mlirbc, .tflite, .onnx or .pt2 file. It is not changed.
    args, kwargs: example arguments, which torch and JAX need; `inputs` is another word for args.
    format: "bf16" (what the policy says otherwise), "f16", "tf32", "e4m3", ...; a dtype of torch, JAX or numpy.
    target: "sm_90a", "h100", ...: whose costs decide, and what .to and .kernels compile for.
    max_rel_error: limit of the modelled relative error of the results.
    policy: "inference", "training", a file, a report of an earlier run, or a dict (docs/reference/Policies.md).
    keep: globs of layers that stay wide, such as "blocks.0.*" or "head".
    entry: the function of a file that has several.
    dynamic: torch.export's dynamic_shapes.
    f64: "narrow" computes in f32 what the graph computes in f64, as torch-mlir does variances (the pass mp-narrow-doubles);
        "keep" leaves it, and says so.
    options: further options of mp-mixed-precision by name, as mp.describe("options", "mp-mixed-precision") lists them.
    """
    if args is not None and inputs is not None:
        raise Error("args and inputs are the same: give one")
    args = inputs if args is None else args
    if args is not None and not isinstance(args, (tuple, list)):
        args = (args,)
    if isinstance(keep, str):
        keep = (keep,)
    if wrong := [glob for glob in keep if not isinstance(glob, str)]:
        raise Error(f"keep holds {wrong[0]!r}, expected names of layers such as 'blocks.0.*'")
    source = read_model(model, args, kwargs or {}, dynamic=dynamic)
    source.entry, source.name = entry or source.entry, name or source.name
    given = conversion_options(format, target, max_rel_error, options)
    given["policy"], folder = make_policy(policy, keep, given.get("format"), given.get("target"))
    if given["policy"] is None:
        del given["policy"]
    program = convert_source(source, given, None if args is None else (tuple(args), kwargs or {}), f64)
    if folder:
        weakref.finalize(program, shutil.rmtree, folder, True)
    return program
