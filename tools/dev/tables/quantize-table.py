#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantises small networks that were trained on real data, after training and in training, and prints one table.

usage: quantize-table.py [--only=NAME,...] [--rows=REGEX] [--steps=N] [--folds=N] [--keep=FOLDER]

Needs mp-opt, mp-gen and mp-run on PATH, numpy and scikit-learn. Networks, data and steps are those of train-table.py.
*after*: the f32 network as trained, its forward pass converted by a recipe. *trained*: its weights trained on for as many
steps, with mp-insert-fake-quantize in the train step and the optimizer anew; f32, trained on likewise, is a row as well. What is
tested is the integer graph (mp-quantize-trained) with the weights and steps trained, which mp-check-erasure has proved to
have the bits of the graph that was trained. *2:4*: mp-prune. *by data*: mp-run --calibrate on the rows trained on. --keep
leaves weights and data of the f32 row for quantize-torch.py; weights that it left before are not trained again. Columns: what was held out, its distance from f32 (of numbers
that are not rounded yet), and of bits a character what that is of the perplexity. --folds=N trains each network of digits N times,
holds out another fifth each time, and prints means. Of *or bf16*: contractions in codes, bf16 and f32, of all folds.
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
    ("int8 by data, absmax", "codes", "i8,mse,targets,means,descent ui8 absmax"),
    ("int8 by data, percentile", "codes", "i8,mse,targets,means,descent ui8 percentile:0.9999"),
    ("int8 by data, mse", "codes", "i8,mse,targets,means,descent ui8 mse:int8"),
    ("int8 by data, entropy", "codes", "i8,mse,targets,means,descent ui8 entropy"),
    ("int8 signed, mse", "codes", "i8,mse,targets,means,descent i8 mse:int8"),
    ("int4 by int8, mse", "codes", "i4,mse,targets,means,descent ui8 mse:int8"),
    ("int8 or bf16, 0.5 %", "codes", "i8,mse,targets,means,descent ui8 mse:int8 0.005"),
    ("int4 or bf16, 5 %", "codes", "i4,mse,targets,means,descent ui8 mse:int8 0.05"),
    ("8-bit trained", "fake", "weights=i8 activations=i8"),
    ("8-bit asymmetric trained", "fake", "weights=i8 activations=i8 zero-points=true"),
    ("4-bit weights trained", "fake", "weights=i4 activations=i8"),
    ("4-bit trained", "fake", "weights=i4 activations=i4 steps=learned"),
    ("2-bit weights trained", "fake", "weights=i2 activations=i4 steps=learned"),
    ("2:4 after", "prune", None),
    ("2:4 by data", "sparse", None),
    ("2:4 in int8 by data", "codes", "i8,2:4,mse,targets,means,descent"),
    ("2:4 trained", "prune", "mask=magnitude"),
    ("2:4 trained, mask fixed", "prune", "mask=fixed"),
    ("E4M3 trained", "fake", "weights=f8E4M3FN activations=f8E4M3FN"),
    ("E2M1 trained", "fake", "weights=f4E2M1FN activations=f4E2M1FN"),
]

EXACT = {table.rightly: table.percent, table.bits: table.bits_each}


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


def keep(folder, about, weights, training, held, labels):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "about").write_text(about)
    for index, path in enumerate(weights):
        numpy.save(folder / f"w{index:03}.npy", numpy.load(path))
    for name, array in (("rows", training[0]), ("answers", training[1]), ("held", held), ("labels", labels)):
        numpy.save(folder / f"{name}.npy", array)


def rounded(folder, forward, plain, calibrated, row):
    """The network as what mp-run --calibrate makes of it, and how many contractions are in codes, bf16 and f32."""
    constants, program, sums = folder / "constants.mlir", folder / "by-data.mlir", folder / "sums.mlir"
    with_constants(forward, plain, constants)
    numpy.save(folder / "rows.npy", calibrated)
    kind, words = row
    if kind == "sparse":
        run("mp-run", constants, f"--calibrate=@{folder / 'rows.npy'}", f"--prune={program}")
        return program, ()
    weights, *values = words.split()
    names = ("activation-codes", "calibrator", "round-limit")
    options = [f"--{name}={value}" for name, value in zip(names, values)]
    done = run("mp-run", constants, f"--calibrate=@{folder / 'rows.npy'}", f"--round-weights={program}", f"--weight-codes={weights}", *options)
    if not values:
        return program, ()
    narrow = ["--mp-mixed-precision=format=bf16 target=sm_80"] if len(values) > 2 else []
    run("mp-opt", program, "--mp-sum-codes", *narrow, "-o", sums)
    return sums, [int(count) for count in re.findall(r"in (?:codes|bf16|f32) (\d+)", done.stdout.splitlines()[-1])]


def trained_on(folder, step, forward, row, trainer):
    """Program, weights and what is appended, of a row that trains."""
    kind, words = row
    if kind == "train":
        return forward, trainer(folder / "annotated.mlir")[0], []
    if kind == "prune":
        program, sparse = folder / "sparse.mlir", folder / "sparse-step.mlir"
        run("mp-opt", forward, "--mp-prune", "-o", program)
        if not words:
            return program, None, []
        run("mp-opt", step, f"--mp-prune=train=true {words}", "-o", sparse)
        return program, trainer(sparse)[0], []
    fake, forward_fake, program = folder / "fake.mlir", folder / "forward-fake.mlir", folder / "integers.mlir"
    run("mp-opt", step, f"--mp-insert-fake-quantize=train=true {words}", "-o", fake)
    weights, outputs = trainer(fake)
    run("mp-opt", forward, f"--mp-insert-fake-quantize={words}", "-o", forward_fake)
    run("mp-opt", forward_fake, "--mp-quantize-trained", "-o", program)
    run("mp-opt", program, f"--mp-check-erasure=original={forward_fake}", "-o", folder / "checked.mlir")
    return program, weights, [f"--input=@{path}" for path in steps_trained(fake, outputs)]


def rows_of(network, fold, options):
    """Label and measure of each row."""
    model, training_options, steps, batch, load, measure = table.NETWORKS[network]
    steps = min(steps, options.steps or steps)
    training, (held, labels) = load(fold) if fold else load()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        step, forward = folder / "step.mlir", folder / "forward.mlir"
        run("mp-gen", *model.split(), *training_options.split(), f"--batch={batch}", "-o", step)
        run("mp-gen", *model.split(), "--weights=args", f"--batch={len(held)}", "-o", forward)
        inputs, parameters = table.first_weights(folder, step)
        data = table.batches(folder, training)
        numpy.save(folder / "held.npy", held)
        run("mp-opt", step, "--mp-annotate-roles", "-o", folder / "annotated.mlir")
        (folder / "f32").mkdir()
        about = f"{model} {training_options}: {steps} steps of {batch}, fold {fold}\n"
        kept = options.keep / (f"{network}-{fold}" if fold else network) if options.keep else folder / "none"
        if (kept / "about").exists() and (kept / "about").read_text() == about:
            plain = sorted(kept.glob("w*.npy"))
        else:
            plain, _ = train(folder / "f32", folder / "annotated.mlir", steps, inputs, data, len(parameters))
        if options.keep:
            keep(kept, about, plain, training, held, labels)
        start = [f"--input=@{path}" for path in plain] + inputs[len(parameters):]
        trainer = lambda program: train(folder, program, steps, start, data, len(parameters))
        for label, *row in ROWS:
            if not re.search(options.rows, label):
                continue
            program, weights, appended, counts = forward, None, [], ()
            if row[0] == "recipe":
                program = folder / "converted.mlir"
                run("mp-opt", forward, f"--mp-mixed-precision=recipe={row[1]} target=sm_80", "-o", program)
            elif row[0] in ("codes", "sparse"):
                program, counts = rounded(folder, forward, plain, training[0][:4 * len(held)], row)
            elif row[0]:
                program, weights, appended = trained_on(folder, step, forward, row, trainer)
            values = table.in_order(forward, [f"--input=@{path}" for path in weights or plain], folder / "held.npy")
            if row[0] in ("codes", "sparse"):
                values = [f"--input=@{folder / 'held.npy'}"]
            run("mp-run", program, *values, *appended, f"--output=@{folder / 'logits.npy'}")
            yield label, EXACT[measure](numpy.load(folder / "logits.npy"), labels), counts


def quantise(network, options):
    model, training_options, steps, batch, _, measure = table.NETWORKS[network]
    folds = options.folds if measure is table.rightly else 1
    print(f"{network}: {model.split()[0]} {training_options}, {min(steps, options.steps or steps)} steps of {batch}"
          + (f", means of {folds} folds" if folds > 1 else ""), flush=True)
    of_folds = [rows_of(network, fold, options) for fold in range(folds)]
    reference = None
    for rows in zip(*of_folds):
        label, number = rows[0][0], sum(found for _, found, _ in rows) / folds
        reference = number if reference is None else reference
        shown = f"{number:.1f}%" if measure is table.rightly else f"{number:.3f} b"
        perplexity = "" if measure is table.rightly else f" {2 ** (number - reference) - 1:+8.2%}"
        counts = "/".join(str(sum(each)) for each in zip(*[row[2] for row in rows]))
        print(f"  {label:24} {shown:>8} {number - reference:+8.3f}{perplexity}{counts and '  ' + counts}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="mlp,cnn,gpt")
    parser.add_argument("--rows", default="", help="rows whose name matches; f32 is trained anyway")
    parser.add_argument("--steps", type=int, default=0, help="at most so many")
    parser.add_argument("--folds", type=int, default=1, choices=range(1, 6), help="trainings of networks of digits")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for weights and data of the f32 row, or with them")
    options = parser.parse_args()
    options.rows = f"^f32$|{options.rows}"
    print(f"  {'':24} {'held out':>8} {'to f32':>8}")
    for network in options.only.split(","):
        if network not in table.NETWORKS:
            sys.exit(f"--only={network}: expected some of {', '.join(table.NETWORKS)}")
        quantise(network, options)


if __name__ == "__main__":
    main()
