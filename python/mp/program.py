# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A converted model: its report and checks, and calls of it."""
import logging
import os
import re
import tempfile

from . import xla
from .arrays import HostArray, framework_for, host_array, with_sign
from .devices import ON_DEVICE, DeviceArray, adopt_host, as_tensor, is_on_device, stream_of
from .errors import Error
from .library import Context
from .report import Check, Comparison, Difference, Report

log = logging.getLogger("mp")
DEVICES = ("cpu", "emulator", "cuda")


def place(where, device, target):
    """Device and target that `to(where, device)` means, where `target` is the program's."""
    if where == "gpu":
        raise Error("'gpu' is no device: expected 'cuda', or a target such as 'sm_90a', whose kernels run on the emulator")
    if where not in DEVICES:
        if device not in (None, "emulator", "cuda"):
            raise Error(f"to({where!r}, device={device!r}): kernels of a target run on 'emulator' or 'cuda'; to('cpu') runs on the host")
        if device is None:
            log.info("%s: kernels run on the emulator; device='cuda' runs them on a GPU", where)
        return device or "emulator", where
    if device not in (None, where):
        raise Error(f"to({where!r}, device={device!r}) names two devices")
    return where, "native" if where == "cuda" else target


class Program:
    """A model converted by mp.convert, callable with the arguments of the original."""

    def __init__(self, source, original, module, report, options, example=None, device="cpu"):
        self.source, self.original, self.module, self.report = source, original, module, report
        self.options, self.example, self.device = options, example, device
        self.target = options.get("target") or "sm_80"
        self.pipeline = "mp-mixed-precision"
        signature = module.signature(source.entry)
        self.entry, self.inputs, self.outputs = signature["function"], signature["arguments"], signature["results"]
        self._compiled, self._bound, self._bound_on_device = None, None, None
        self.key = None  # of compiled code that calls it

    def __repr__(self):
        return f"<mp.Program {self.source.name}: {self.report.narrowed} of {self.report.contractions} contractions narrow, on {self.device}>"

    def __copy__(self):
        return self  # calls change nothing of it

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        raise Error("a Program is not pickled: .save(path) writes it, and mp.load(path) reads it, in another process, too")

    @property
    def mlir(self):
        """The converted model as text, with locations."""
        return self.module.print(locations=True)

    @property
    def diagnostics(self):
        """Warnings and remarks of the compiler so far."""
        return list(self.module.context.said)

    @property
    def parameters(self):
        """Values that every call passes, by name."""
        return {self.source.names.get(index, f"argument {index}"): value for index, value in self.source.bound.items()}

    def explain(self, where):
        """Tells the story of the ops of a layer ("blocks.0.attention"), of a line ("model.py:12"), or "@FUNCTION:ORDINAL"."""
        return self.original.clone().convert(self.pipeline, {**self.options, "explain": where}).print("explanation")

    def changes(self, earlier):
        """Tells what is decided otherwise than in an earlier report (or the Program that has it) of the same model."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "earlier.json")
            getattr(earlier, "report", earlier).save_json(path)
            text = self.original.clone().convert(self.pipeline, {**self.options, "against": path}).print("text")
        return text.partition(f"mp: against {path}: ")[2].strip()

    def check(self):
        """Whether the converted model is the original plus casts."""
        try:
            self.module.check_erasure(self.original)
            return Check(True)
        except Error as error:
            return Check(False, str(error), error.diagnostics)

    def to(self, where, device=None):
        """The same program elsewhere: "cpu", "emulator", "cuda", or a target ("sm_90a"), whose kernels run on the emulator
        unless device="cuda"."""
        where, target = place(where, device, self.target)
        moved = Program(self.source, self.original, self.module, self.report, self.options, self.example, where)
        moved.target, moved.pipeline = target, self.pipeline
        moved._executable()
        return moved

    def kernels(self, target=None, emit="ptx"):
        """Name -> image of the kernels for a target: PTX, cubin or fat binary."""
        module = self.module.clone()
        module.run("mp-to-nvvm", {"target": target or self.target, "emit": emit})
        return dict(module.images())

    def _executable(self):
        if self._compiled is None:
            options = {"device": self.device}
            if self.device != "cpu":
                options["target"] = self.target
            self._compiled = self.module.compile(self.entry, options)
        return self._compiled

    def _name(self, index, names):
        name = self.source.names.get(index) or names[index].get("name")
        return f"argument {index}" + (f" ('{name}')" if name else "")

    def _arguments(self, args, kwargs, signature):
        """HostArrays in the order of the function: bound values, and those of the call between them."""
        given = list(self.source.flatten(args, kwargs))
        wanted = [index for index in range(len(signature)) if index not in self.source.bound]
        if len(given) != len(wanted):
            raise Error(f"the program takes {len(wanted)} arguments, found {len(given)}")
        if self._bound is None:
            self._bound = {index: host_array(value, signature[index]["element"], self._name(index, signature))
                           for index, value in self.source.bound.items()}
        arrays = dict(self._bound)
        for index, value in zip(wanted, given):
            arrays[index] = host_array(value, signature[index]["element"], self._name(index, signature))
        return [arrays[index] for index in range(len(signature))]

    def upload(self, value):
        """An array in the memory of the program's device: calls read it where it lies, and give results there."""
        if self.device == "cpu":
            raise Error("the program runs on the cpu: there is nothing to upload; .to('sm_90a') or .to('cuda') first")
        self._executable()  # opens the device
        return DeviceArray.upload(host_array(value), self.device)

    def _call_on_device(self, given):
        """Results on the device, for arguments of which any lies there; bound values are uploaded once."""
        executable = self._executable()
        inputs = executable.signature["arguments"]
        if self._bound_on_device is None:
            self._bound_on_device = {index: self.upload(value) for index, value in self.source.bound.items()}
        values = dict(self._bound_on_device)
        wanted = [index for index in range(len(inputs)) if index not in values]
        if len(given) != len(wanted):
            raise Error(f"the program takes {len(wanted)} arguments, found {len(given)}")
        values.update(zip(wanted, given))
        tensors, owners = zip(*[as_tensor(values[index], inputs[index]["element"], self.device, self._name(index, inputs))
                                for index in range(len(inputs))])
        outputs = executable.signature["results"]
        results = executable.call(tensors, [ON_DEVICE] * len(outputs), stream_of(given))
        del owners
        arrays = [DeviceArray(tensor, spec["element"], self.device) if tensor.place == ON_DEVICE else adopt_host(tensor, spec["element"]).numpy()
                  for tensor, spec in zip(results, outputs)]
        if framework_for(given, "numpy") == "torch":
            import torch
            arrays = [torch.from_dlpack(array) if isinstance(array, DeviceArray) else torch.from_numpy(array) for array in arrays]
        return self.source.unflatten(arrays)

    def __call__(self, *args, **kwargs):
        given = list(self.source.flatten(args, kwargs))
        if any(map(xla.is_traced, given)):
            return self.source.unflatten(xla.call(self, given))
        if self.device != "cpu" and any(map(is_on_device, given)):
            return self._call_on_device(given)
        executable = self._executable()
        arguments = self._arguments(args, kwargs, executable.signature["arguments"])
        framework = framework_for(given, self.source.framework)
        results = executable.run(arguments)
        for result, (_, dtype) in zip(results, self.source.results):
            result.element = with_sign(result.element, dtype)
        return self.source.unflatten([result.to(framework) for result in results])

    def compare(self, reference="f64", inputs=None):
        """How far the results are from the original's, computed in f64 or as it is ("original")."""
        if reference not in ("f64", "original"):
            raise Error(f"reference is {reference!r}, expected 'f64' or 'original'")
        args, kwargs = self.example or (None, {}) if inputs is None else (tuple(inputs), {})
        if args is None:
            raise Error("compare needs inputs: compare(inputs=(x, ...)), or mp.convert(..., inputs=(x, ...))")
        executable = self._executable()
        other = self.original.compile(self.entry, {"f64": reference == "f64", "calls": 1})
        arrays = self._arguments(args, kwargs, self.inputs)
        found, expected = (program.run([taken(array, parameter["element"]) for array, parameter in zip(arrays, program.signature["arguments"])])
                           for program in (executable, other))
        floats = [(spec, a, b) for spec, a, b in zip(self.outputs, found, expected) if spec["element"][0] in "bf"]
        return Comparison(Difference(spec["name"] or f"result {index}", values(a), values(b)) for index, (spec, a, b) in enumerate(floats))

    def save(self, path):
        """One file: the model before and after, its report, bound values, and how it is called (mp.load reads it)."""
        from .saving import save
        save(self, os.fspath(path))


def values(array):
    """The numbers of a HostArray as numpy's floats."""
    import numpy as np
    if array.element == "bf16":
        return (array.patterns().astype(np.uint32) << 16).view(np.float32)
    return array.numpy().astype(np.float64)


def taken(array, element):
    """The array in the element type that a program takes: f64 of a reference; bf16 or f16, rounded, where a policy stores an argument so."""
    import numpy as np
    if array.element == element or element not in ("f64", "bf16", "f16"):
        return array
    if element != "bf16":
        return host_array(values(array).astype("float64" if element == "f64" else "float16"), element)
    bits = np.ascontiguousarray(values(array), np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16  # to nearest, ties to even
    patterns = np.where(np.isnan(values(array)), bits >> 16 | 0x40, rounded).astype(np.uint16)
    return HostArray(patterns.ctypes.data, "bf16", array.shape, patterns)


def convert_source(source, options, example=None, f64="keep"):
    """Parses and converts; what both conversions of the package share."""
    if f64 not in ("keep", "narrow"):
        raise Error(f"f64 is {f64!r}, expected 'keep' or 'narrow'")
    original = Context().parse(source.text, source.name, source.imports)
    text = source.text if isinstance(source.text, str) else source.text.decode("latin-1")
    if "@global_seed" in text:  # where torch-mlir keeps the state of its generator
        log.warning("the model draws random numbers, as dropout does in training: not those that torch draws, whatever its seed; "
                    ".eval() leaves dropout out")
    if source.prepare:
        original.run(source.prepare)
    if f64 == "narrow":
        original.run("mp-narrow-doubles")
        original.run("canonicalize")
    elif re.search(r"\b(arith\.extf|tosa\.cast) .*f64\b", text):
        log.info("the graph computes in f64 what it widened from less, as torch-mlir does variances; "
                 "mp.convert(..., f64='narrow') computes it in f32")
    module = original.clone()
    report = Report.of(module.convert("mp-mixed-precision", options))
    for diagnostic in module.context.said:
        log.log(logging.WARNING if diagnostic.severity == "warning" else logging.DEBUG, "%s", diagnostic)
    return Program(source, original, module, report, options, example)
