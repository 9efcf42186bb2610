# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch-mlir's importer of fx graphs, with the names of modules and the lines of the user's files, and with torch.cond."""
import contextlib
import re

from ..errors import Error


def path_of(node):
    """Where the node comes from among modules: "blocks.1.attention"; empty at the top, and for what torch made without a module."""
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    path = re.sub(r"^L\['\w+'\]\.?", "", stack[-1][0]) if stack else ""
    return "" if path.startswith("_empty_nn_module_stack") else path


@contextlib.contextmanager
def noted_modules():
    """What is traced within notes the module whose forward runs, as torch.export does; torch.func.functional_call runs it, too."""
    from torch.fx import traceback
    from torch.nn.modules import module as modules
    paths, stack = {}, []

    def enter(module, args):
        if not stack:
            paths.update((id(inner), path) for path, inner in module.named_modules())
        stack.append(paths.get(id(module), ""))
        traceback.get_current_meta()["nn_module_stack"] = {stack[-1]: (stack[-1], type(module))}

    def leave(module, args, result):
        stack.pop()
        if stack:
            traceback.get_current_meta()["nn_module_stack"] = {stack[-1]: (stack[-1], None)}
        else:
            traceback.get_current_meta().pop("nn_module_stack", None)

    with traceback.preserve_node_meta(), contextlib.ExitStack() as hooks:
        hooks.callback(modules.register_module_forward_pre_hook(enter).remove)
        hooks.callback(modules.register_module_forward_hook(leave, always_call=True).remove)
        yield


def name_branches(graph, owners, outer=None):
    """Ops in graphs that torch.cond and while_loop enter take the path of the module whose parameter they read, else that of what enters
    them. owners: placeholder -> path of the parameter's module; outer: the path of what enters, None at the top."""
    from torch.fx import GraphModule, Node
    for node in graph.nodes:
        if node.op != "call_function":
            continue
        found = [owners[value] for value in node.all_input_nodes if value in owners]
        if found and len(node.all_input_nodes) == 1:
            owners[node] = found[0]  # a transposition, say
        path = path_of(node)
        if not path and outer is not None:
            path = found[0] if found else outer
            node.meta["nn_module_stack"] = {path: (path, None)}
        entered = [getattr(graph.owning_module, value.target, None) for value in node.args if isinstance(value, Node) and value.op == "get_attr"]
        operands = [value for values in node.args if isinstance(values, (list, tuple)) for value in values]
        for module in entered:
            if isinstance(module, GraphModule):
                places = (inner for inner in module.graph.nodes if inner.op == "placeholder")
                name_branches(module.graph, {place: owners[value] for place, value in zip(places, operands) if value in owners}, path)


def line_of(node, torch_folder):
    """File and line of the user's code that made the node: the innermost frame outside of torch."""
    frames = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
    return ([f for f in frames if not f[0].startswith((torch_folder, "<"))] or frames or [None])[-1]


def named_importer(context):
    """An importer whose ops are located by the path of their module, at the user's line."""
    import torch
    from torch_mlir import ir
    from torch_mlir.extras.fx_importer import ContextCache, FxImporter, GraphNodeImporter

    class NamedCache(ContextCache):
        def get_node_location(self, node):
            place, path = line_of(node, torch.__path__[0]), path_of(node)
            line = ir.Location.file(place[0], int(place[1]), 0, context=self._c) if place else ir.Location.unknown(self._c)
            return ir.Location.name(f"{path}.{node.name}" if path else node.name, line, context=self._c)

    class Importer(GraphNodeImporter):
        def _import_hop_cond(self, loc, node, hop):
            import_branches(self, loc, node)

        def _import_hop_while_loop(self, loc, node, hop):
            import_loop(self, loc, node)

    importer = FxImporter(context=context, graph_node_importer_cls=Importer)
    importer._cc = NamedCache(context, py_attr_tracker=importer._py_attr_tracker)
    return importer


def call(importer, node, callee, values, types):
    """Results of a call of a graph of the node's module, which was imported before as a function."""
    from torch_mlir import ir
    name = importer.fx_importer._graph_module_to_func_name[id(getattr(node.graph.owning_module, callee.target))]
    return list(ir.Operation.create("func.call", attributes={"callee": ir.FlatSymbolRefAttr.get(name)}, results=types, operands=values).results)


def as_bool(importer, value):
    from torch_mlir import ir
    if str(value.type) == "!torch.bool":
        return value
    return ir.Operation.create("torch.aten.Bool.Tensor", results=[importer._cc.torch_bool_type], operands=[value]).result


def bind(importer, node, op):
    importer._multi_result_nodes.add(node)
    for place, result in enumerate(op.results):
        importer.bind_node_value(node, result, place)


def import_branches(importer, loc, node):
    """torch.cond, which the importer lacks, as the If of torch-mlir's dialect."""
    from torch_mlir import ir
    predicate, *branches, operands = node.args
    types = [importer._cc.value_info_to_type(value) for value in node.meta["val"]]
    with loc:
        condition = as_bool(importer, importer._import_argument(loc, predicate))
        values = [importer._import_argument(loc, operand) for operand in operands]
        choice = ir.Operation.create("torch.prim.If", results=types, operands=[condition], regions=2)
        for region, branch in zip(choice.regions, branches):
            with ir.InsertionPoint(ir.Block.create_at_start(region, [])):
                ir.Operation.create("torch.prim.If.yield", operands=call(importer, node, branch, values, types))
    bind(importer, node, choice)


def import_loop(importer, loc, node):
    """while_loop as the Loop of torch-mlir's dialect: the importer has it, but not with values that stay the same in all turns."""
    from torch_mlir import ir
    test, body, carried, kept = node.args
    types, cache = [importer._cc.value_info_to_type(value) for value in node.meta["val"]], importer._cc
    truth = ir.Type.parse("!torch.vtensor<[],i1>", context=importer._c)
    with loc:
        first, rest = ([importer._import_argument(loc, value) for value in values] for values in (carried, kept))
        goes_on = lambda values: as_bool(importer, call(importer, node, test, [*values, *rest], [truth])[0])
        most = ir.Operation.create("torch.constant.int", results=[cache.torch_int_type], attributes={"value": cache.integer_attr(2 ** 63 - 1, 64)})
        loop = ir.Operation.create("torch.prim.Loop", results=types, operands=[most.result, goes_on(first), *first], regions=1)
        block = ir.Block.create_at_start(loop.regions[0], [cache.torch_int_type, *types])
        with ir.InsertionPoint(block):
            following = call(importer, node, body, [*list(block.arguments)[1:], *rest], types)
            ir.Operation.create("torch.prim.Loop.condition", operands=[goes_on(following), *following])
    bind(importer, node, loop)


def import_graph(context, graph):
    """A module with the graph as @main; what the importer refuses is an error that names the op."""
    importer = named_importer(context)
    try:
        importer.import_graph_module(graph.owning_module, func_name="main")
    except (AssertionError, AttributeError, KeyError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        raise Error(f"torch-mlir does not import the model: {type(error).__name__}: {error}") from error
    return importer.module
