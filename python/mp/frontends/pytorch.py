# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch: torch.export, torch-mlir's importer, and its lowering to linalg, all in this process. Parameters keep their
qualified names, ops the paths of their modules, locations the lines of the user's files."""
import re

from ..errors import Error
from ..source import Source
from .decompositions import decomposition_table
from .programs import find_program, require, transform

PIPELINE = ("torchdynamo-export-to-torch-backend-pipeline,torch-backend-to-linalg-on-tensors-backend-pipeline,"
            "canonicalize,cse")


def path_of(node):
    """Where the node comes from among modules: "blocks.1.attention"; empty at the top."""
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    return re.sub(r"^L\['self'\]\.?", "", stack[-1][0]) if stack else ""


def line_of(node, torch_folder):
    """File and line of the user's code that made the node: the innermost frame outside of torch."""
    frames = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
    return ([f for f in frames if not f[0].startswith(torch_folder)] or frames or [None])[-1]


def named_importer(context):
    """An importer whose ops are located by the path of their module, at the user's line."""
    import torch
    from torch_mlir import ir
    from torch_mlir.extras.fx_importer import ContextCache, FxImporter

    class NamedCache(ContextCache):
        def get_node_location(self, node):
            place, path = line_of(node, torch.__path__[0]), path_of(node)
            line = ir.Location.file(place[0], int(place[1]), 0, context=self._c) if place else ir.Location.unknown(self._c)
            return ir.Location.name(f"{path}.{node.name}" if path else node.name, line, context=self._c)

    importer = FxImporter(context=context)
    importer._cc = NamedCache(context, py_attr_tracker=importer._py_attr_tracker)
    return importer


def lower_graph(graph, arguments):
    """Linalg text of an fx graph with torch's core ops. arguments: (name, is it a parameter) of each placeholder."""
    from torch_mlir import ir
    from torch_mlir.dialects import torch as torch_dialect
    context = ir.Context()
    context.allow_unregistered_dialects = True  # mp.role
    torch_dialect.register_dialect(context)
    importer = named_importer(context)
    importer.import_stateless_graph(graph, func_name="main")
    module = importer.module
    function = module.body.operations[0]
    with context:
        attributes = []
        for value, (name, is_parameter) in zip(function.regions[0].blocks[0].arguments, arguments):
            value.set_location(ir.Location.name(name))
            named = {"ml_program.identifier": ir.StringAttr.get(name)}
            attributes.append(ir.DictAttr.get({**named, "mp.role": ir.StringAttr.get("parameter")} if is_parameter else named))
        function.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)
    # In a process of its own: on some graphs the lowering crashes, which is not to end the user's.
    command = (find_program("torch-mlir-opt", "torch_mlir"), f"--pass-pipeline=builtin.module({PIPELINE})", "--mlir-print-debuginfo")
    try:
        return transform(module.operation.get_asm(enable_debug_info=True), command).decode()
    except Error as error:
        raise Error(f"torch-mlir does not lower the model: {error}") from None


def constant_of(program, spec):
    """The value that an input of the graph always has; None for those of a call."""
    kind = spec.kind.name
    if kind == "PARAMETER":
        return program.state_dict[spec.target]
    if kind == "BUFFER":
        return program.state_dict[spec.target] if spec.target in program.state_dict else program.constants[spec.target]
    if kind == "CONSTANT_TENSOR":
        return program.constants[spec.target]
    return None


def read_exported(program):
    """A Source of a torch.export.ExportedProgram."""
    program = program.run_decompositions(decomposition_table())
    signature = program.graph_signature
    if mutated := [s.target for s in signature.output_specs if s.kind.name in ("BUFFER_MUTATION", "USER_INPUT_MUTATION")]:
        raise Error(f"the model changes {', '.join(map(str, mutated))} when called; .eval() it, or write the change as a result")
    specs = list(signature.input_specs)
    names = {index: spec.target or spec.arg.name for index, spec in enumerate(specs)}
    bound = {index: value for index, spec in enumerate(specs) if (value := constant_of(program, spec)) is not None}
    text = lower_graph(program.graph, [(names[index], spec.kind.name == "PARAMETER") for index, spec in enumerate(specs)])
    from torch.utils import _pytree as pytree

    def flatten(args, kwargs):
        return pytree.tree_flatten((tuple(args), dict(kwargs)))[0]

    def unflatten(results):
        return pytree.tree_unflatten(list(results), program.call_spec.out_spec)

    return Source(text, "model.torch", "main", bound=bound, names=names, framework="torch", flatten=flatten, unflatten=unflatten)


def read(model, args, kwargs, dynamic=None):
    """A Source of a torch.nn.Module with example arguments, or of an ExportedProgram."""
    require("a PyTorch model", "torch", "torch_mlir")
    import torch
    if isinstance(model, torch.export.ExportedProgram):
        return read_exported(model)
    if args is None:
        raise Error("a torch module needs example arguments: mp.convert(model, (x,))")
    with torch.no_grad():
        program = torch.export.export(model, tuple(args), dict(kwargs), dynamic_shapes=dynamic)
    return read_exported(program)


def read_file(path):
    require("a .pt2 file", "torch", "torch_mlir")
    import torch
    return read_exported(torch.export.load(path))
