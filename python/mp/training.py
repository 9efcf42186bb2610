# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mp.train_step: a whole train step, converted, that keeps its state between calls."""
import shutil
import weakref

from .arrays import framework_for, host_array
from .convert import conversion_options, make_policy
from .errors import Error
from .frontends import read_model
from .library import Context
from .program import Program
from .report import Report


class TrainStep:
    """Called with a batch: replaces the state by the next one, and gives the other results.

    `state` is a dict of name -> array, those that mp appended (the loss scale) among them; assign to restart from
    a checkpoint.
    """

    def __init__(self, program, state, batch_places):
        self.program, self._state, self._places = program, state, batch_places
        self.names = {index: program.source.names.get(index) or program.inputs[index]["name"] or f"argument {index}" for index in state}
        self.next = {parameter["state"]: index for index, parameter in enumerate(program.inputs) if "state" in parameter}

    @property
    def report(self):
        return self.program.report

    @property
    def state(self):
        return {self.names[index]: array.numpy() for index, array in self._state.items()}

    @state.setter
    def state(self, values):
        places = {name: index for index, name in self.names.items()}
        if unknown := set(values) - set(places):
            raise Error(f"no state '{sorted(unknown)[0]}'; known: {', '.join(places)}")
        for name, value in values.items():
            array = host_array(value, self.program.inputs[places[name]]["element"], name)
            self._state[places[name]] = host_array(array.numpy().copy(), array.element)

    def __call__(self, *batch):
        if len(batch) != len(self._places):
            raise Error(f"the step takes a batch of {len(self._places)} arrays, found {len(batch)}")
        executable = self.program._executable()
        inputs = executable.signature["arguments"]
        arrays = dict(self._state)
        for index, value in zip(self._places, batch):
            arrays[index] = host_array(value, inputs[index]["element"], self.program._name(index, inputs))
        results = executable.run([arrays[index] for index in range(len(inputs))])
        self._state = {index: results[result] for result, index in self.next.items()}
        framework = framework_for(batch, self.program.source.framework)
        rest = [result.to(framework) for place, result in enumerate(results) if place not in self.next]
        return rest[0] if len(rest) == 1 else tuple(rest)


def first_state(module, name, inputs, arrays):
    """Appended state starts as @NAME_init says."""
    appended = [index for index in range(len(inputs)) if index not in arrays and "state" in inputs[index]]
    if not appended:
        return {}
    values = module.compile(f"{name}_init", {"device": "cpu", "calls": 1}).run([])
    if len(values) < len(appended):
        raise Error(f"@{name}_init gives {len(values)} values, expected {len(appended)}")
    return dict(zip(appended, values[:len(appended)]))


def train_step(step, state, batch, *, format=None, target=None, loss_scale="auto", master="keep", moments="keep", policy="training",
               keep=(), options=None, entry=None):
    """Converts a whole train step (forward, backward, optimizer) and returns it as a TrainStep.

    step: a function step(*state, *batch) of JAX arrays or, over torch.func, of torch's tensors, or a path or text of MLIR, whose results hold the next state.
        The results that replace arguments are found in the graph (docs/guides/Training.md).
    state, batch: the first state and an example batch, tuples of arrays or pytrees.
    loss_scale: "auto", "torch", "none", ... as mp-train-step takes them; so are master and moments.
    """
    source = read_model(step, (*state, *batch), {})
    source.entry = entry or source.entry
    given = conversion_options(format, target, None, {"loss-scale": loss_scale, "master": master, "moments": moments, **(options or {})})
    path, folder = make_policy(policy, keep, given.get("format"), given.get("target"))
    if path is not None:
        given["policy"] = path
    original = Context().parse(source.text, source.name, source.imports)
    module = original.clone()
    report = Report.of(module.convert("mp-train-step", given))
    program = Program(source, original, module, report, given)
    program.pipeline = "mp-train-step"
    if folder:
        weakref.finalize(program, shutil.rmtree, folder, True)
    leaves = source.flatten((*state, *batch), {})
    if len(leaves) > len(program.inputs):
        raise Error(f"state and batch have {len(leaves)} arrays, but the step takes {len(program.inputs)}")
    places = [index for index in range(len(leaves)) if "state" not in program.inputs[index]]
    count = len(source.flatten(tuple(state), {})) if source.framework == "numpy" else len(leaves) - len(places)
    if count != len(leaves) - len(places):
        raise Error(f"{len(leaves) - len(places)} of the arguments are replaced by results, but the state has {count} arrays; "
                    "give what stays the same as part of the batch")
    first = {}
    for index in set(range(len(leaves))) - set(places):
        array = host_array(leaves[index], program.inputs[index]["element"], program._name(index, program.inputs))
        first[index] = host_array(array.numpy().copy(), array.element)
    first.update(first_state(module, program.entry, program.inputs, {**dict.fromkeys(range(len(leaves))), **first}))
    return TrainStep(program, dict(sorted(first.items())), places)
