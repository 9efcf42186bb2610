# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A train step of a perceptron on the digits of the repository, with a rate and faults that are arguments. Needs no package."""
import json
import pathlib
import random
import re
import struct
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
BATCH, PIXELS = 24, 64


def read_npy(path):
    """Values of a float32 or int64 file."""
    content = path.read_bytes()
    start = 10 + struct.unpack("<H", content[8:10])[0]
    kind = "f" if b"<f4" in content[:start] else "q"
    return struct.unpack(f"<{(len(content) - start) // struct.calcsize('<' + kind)}{kind}", content[start:])


def write_npy(path, kind, shape, values):
    head = str({"descr": f"<{kind}{4 if kind == 'f' else 8}", "fortran_order": False, "shape": shape})
    head = head.ljust((len(head) + 11 + 63) // 64 * 64 - 11) + "\n"
    body = struct.pack(f"<{len(values)}{'f' if kind == 'f' else 'q'}", *values)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + body)


def run(*command, status=(0,)):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode not in status:
        raise SystemExit(f"{' '.join(map(str, command))}\nstatus {done.returncode}\n{done.stdout[-1500:]}{done.stderr[:3000]}")
    return done


CONTRACTION = re.compile(r"^( *)(%\S+) = linalg\.(\w+)(.*?) ins\((%[\w.]+), (%[\w.]+) : (tensor<\S+>), (tensor<\S+>)\) "
                         r"outs\((%[\w.]+) : (tensor<\S+>)\) -> tensor<\S+>$")


def is_contraction(line):
    found = CONTRACTION.match(line)
    return found if found and found[3] in ("matmul", "batch_matmul", "conv_2d_nchw_fchw") else None


def contractions(text):
    """Numbers of the lines that contract."""
    return [number for number, line in enumerate(text.splitlines()) if is_contraction(line)]


def elementwise(result, operands, kind, body):
    """A generic over operands of one tensor type; %plant_x and %plant_y are their elements, %r what is yielded."""
    rank = kind.count("x")
    dims = ", ".join(f"d{i}" for i in range(rank))
    map_ = f"affine_map<({dims}) -> ({dims})>"
    elements = ", ".join(f"%plant_{name}: f32" for name, _ in zip("xy", operands))
    empty = f"%empty_{result[1:]}"
    parallel = ", ".join(['"parallel"'] * rank)
    return [f"    {empty} = tensor.empty() : {kind}",
            f"    {result} = linalg.generic {{indexing_maps = [{', '.join([map_] * (len(operands) + 1))}], iterator_types = "
            f"[{parallel}]}} ins({', '.join(operands)} : {', '.join([kind] * len(operands))}) outs({empty} : {kind}) {{",
            f"    ^bb0({elements}, %plant_o: f32):", f"      {body}", "      linalg.yield %r : f32", f"    }} -> {kind}"]


def as_value(number, tag, out):
    """The name of an f32 value: the one given, or a constant that is written to `out`."""
    if isinstance(number, str):
        return number
    out.append(f"    {tag}f = arith.constant {number:e} : f32")
    return tag + "f"


def plant_range(text, lines, factor):
    """Multiplies what the contractions read first by `factor`, an f32 value or a power of two, and divides what they make: the
    same in f32, but f16 overflows or flushes there, and nowhere else."""
    out = []
    for number, line in enumerate(text.splitlines()):
        if number not in lines:
            out.append(line)
            continue
        found = is_contraction(line)
        indent, result, op, rest, a, b, kind_a, kind_b, init, kind = found.groups()
        tag = f"%plant{number}"
        value = as_value(factor, tag, out)
        out += elementwise(tag + "s", [a], kind_a, f"%r = arith.mulf %plant_x, {value} : f32")
        # The start of the sum is no product: it is added behind.
        zero = tag + "z"
        out += [f"    {tag}c = arith.constant 0.0 : f32", f"    {zero}e = tensor.empty() : {kind}",
                f"    {zero} = linalg.fill ins({tag}c : f32) outs({zero}e : {kind}) -> {kind}",
                f"{indent}{tag}r = linalg.{op}{rest} ins({tag}s, {b} : {kind_a}, {kind_b}) outs({zero} : {kind}) -> {kind}"]
        out += elementwise(tag + "d", [tag + "r"], kind, f"%r = arith.divf %plant_x, {value} : f32")
        out += elementwise(result, [tag + "d", init], kind, "%r = arith.addf %plant_x, %plant_y : f32")
    return "\n".join(out) + "\n"


def plant_offset(text, lines, offset):
    """Adds `offset` to what the contractions read first, and takes its product with the sums of the other factor out of what they
    make: the same but for the last bits in f32, and lost digits in a format that cannot hold both."""
    out = []
    for number, line in enumerate(text.splitlines()):
        if number not in lines:
            out.append(line)
            continue
        indent, result, op, rest, a, b, kind_a, kind_b, init, kind = is_contraction(line).groups()
        tag = f"%plant{number}"
        value = as_value(offset, tag, out)
        out += elementwise(tag + "s", [a], kind_a, f"%r = arith.addf %plant_x, {value} : f32")
        out.append(f"{indent}{tag}r = linalg.{op}{rest} ins({tag}s, {b} : {kind_a}, {kind_b}) outs({init} : {kind}) -> {kind}")
        # The sums of the other factor over what is summed over, in the shape of the result.
        sizes = re.findall(r"\d+", kind_b.split("xf32")[0].split("<")[1])
        reduced, kept, axis = {"matmul": ([0], [1], [1]), "batch_matmul": ([1], [0, 2], [0, 2]),
                               "conv_2d_nchw_fchw": ([1, 2, 3], [0], [1])}[op]
        sums = f"tensor<{'x'.join(sizes[d] for d in kept)}xf32>"
        rank = kind.count("x")
        fixed = [d for d in range(rank) if d not in axis]
        out += [f"    {tag}c = arith.constant 0.0 : f32", f"    {tag}ue = tensor.empty() : {sums}",
                f"    {tag}u0 = linalg.fill ins({tag}c : f32) outs({tag}ue : {sums}) -> {sums}",
                f"    {tag}u = linalg.reduce ins({b} : {kind_b}) outs({tag}u0 : {sums}) dimensions = [{', '.join(map(str, reduced))}]",
                "      (%plant_x: f32, %plant_o: f32) {", "        %r = arith.addf %plant_x, %plant_o : f32", "        linalg.yield %r : f32", "      }",
                f"    {tag}we = tensor.empty() : {kind}",
                f"    {tag}w = linalg.broadcast ins({tag}u : {sums}) outs({tag}we : {kind}) dimensions = [{', '.join(map(str, fixed))}]"]
        out += elementwise(tag + "m", [tag + "w"], kind, f"%r = arith.mulf %plant_x, {value} : f32")
        out += elementwise(result, [tag + "r", tag + "m"], kind, "%r = arith.subf %plant_x, %plant_y : f32")
    return "\n".join(out) + "\n"


def with_fault(text):
    """A first argument whose element %faultx is: what a fault is planted with, unknown to the compiler."""
    return re.sub(r"(func.func @main\()(.*)\n", r'\1%fault: tensor<1xf32> loc("fault"), \2\n    %first = arith.constant 0 : index\n'
                  r"    %faultx = tensor.extract %fault[%first] : tensor<1xf32>\n", text)


class Digits:
    """A step and its data, in a folder: `rates` and `faults` are functions of the step."""

    def __init__(self, folder, steps, rates=lambda step: 0.02, faults=lambda step: 1.0, spoil=lambda step: 1.0, plant=None,
                 kind=plant_range, without=()):
        self.folder, self.steps = pathlib.Path(folder), steps
        self.folder.mkdir(parents=True, exist_ok=True)
        text = run("mp-gen", "digits", "--train=momentum", f"--batch={BATCH}").stdout
        text = re.sub(r"(%labels: tensor<\w+> loc\(\"labels\"\))", r'\1, %rate: tensor<1xf32> loc("rate"), %fault: tensor<1xf32> loc("fault")', text)
        rate = re.search(r"( *)(%\w+) = arith.constant 2.000000e-02 : f32\n", text)
        text = text.replace(rate[0], f"    %first = arith.constant 0 : index\n    {rate[2]} = tensor.extract %rate[%first] : tensor<1xf32>\n"
                                     "    %faultx = tensor.extract %fault[%first] : tensor<1xf32>\n")
        if plant is not None:
            text = kind(text, [contractions(text)[plant]], "%faultx")
        self.step = self.folder / "step.mlir"
        self.step.write_text(text)
        images, labels = (read_npy(ROOT / "test/Models/Inputs" / f"digits-{name}.npy") for name in ("images", "labels"))
        order, source = [], random.Random(1)
        while len(order) < steps * BATCH:
            epoch = list(range(len(labels)))
            source.shuffle(epoch)
            order += epoch
        kept = [step for step in range(steps) if step not in without]
        rows = [(step, order[step * BATCH + i]) for step in kept for i in range(BATCH)]
        write_npy(self.folder / "images.npy", "f", (len(rows), PIXELS),
                  [x * spoil(step) for step, row in rows for x in images[row * PIXELS:(row + 1) * PIXELS]])
        write_npy(self.folder / "labels.npy", "i", (len(rows),), [labels[row] for _, row in rows])
        write_npy(self.folder / "rates.npy", "f", (len(kept),), [rates(step) for step in kept])
        write_npy(self.folder / "faults.npy", "f", (len(kept),), [faults(step) for step in kept])
        self.steps = len(kept)

    def inputs(self):
        """For mp-run, in the order of the arguments."""
        signature = re.search(r"func.func @main\((.*)\) ->", self.step.read_text())[1]
        files = {"images": "images", "labels": "labels", "rate": "rates", "fault": "faults"}
        words = []
        for name in re.findall(r'loc\("([^"]+)"\)', signature):
            kind = re.search(rf'%{re.escape(name)}: (tensor<\S+>) loc', signature)[1]
            zero = f"{kind[7:-1]}=0"
            words.append(f"--input=batches:@{self.folder}/{files[name]}.npy" if name in files else
                         f"--input={zero}" if name.startswith("m.") or name.endswith("bias") else "--input=seed")
        return words

    def convert(self, options, probes="casts", *more):
        """Converts the step with probes of its gradients, and of what is asked for besides."""
        out = self.folder / "watched.mlir"
        chosen = [f"--mp-insert-probes=select={probes}"] if probes else []
        run("mp-opt", self.step, f"--mp-train-step={options} probe-gradients=true table=false", *chosen, *more, "-o", out)
        return out

    def watch(self, options, probes="casts"):
        """Trains, and returns the alerts by rule."""
        log = self.folder / "log.jsonl"
        run("mp-run", self.convert(options, probes), f"--steps={self.steps}", "--seed=1", *self.inputs(), f"--monitor={log}",
            f"--log-every={self.steps}")
        return alerts_of(log)


def alerts_of(log):
    """Alerts of a run by rule, each with those of its places, the first told first."""
    alerts = {}
    for alert in json.loads(log.read_text().splitlines()[-1])["alerts"]:
        alerts.setdefault(alert["rule"], []).append(alert)
    return {rule: sorted(places, key=lambda alert: alert["step"]) for rule, places in alerts.items()}
