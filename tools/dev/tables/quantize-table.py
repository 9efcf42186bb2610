#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantises small networks that were trained on real data, after training and in training, and prints one table.

usage: quantize-table.py [--only=NAME,...] [--rows=REGEX] [--steps=N] [--keep=FOLDER]

Needs mp-opt, mp-gen and mp-run on PATH, numpy and scikit-learn. Networks, data and steps are those of train-table.py.
*after*: the f32 network as trained, its forward pass converted by a recipe. *trained*: its weights trained on for as many
steps, with mp-insert-fake-quantize in the train step and the optimizer anew; f32, trained on likewise, is a row as well. What is
tested is the integer graph (mp-quantize-trained) with the weights and steps trained, which mp-check-erasure has proved to
have the bits of the graph that was trained. *2:4*: mp-prune. *by data*: mp-run --calibrate on the rows trained on. --keep
leaves weights and data of the f32 row for quantize-torch.py. Columns: what was held out, its distance from f32.
"""
import argparse
import importlib.util
import pathlib
import re
import sys
import tempfile

import numpy

spec = importlib.util.spec_from_file_location("train_table", pathlib.Path(__file__).with_name("train-table.py"))
table = importlib.util.module_from_spec(spec)
spec.loader.exec_module(table)
run = table.run

ROWS = [
    ("f32", None, None),
    ("f32 trained on", "train", ""),
    ("int8 after", "recipe", "int8"),
    ("int8 weights after", "recipe", "int8-weights"),
    ("int4 weights after", "recipe", "int4-weights"),
    ("int8 weights by data", "codes", "i8,mse,layers,means"),
    ("int4 weights by data", "codes", "i4:16,mse,layers,means"),
    ("int8 weights, targets", "codes", "i8,mse,targets,means,descent"),
    ("int4 weights, targets", "codes", "i4:16,mse,targets,means,descent"),
    ("int4 in 8s, targets", "codes", "i4:8,mse,targets,means,descent"),
    ("8-bit trained", "fake", "weights=i8 activations=i8"),
    ("4-bit weights trained", "fake", "weights=i4 activations=i8"),
    ("4-bit trained", "fake", "weights=i4 activations=i4 steps=learned"),
    ("2-bit weights trained", "fake", "weights=i2 activations=i4 steps=learned"),
    ("2:4 after", "prune", None),
    ("2:4 by data", "sparse", None),
    ("2:4 trained", "prune", "mask=magnitude"),
    ("2:4 trained, mask fixed", "prune", "mask=fixed"),
    ("E4M3 trained", "fake", "weights=f8E4M3FN activations=f8E4M3FN"),
    ("E2M1 trained", "fake", "weights=f4E2M1FN activations=f4E2M1FN"),
]


def signature(path):
    """Names and types of the arguments of @main, and the number of its results."""
    text = path.read_text()
    head = re.search(r"func.func @main\((.*?)\) -> (.*?) attributes|func.func @main\((.*?)\) -> (.*?) {\n", text)
    arguments = head[1] or head[3]
    return arguments, (head[2] or head[4]).count("tensor<")


def with_constants(forward, weights, path):
    """The forward pass with these weights inside."""
    text = forward.read_text()
    head = re.search(r"func.func @main\((.*?)\) ->", text)[1]
    arguments = re.findall(r'(%[\w.]+): (tensor<[^>]*>)(?: \{[^}]*\})? loc\("([^"]+)"\)', head)
    rest, kept, constants = iter(weights), [], []
    for value, kind, name in arguments:
        if "." in name:
            data = numpy.load(next(rest)).astype("<f4").tobytes().hex().upper()
            constants.append(f'    {value} = arith.constant dense<"0x{data}"> : {kind}\n')
        else:
            kept.append(f"{value}: {kind}")
    begin = text.index("\n", text.index("func.func @main")) + 1
    first = text[text.index("func.func @main"):begin].replace(head, ", ".join(kept))
    path.write_text(text[:text.index("func.func @main")] + first + "".join(constants) + text[begin:])


def train(folder, step, steps, inputs, data, count):
    """The values of all results after training; the parameters come first."""
    outputs = [folder / f"w{i}.npy" for i in range(signature(step)[1])]
    run("mp-run", step, f"--steps={steps}", f"--log-every={steps}", *inputs, *data, *[f"--output=@{path}" for path in outputs])
    return outputs[:count], outputs


def steps_trained(step, outputs):
    """Results that replace what mp-insert-fake-quantize appended: the last arguments, each of them state."""
    text = step.read_text()
    body = re.search(r"func.func @main_init\(\) -> (\(.*?\)|tensor<\S+>) attributes", text)
    return outputs[-body[1].count("tensor<"):]


def keep(folder, weights, rows, held, labels):
    folder.mkdir(parents=True, exist_ok=True)
    for index, path in enumerate(weights):
        numpy.save(folder / f"w{index:03}.npy", numpy.load(path))
    for name, array in (("rows", rows), ("held", held), ("labels", labels)):
        numpy.save(folder / f"{name}.npy", array)


def quantise(network, options):
    model, training_options, steps, batch, load, measure = table.NETWORKS[network]
    steps = min(steps, options.steps or steps)
    training, (held, labels) = load()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        step, forward = folder / "step.mlir", folder / "forward.mlir"
        run("mp-gen", *model.split(), *training_options.split(), f"--batch={batch}", "-o", step)
        run("mp-gen", *model.split(), "--weights=args", f"--batch={len(held)}", "-o", forward)
        inputs, parameters = table.first_weights(folder, step)
        data = table.batches(folder, training)
        numpy.save(folder / "held.npy", held)
        print(f"{network}: {model.split()[0]} {training_options}, {steps} steps of {batch}", flush=True)
        run("mp-opt", step, "--mp-annotate-roles", "-o", folder / "annotated.mlir")
        (folder / "f32").mkdir()
        plain, _ = train(folder / "f32", folder / "annotated.mlir", steps, inputs, data, len(parameters))
        if options.keep:
            keep(options.keep / network, plain, training[0], held, labels)
        for label, kind, words in ROWS:
            if not re.search(options.rows, label):
                continue
            program, weights, appended = forward, plain, []
            start = [f"--input=@{path}" for path in plain] + inputs[len(parameters):]
            if kind == "train":
                weights, _ = train(folder, folder / "annotated.mlir", steps, start, data, len(parameters))
            if kind == "prune":
                program, sparse = folder / "sparse.mlir", folder / "sparse-step.mlir"
                run("mp-opt", forward, "--mp-prune", "-o", program)
                if words:
                    run("mp-opt", step, f"--mp-prune=train=true {words}", "-o", sparse)
                    weights, _ = train(folder, sparse, steps, start, data, len(parameters))
            if kind == "recipe":
                program = folder / "converted.mlir"
                run("mp-opt", forward, f"--mp-mixed-precision=recipe={words} target=sm_80", "-o", program)
            if kind == "codes":
                constants, program = folder / "constants.mlir", folder / "codes.mlir"
                with_constants(forward, plain, constants)
                numpy.save(folder / "rows.npy", training[0])
                run("mp-run", constants, f"--calibrate=@{folder / 'rows.npy'}", f"--round-weights={program}", f"--weight-codes={words}")
                run("mp-run", program, f"--input=@{folder / 'held.npy'}", f"--output=@{folder / 'logits.npy'}")
            if kind == "sparse":
                constants, program = folder / "constants.mlir", folder / "pruned.mlir"
                with_constants(forward, plain, constants)
                numpy.save(folder / "rows.npy", training[0])
                run("mp-run", constants, f"--calibrate=@{folder / 'rows.npy'}", f"--prune={program}")
                run("mp-run", program, f"--input=@{folder / 'held.npy'}", f"--output=@{folder / 'logits.npy'}")
            if kind == "fake":
                fake, forward_fake, program = folder / "fake.mlir", folder / "forward-fake.mlir", folder / "integers.mlir"
                run("mp-opt", step, f"--mp-insert-fake-quantize=train=true {words}", "-o", fake)
                weights, outputs = train(folder, fake, steps, start, data, len(parameters))
                appended = [f"--input=@{path}" for path in steps_trained(fake, outputs)]
                run("mp-opt", forward, f"--mp-insert-fake-quantize={words}", "-o", forward_fake)
                run("mp-opt", forward_fake, "--mp-quantize-trained", "-o", program)
                run("mp-opt", program, f"--mp-check-erasure=original={forward_fake}", "-o", folder / "checked.mlir")
            values = [f"--input=@{path}" for path in weights]
            if kind not in ("codes", "sparse"):
                run("mp-run", program, *table.in_order(forward, values, folder / "held.npy"), *appended, f"--output=@{folder / 'logits.npy'}")
            found = measure(numpy.load(folder / "logits.npy"), labels)
            if label == "f32":
                reference = found
            number = lambda text: float(text.split()[0].rstrip("%"))
            print(f"  {label:24} {found:>8} {number(found) - number(reference):+8.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="mlp,cnn,gpt")
    parser.add_argument("--rows", default="", help="rows whose name matches; f32 is trained anyway")
    parser.add_argument("--steps", type=int, default=0, help="at most so many")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for weights and data of the f32 row")
    options = parser.parse_args()
    options.rows = f"^f32$|{options.rows}"
    print(f"  {'':24} {'held out':>8} {'to f32':>8}")
    for network in options.only.split(","):
        if network not in table.NETWORKS:
            sys.exit(f"--only={network}: expected some of {', '.join(table.NETWORKS)}")
        quantise(network, options)


if __name__ == "__main__":
    main()
