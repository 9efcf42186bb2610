# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How calls of a traced PyTorch model become the arguments of its graph, and results what the model gives."""
import inspect
import re

from ..errors import Error


def is_constant(argument):
    """Whether torch.export took the value of an argument or result, not a place for values."""
    return type(argument).__name__ == "ConstantArgument"


def parameters_of(function):
    """Its parameters; none where it does not say."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def names_by_place(parameters):
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [parameter.name for parameter in parameters if parameter.kind in kinds]


def name_of(path):
    """"hidden.0" of ".hidden[0]", "d.w" of "d['w']"."""
    return re.sub(r"\[['\"]?([^\]'\"]+)['\"]?\]", r".\1", path).strip(".")


class Calls:
    """in_spec, out_spec: torch's trees of (args, kwargs) and of what the model gives. inputs: (what torch.export calls an argument, a
    tensor of its sizes or None) of each leaf; outputs likewise. names: those of what the example gave by position, where they are known.
    parameters: those of the model's own function, where they are known."""

    def __init__(self, in_spec, out_spec, inputs, outputs, names=(), parameters=(), ranges=None):
        self.in_spec, self.out_spec, self.inputs, self.outputs, self.ranges = in_spec, out_spec, inputs, outputs, ranges or {}
        positional, keywords = in_spec.children()
        count = positional.num_children
        self.order = list(names)[:count] or [f"argument {index}" for index in range(count)]
        self.order += names_by_place(parameters)[count:]
        self.names = self.order[:count] + list(keywords.context)
        self.defaults = {parameter.name: parameter.default for parameter in parameters if parameter.default is not parameter.empty}

    @classmethod
    def of(cls, program, parameters=()):
        """Of a torch.export.ExportedProgram."""
        signature, called = program.graph_signature, program.module_call_graph[0].signature
        values = {node.name: node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"}
        inputs = [(spec.arg, values.get(spec.arg.name)) for spec in signature.input_specs if spec.kind.name == "USER_INPUT"]
        outputs = [spec.arg for spec in signature.output_specs if spec.kind.name == "USER_OUTPUT"]
        names = called.forward_arg_names if called else None
        return cls(program.call_spec.in_spec, program.call_spec.out_spec, inputs, outputs, names or (), parameters, program.range_constraints)

    def _named(self, args, kwargs):
        """Each argument of a call by its name."""
        if len(args) > len(self.order):
            raise Error(f"the program takes {len(self.order)} arguments by position ({', '.join(self.order)}), found {len(args)}")
        given = dict(zip(self.order, args))
        if twice := [name for name in kwargs if name in given]:
            raise Error(f"argument '{twice[0]}' is given twice, by position and by name")
        given.update(kwargs)
        unknown = [name for name, value in given.items() if name not in self.names and not (
            name in self.defaults and is_same(value, self.defaults[name]))]
        if unknown:
            raise Error(f"no argument '{unknown[0]}': the model was converted with {', '.join(self.names) or 'none'}")
        if missing := [name for name in self.names if name not in given and name not in self.defaults]:
            raise Error(f"argument '{missing[0]}' is missing: the model was converted with {', '.join(self.names)}")
        return {**self.defaults, **given}

    def flatten(self, args, kwargs):
        """Values of the graph's arguments, in order; what decided the graph must be what it was."""
        given, count = self._named(args, kwargs), self.in_spec.children()[0].num_children
        values = [given[name] for name in self.names]
        try:
            leaves = self.in_spec.flatten_up_to((tuple(values[:count]), dict(zip(self.names[count:], values[count:]))))
        except ValueError as error:
            raise Error(f"the arguments have another structure than those that the model was converted with: {error}") from None
        for (argument, _), leaf in zip(self.inputs, leaves):
            if is_constant(argument) and not is_same(leaf, argument.value):
                raise Error(f"argument '{argument.name}' was {argument.value!r} when the model was converted, which decided its graph; "
                            f"found {describe(leaf)}: convert the model with that")
        self._check_sizes(leaves)
        return [leaf for (argument, _), leaf in zip(self.inputs, leaves) if not is_constant(argument)]

    def _check_sizes(self, leaves):
        """Sizes that vary: the same where the model says so, and within its limits. Below 2, torch does not check, either."""
        met = [(f"{argument.name}: size {place}", size.node.expr, found) for (argument, value), leaf in zip(self.inputs, leaves)
               for place, (size, found) in enumerate(zip(getattr(value, "shape", ()), getattr(leaf, "shape", ()))) if hasattr(size, "node")]
        known = {}
        for _, expression, found in met:
            if expression.is_symbol:
                known.setdefault(expression, found)
        for what, expression, found in met:
            expected = expression.subs(known)
            if expected.is_number and int(expected) != found:
                raise Error(f"{what} is {found}, expected {int(expected)}, as other sizes of the call say")
            limits = self.ranges.get(expression)
            if limits is not None and not (found <= limits.upper and (limits.lower <= 2 or limits.lower <= found)):
                raise Error(f"{what} is {found}, expected {limits.lower} to {limits.upper}, as the model was converted")

    def unflatten(self, results):
        """What the model gives, of the results of the graph."""
        from torch.utils import _pytree as pytree
        found = iter(results)
        leaves = [argument.value if is_constant(argument) else next(found) for argument in self.outputs]
        return pytree.tree_unflatten(leaves, self.out_spec)

    def result_names(self):
        """"logits", "hidden.0", ...: where each result of the graph is in what the model gives; empty for what is only counted."""
        from torch.utils import _pytree as pytree
        tree = pytree.tree_unflatten(list(range(len(self.outputs))), self.out_spec)
        paths = [(pytree.keystr(path), place) for path, place in pytree.tree_flatten_with_path(tree)[0]]
        names = [name_of(path) for path, place in paths if not is_constant(self.outputs[place])]
        return ["" if name.isdecimal() else name for name in names]


def is_same(value, constant):
    return value is constant or (type(value) is type(constant) and value == constant)


def describe(value):
    return repr(value) if isinstance(value, (bool, int, float, str, type(None))) else f"a {type(value).__name__}"
