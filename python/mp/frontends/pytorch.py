# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch: torch.export, torch-mlir's importer, and its lowering to linalg, all in this process. Parameters keep their
qualified names, ops the paths of their modules, locations the lines of the user's files."""
from ..arrays import framework_of
from ..errors import Error
from ..source import Source
from .decompositions import decomposition_table
from .programs import find_program, require, transform
from .torch_calls import Calls, is_constant, name_of, names_by_place, parameters_of
from .torch_importer import import_graph, name_branches, noted_modules

PIPELINE = ("torchdynamo-export-to-torch-backend-pipeline,torch-backend-to-linalg-on-tensors-backend-pipeline,"
            "canonicalize,cse")


def tensors_only(module, unused=()):
    """A copy of its graph that gives tensors and sizes alone, without the placeholders that are named; and what the module gives, with
    places among the results of the copy as fx nodes."""
    import torch.fx
    graph, copy = module.graph, torch.fx.Graph()
    copy.output(copy.graph_copy(graph, {}))
    output = next(node for node in copy.nodes if node.op == "output")
    results = list(output.args[0])
    output.args = (tuple(result for result in results if isinstance(result, torch.fx.Node)),)
    output.meta = next(node for node in graph.nodes if node.op == "output").meta
    for node in list(copy.nodes):
        if node.op == "placeholder" and node.name in unused and not node.users:
            copy.erase_node(node)
    owner = torch.fx.GraphModule(module, copy)  # the importer rewrites views, which needs one
    return owner.graph, results


def lower_graph(graph, arguments, results=()):
    """Linalg text of an fx graph with torch's core ops. arguments: (name, is it a parameter) of each placeholder; results: names."""
    from torch_mlir import ir
    from torch_mlir.dialects import torch as torch_dialect
    context = ir.Context()
    context.allow_unregistered_dialects = True  # mp.role
    torch_dialect.register_dialect(context)
    graph.eliminate_dead_code()  # checks of sizes, which torch-mlir refuses, among it
    places = [node for node in graph.nodes if node.op == "placeholder"]
    name_branches(graph, {place: name.rpartition(".")[0] for place, (name, is_parameter) in zip(places, arguments) if is_parameter and "." in name})
    module = import_graph(context, graph)
    function = next(op for op in module.body.operations if op.attributes["sym_name"].value == "main")
    with context:
        attributes = []
        for value, (name, is_parameter) in zip(function.regions[0].blocks[0].arguments, arguments):
            value.set_location(ir.Location.name(name))
            named = {"ml_program.identifier": ir.StringAttr.get(name)}
            attributes.append(ir.DictAttr.get({**named, "mp.role": ir.StringAttr.get("parameter")} if is_parameter else named))
        function.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)
        if any(results):
            function.attributes["res_attrs"] = ir.ArrayAttr.get([
                ir.DictAttr.get({"ml_program.identifier": ir.StringAttr.get(name)} if name else {}) for name in results])
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


def sizes_and_dtype(value):
    """What a Source says of a result: -1 for sizes that vary."""
    shape = tuple(size if isinstance(size, int) else -1 for size in getattr(value, "shape", ()))
    return shape, str(getattr(value, "dtype", "int64")).rpartition(".")[2]


def read_exported(exported, parameters=()):
    """A Source of a torch.export.ExportedProgram. parameters: those of the model's forward, where they are known."""
    try:
        program = exported.run_decompositions(decomposition_table())
    except Exception as error:
        raise refusal("torch does not decompose the model; what uses torch.func converts as a function, mp.convert(f, (x,))", error) from error
    signature = program.graph_signature
    if mutated := [s.target for s in signature.output_specs if s.kind.name in ("BUFFER_MUTATION", "USER_INPUT_MUTATION")]:
        raise Error(f"the model changes {', '.join(map(str, mutated))} when called; .eval() it, or write the change as a result")
    calls = Calls.of(program, parameters)
    specs = [spec for spec in signature.input_specs if not is_constant(spec.arg)]
    names = {index: spec.target or spec.arg.name for index, spec in enumerate(specs)}
    bound = {index: value for index, spec in enumerate(specs) if (value := constant_of(program, spec)) is not None}
    constants = [spec.arg.name for spec in signature.input_specs if is_constant(spec.arg)]
    graph, given = tensors_only(program.graph_module, constants)
    text = lower_graph(graph, [(names[index], spec.kind.name == "PARAMETER") for index, spec in enumerate(specs)], calls.result_names())
    results = tuple(sizes_and_dtype(node.meta.get("val")) for node in given if hasattr(node, "meta"))
    return Source(text, "model.torch", "main", bound=bound, names=names, framework="torch", results=results, flatten=calls.flatten,
                  unflatten=calls.unflatten)


def unwrapped(model):
    """The module that a wrapper of torch holds, under its own names."""
    import torch
    wrappers = (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)
    while (inner := getattr(model, "_orig_mod", None) or (model.module if isinstance(model, wrappers) else None)) is not None:
        model = inner
    return model


def refusal(who, error):
    """An Error with torch's as its cause."""
    said = [line.strip() for line in str(error).splitlines() if line.strip()]
    advice = "torch.export.register_dataclass(TYPE) does so for a dataclass" if "register a pytree" in str(error) else ""
    return Error("\n".join([f"{who}: {type(error).__name__}: {said[0] if said else ''}", *said[1:6], *filter(None, [advice])]))


def export(model, args, kwargs, dynamic):
    """torch.export of it, whose refusals are errors of ours with torch's as their cause."""
    import torch
    try:
        with torch.no_grad():
            return torch.export.export(model, args, kwargs, dynamic_shapes=dynamic)
    except Exception as error:  # of many kinds, those of the user's own code among them
        raise refusal("torch.export refuses the model", error) from error


def traced(function, args, kwargs):
    """(graph module, Calls) of a function of tensors in lists and dicts, such as a train step over torch.func, as it runs on tensors without
    values; torch.export takes what torch.func makes of them for constants."""
    import torch
    from torch.export.graph_signature import ConstantArgument, TensorArgument
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.utils import _pytree as pytree
    paths, tree = pytree.tree_flatten_with_path((tuple(args), dict(kwargs)))
    parameters, given = parameters_of(function), []
    order = names_by_place(parameters)

    def spec(name, leaf):
        return TensorArgument(name) if isinstance(leaf, torch.Tensor) else ConstantArgument(name, leaf)

    def name(path):
        first, rest = (order[path[1].idx] if path[0].idx == 0 and path[1].idx < len(order) else path[1]), pytree.keystr(path[2:])
        return name_of(f"{first}{rest}")

    inputs = [spec(name(path), leaf) for path, leaf in paths]
    tensors = [leaf for _, leaf in paths if isinstance(leaf, torch.Tensor)]

    def flat(*values):
        found = iter(values)
        args, kwargs = pytree.tree_unflatten([next(found) if isinstance(leaf, torch.Tensor) else leaf for _, leaf in paths], tree)
        leaves, out = pytree.tree_flatten(function(*args, **kwargs))
        given[:] = [out, [spec("", leaf) for leaf in leaves]]
        return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]

    torch.fx.proxy._register_stack_trace_anchor(function)  # so that lines of its file are kept
    try:
        with noted_modules():
            graph = make_fx(torch.func.functionalize(flat, remove="mutations"), decomposition_table=decomposition_table(), tracing_mode="fake",
                            record_stack_traces=True, _allow_non_fake_inputs=True)(*tensors)
    except Exception as error:  # of many kinds, those of the user's own code among them
        raise refusal("torch does not trace the function", error) from error
    out, outputs = given
    return graph, Calls(tree, out, [(argument, None) for argument in inputs], outputs, order, parameters)


def read_function(function, args, kwargs):
    """A Source of a function of tensors."""
    graph, calls = traced(function, args, kwargs)
    names = [argument.name for argument, _ in calls.inputs if not is_constant(argument)]
    text = lower_graph(graph.graph, [(name, False) for name in names], calls.result_names())
    output = next(node for node in graph.graph.nodes if node.op == "output")
    results = tuple(sizes_and_dtype(node.meta.get("val")) for node in output.args[0])
    name = getattr(function, "__name__", "function") + ".torch"
    return Source(text, name, "main", names=dict(enumerate(names)), framework="torch", results=results, flatten=calls.flatten,
                  unflatten=calls.unflatten)


def read(model, args, kwargs, dynamic=None):
    """A Source of a torch.nn.Module or a function of tensors with example arguments, or of an ExportedProgram."""
    require("a PyTorch model", "torch", "torch_mlir")
    import torch
    if isinstance(model, torch.export.ExportedProgram):
        return read_exported(model)
    if args is None and not kwargs:
        raise Error("a torch module needs example arguments: mp.convert(model, (x,))")
    from torch.utils import _pytree as pytree
    args, kwargs = pytree.tree_map(lambda value: torch.as_tensor(value) if framework_of(value) == "numpy" else value, (tuple(args or ()), dict(kwargs)))
    if isinstance(model, torch.nn.Module):
        model = unwrapped(model)
        return read_exported(export(model, args, kwargs, dynamic), parameters_of(model.forward))
    if dynamic is not None:
        raise Error("dynamic= is of modules: torch.nn.Module's forward may call the function")
    return read_function(model, args, kwargs)


def read_file(path):
    require("a .pt2 file", "torch", "torch_mlir")
    import torch
    return read_exported(torch.export.load(path))
