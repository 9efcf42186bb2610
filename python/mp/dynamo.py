# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.compile(model, backend="mp"): each graph that torch finds is converted; what cannot be lowered runs as it is, said so."""
import contextlib
import hashlib
import itertools
import json
import logging
import re

from .arrays import host_array, with_sign
from .convert import check_request, conversion_options
from .errors import Error
from .frontends import pytorch
from .frontends.decompositions import decomposition_table
from .frontends.programs import require
from .program import convert_source
from .source import Source

log = logging.getLogger("mp")
OPTIONS = {"format", "target", "max_rel_error", "options"}
#: Programs by text and options: the same graph is converted once.
_cache = {}
_numbers = itertools.count()
#: What became of each graph: (number, Program or None, reason).
graphs = []


def backend(module, example_inputs, options=None, **more):
    """A backend of torch.compile; options={"format": "f16", "target": "sm_90a", ...} are those of mp.convert."""
    require('torch.compile(backend="mp")', "torch", "torch_mlir")
    from torch._dynamo.backends.common import aot_autograd
    given = {**(options or {}), **more}
    if unknown := sorted(set(given) - OPTIONS):
        raise Error(f"torch.compile(backend=\"mp\") has no option '{unknown[0]}', expected {', '.join(sorted(OPTIONS))}")
    check_request(**given)

    def compiler(graph, inputs):
        return compile_graph(graph, given)

    traced = aot_autograd(fw_compiler=compiler, bw_compiler=compiler, inference_compiler=compiler,
                          decompositions=decomposition_table())
    from torch.nn.attention import SDPBackend, sdpa_kernel
    with contextlib.ExitStack() as stack:
        stack.enter_context(without_onednn())  # which has an op of its own for a whole recurrent layer
        if needs_gradients(example_inputs):
            stack.enter_context(sdpa_kernel(SDPBackend.MATH))  # others have a backward of their own, which torch-mlir does not know
        return traced(module, example_inputs)


def allow_recurrent_layers():
    """torch leaves nn.LSTM, nn.GRU and nn.RNN out of its graphs, where no backend hears of them, unless told otherwise before it traces."""
    try:
        from torch._dynamo import config
    except ImportError:
        return
    if hasattr(config, "allow_rnn"):
        config.allow_rnn = True


allow_recurrent_layers()


@contextlib.contextmanager
def without_onednn():
    from torch.backends import mkldnn
    was, mkldnn.enabled = mkldnn.enabled, False
    try:
        yield
    finally:
        mkldnn.enabled = was


def needs_gradients(inputs):
    import torch
    return torch.is_grad_enabled() and any(isinstance(value, torch.Tensor) and value.requires_grad for value in inputs)


def first_reason(error):
    """The op that an error names, or its line that says most."""
    if op := re.search(r"failed to legalize operation [\s\S]*?name = \"(torch\.[\w.]+)\"|failed to legalize operation '(torch\.[\w.]+)'", str(error)):
        return f"torch-mlir does not lower {op[1] or op[2]}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    named = [line for line in lines if re.search(r"torch\.|aten|unsupported|failed to legalize", line)]
    return (named or lines or [type(error).__name__])[0].rpartition(" error: ")[2][:200]


def compile_graph(module, given):
    from functorch.compile import make_boxed_func
    from torch.fx import Node
    number = next(_numbers)
    try:
        graph, given_back = pytorch.tensors_only(module)
        names = [(node.target, False) for node in graph.nodes if node.op == "placeholder"]
        program = convert_graph(pytorch.lower_graph(graph, names), given)
    except (Error, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        reason = first_reason(error)
        log.warning("graph %d runs in torch, not in mp: %s (TORCH_LOGS=graph_code shows the graph)", number, reason)
        graphs.append((number, None, reason))
        return make_boxed_func(module.forward)
    graphs.append((number, program, ""))
    log.info("graph %d: %s", number, program.report.text.splitlines()[0])
    executable = program._executable()
    inputs = executable.signature["arguments"]
    dtypes = [pytorch.sizes_and_dtype(result.meta.get("val"))[1] for result in given_back if isinstance(result, Node)]

    def run(*arguments):
        arrays = [host_array(value, parameter["element"], parameter["name"]) for value, parameter in zip(arguments, inputs)]
        found = executable.run(arrays)
        for array, dtype in zip(found, dtypes):
            array.element = with_sign(array.element, dtype)
        found = iter(found)
        return [next(found).torch() if isinstance(result, Node) else result for result in given_back]

    return make_boxed_func(run)


def convert_graph(text, given):
    options = conversion_options(given.get("format"), given.get("target"), given.get("max_rel_error"), given.get("options"))
    key = hashlib.sha256((text + json.dumps(options, sort_keys=True)).encode()).hexdigest()
    if key not in _cache:
        _cache[key] = convert_source(Source(text, "graph.torch", "main"), options, f64="narrow")
    return _cache[key]
