#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Walks the table of rules that `mp-run --alarm-rules` prints: a sick network for each rule, and for each suggestion a network
that it heals. Prints a line each, and fails where a rule does not fire, a suggestion does not heal, or either has no network.

usage: sick-networks.py [--only=RULE,...] [--folder=DIR]

Needs mp-opt, mp-gen and mp-run on PATH, and no Python package. The network is `mp-gen digits` on the 360 digits of the repository,
sick by its rate, its data, or a fault planted in one contraction (`digits.py`).
"""
import argparse
import functools
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from digits import BATCH, Digits, alerts_of, contractions, plant_offset, plant_range, run, with_fault

# Contractions of the step, in order: three layers forward, then for the last, the middle and the first layer the gradient of what
# it reads and of its weights.
FORWARD, INNER_GRADIENT, WEIGHT_GRADIENT = 1, 5, 6
NETWORKS = {}


def network(rule, *suggestions):
    """Registers what returns (the alerts of the sick network, those of the healed one)."""
    def register(function):
        for suggestion in suggestions:
            NETWORKS[rule, suggestion] = function
        return function
    return register


def later(value, otherwise=1.0, since=300):
    return lambda step: value if step >= since else otherwise


def at(steps, value, otherwise=1.0):
    return lambda step: value if step in steps else otherwise


def wide_policy(path, locations, base="training"):
    """A policy that keeps the contractions at these lines wide."""
    rules = [{"name": f"wide {i}", "select": {"location": place}, "precision": "wide"} for i, place in enumerate(locations)]
    path.write_text(json.dumps({"mp_policy": 1, "name": "healed", "extends": base, "rules": rules}))
    return path


def line_of(step, contraction):
    return rf"{step.name}:{contractions(step.read_text())[contraction] + 1}:"


@network("loss-shift", "rate")
@network("gradient-shift", "rate")
def rate_too_high(folder, rule):
    """From step 300 on, the learning rate is 150 times as large."""
    return (Digits(folder, 340, rates=later(0.3, 0.002)).watch("format=bf16"),
            Digits(folder, 340, rates=later(0.002, 0.002)).watch("format=bf16"))


@network("loss-shift", "clip")
@network("gradient-shift", "clip")
def kicked(folder, rule):
    """Three batches are negatives, and far too bright: they throw the weights away."""
    net = Digits(folder, 340, rates=lambda step: 0.004, spoil=at({300, 301, 302}, -60.0 if rule == "loss-shift" else -20.0))
    return net.watch("format=bf16"), net.watch("format=bf16 clip-norm=1")


@network("loss-shift", "bisect")
def lost_digits(folder, rule):
    """From step 300 on, a layer computes small differences of large numbers, which bf16 has no digits for."""
    net = Digits(folder, 340, faults=later(1024.0, 0.0), plant=FORWARD, kind=plant_offset)
    sick = net.watch("format=bf16")
    found = Digits(folder / "found", 2, faults=later(1024.0, 0.0, since=0), plant=FORWARD, kind=plant_offset)
    policy = folder / "policy.json"
    run("mp-run", found.step, "--steps=2", "--seed=1", *found.inputs(), "--bisect", "--keep=error:0.3", "--assign=format=bf16",
        f"--policy-out={policy}")
    return sick, net.watch(f"format=bf16 policy={policy}")


@network("loss-spike", "batch")
@network("gradient-spike", "batch")
def one_bad_batch(folder, rule):
    """One batch is a negative, and too bright."""
    spoil = at({300}, -8.0)
    options = "format=bf16 clip-norm=1"
    return Digits(folder, 340, spoil=spoil).watch(options), Digits(folder, 340, spoil=spoil, without={300}).watch(options)


@network("skips", "bf16")
@network("scale-floor", "bf16")
def overflowing_layer(folder, rule):
    """From step 100 on, the gradient of the middle layer's weights is beyond f16 in what it is computed from."""
    preset = "jmp" if rule == "scale-floor" else "torch"
    net = Digits(folder, 140, faults=later(2.0**40, since=100), plant=WEIGHT_GRADIENT)
    return net.watch(f"format=f16 loss-scale={preset}"), net.watch("format=bf16")


@network("skips", "name")
@network("scale-floor", "name")
def named_layer(folder, rule):
    """The same; name-overflows=true says whose gradient, and its contractions are kept wide."""
    preset = "jmp" if rule == "scale-floor" else "torch"
    net = Digits(folder, 140, faults=later(2.0**40, since=100), plant=WEIGHT_GRADIENT)
    options = f"format=f16 loss-scale={preset}"
    sick = net.watch(options)
    report = folder / "run.json"
    run("mp-run", net.convert(options + " name-overflows=true"), f"--steps={net.steps}", "--seed=1", *net.inputs(), f"--json={report}",
        f"--log-every={net.steps}")
    named = int([value for key, value in json.loads(report.read_text())["steps"].items() if "overflow" in key][0][-1])
    text = net.step.read_text()
    parameter = re.findall(r'(tensor<\S+>) loc\("([^"]+)"\)', re.search(r"func.func @main\((.*)\) ->", text)[1])[named]
    # The contraction that makes a gradient of the parameter's type: its last, as backward passes come last.
    lines = text.splitlines()
    makes = [i for i, line in enumerate(contractions(text)) if lines[line].endswith(f"-> {parameter[0]}")]
    if parameter[1] != "linear1.weight":
        sys.exit(f"name-overflows names {parameter[1]}, expected linear1.weight, whose gradient the fault is planted in")
    policy = wide_policy(folder / "policy.json", [line_of(net.step, makes[-1])])
    return sick, net.watch(f"{options} policy={policy}")


@network("layer-vanishes", "rate")
def dead_activations(folder, rule):
    """From step 300 on, the learning rate is 400 times as large, and kills the activations of a layer."""
    return (Digits(folder, 400, rates=later(0.8, 0.002)).watch("format=bf16"),
            Digits(folder, 400, rates=later(0.002, 0.002)).watch("format=bf16"))


@network("layer-vanishes", "loss-scale")
def vanished_gradient(folder, rule):
    """From step 300 on, the gradient of what the middle layer reads is too small for f16."""
    net = Digits(folder, 320, faults=later(2.0**-24), plant=INNER_GRADIENT)
    return net.watch("format=f16 loss-scale=none"), net.watch("format=f16 loss-scale=torch initial-scale=1048576")


@network("flushed", "loss-scale")
@network("flushed", "bf16")
def flushed_gradient(folder, rule, suggestion):
    """From step 20 on, a gradient is too small for f16."""
    net = Digits(folder, 60, faults=later(2.0**-24, since=20), plant=INNER_GRADIENT)
    cure = {"loss-scale": "format=f16 loss-scale=torch initial-scale=67108864", "bf16": "format=bf16"}[suggestion]
    return net.watch("format=f16 loss-scale=none"), net.watch(cure)


@functools.cache
def inference(folder, name, options, lines=(), value=2.0**-40):
    """A layer in the middle reads values that f16 has no numbers for."""
    path = folder / f"{name}.mlir"
    text = run("mp-gen", "mlp", "--layers=3", "--inputs=16", "--hidden=16", "--outputs=8", "--batch=4").stdout
    text = with_fault(text)
    text = plant_range(text, [contractions(text)[1]], "%faultx")
    for old, new in lines:
        text = text.replace(old, new)
    path.write_text(text)
    out, log = folder / f"{name}.watched.mlir", folder / f"{name}.jsonl"
    run("mp-opt", path, f"--mp-mixed-precision={options} table=false", "--mp-insert-probes=select=casts,results", "-o", out)
    run("mp-run", out, f"--input=1xf32={value}", "--steps=20", f"--monitor={log}", "--log-every=20")
    return alerts_of(log), path


@network("flushed", "wide")
@network("flushed", "scale-unproven")
@network("overflow", "proved")
@network("overflow", "clamp")
@network("overflow", "scale-unproven")
@network("overflow", "bf16")
def out_of_range(folder, rule, suggestion):
    """Values below, or beyond, what f16 holds."""
    value = 2.0**-40 if rule == "flushed" else 2.0**40
    sick, path = inference(folder.parent, f"sick-{rule}", "format=f16", value=value)  # once for all that heals it
    place = contractions(path.read_text())[1]
    proved = folder / "proved.json"
    proved.write_text(json.dumps({"mp_policy": 1, "name": "proved", "extends": "inference", "evidence": "proved"}))
    cures = {"proved": [f"format=f16 policy={proved}"], "clamp": [f"format=f16 policy={proved} clamp-unproven=true"],
             "scale-unproven": [f"format=f16 policy={proved} scale-unproven=on"], "bf16": ["format=bf16"],
             "wide": [f"format=f16 policy={wide_policy(folder / 'wide.json', [rf':{place + 1}:'], 'inference')}", "format=f16"]}[suggestion]
    healed = {}
    for number, options in enumerate(cures):
        planted = path.read_text().splitlines()[place]
        pinned = ((planted, planted.replace(" ins(", " {mp.pin = f32} ins(")),) if number else ()
        alerts, source = inference(folder, f"healed{number}", options, pinned, value)
        healed |= alerts
        if suggestion != "clamp":  # clamps keep results finite, not right
            run("mp-opt", source, f"--mp-mixed-precision={options} table=false", "-o", folder / "right.mlir")
            run("mp-run", folder / "right.mlir", f"--input=1xf32={value}", f"--compare={source}", "--max-rel=0.02")
    return sick, healed


@network("non-finite", "bisect")
@network("non-finite", "trace")
def infinite_layer(folder, rule, suggestion):
    """From step 50 on, what a layer reads overflows f16, and nothing skips the step."""
    net = Digits(folder, 60, faults=later(2.0**40, since=50), plant=FORWARD)
    options, policy = "format=f16 loss-scale=none", folder / "policy.json"
    sick = net.watch(options)
    if suggestion == "bisect":
        found = Digits(folder / "found", 2, faults=later(2.0**40, since=0), plant=FORWARD)
        run("mp-run", found.step, "--steps=2", "--seed=1", *found.inputs(), "--bisect", "--keep=finite", f"--assign={options}",
            f"--policy-out={policy}")
    else:
        # With the locations of the step as it was written: what is named lies at the contraction, or is what it reads.
        traced = net.convert(options, "casts", "--mlir-print-debuginfo")
        story = run("mp-run", traced, f"--steps={net.steps}", "--seed=1", *net.inputs(), "--break-on=nan,inf", status=(1,)).stdout
        line = int(re.search(r"  in .*step\.mlir:(\d+):", story)[1])
        wide_policy(policy, [line_of(net.step, next(i for i, at in enumerate(contractions(net.step.read_text())) if at + 1 >= line))])
    return sick, net.watch(f"{options} policy={policy}")


@network("non-finite", "loss-scale")
def infinite_gradient(folder, rule):
    """A gradient overflows f16 in a single step."""
    net = Digits(folder, 60, faults=at({50}, 2.0**40), plant=WEIGHT_GRADIENT)
    return net.watch("format=f16 loss-scale=none"), net.watch("format=f16 loss-scale=torch")


@network("memory", "state")
def growing_state(folder, rule):
    """A step appends a row of 1 MiB to its state each time; the healed one keeps the newest."""
    row, alerts = "tensor<262144xf32>", []
    for name, kind, keep in (("grows", "tensor<?xf32>", f"tensor.concat dim(0) %h, %x : (tensor<?xf32>, {row}) -> tensor<?xf32>"),
                             ("fixed", row, f"tensor.cast %x : {row} to {row}")):
        path, log = folder / f"{name}.mlir", folder / f"{name}.jsonl"
        path.write_text(f"""func.func @main(%h: {kind} {{mp.state = 0 : i64}}, %x: {row}, %t: tensor<f32>) -> ({kind}, tensor<f32>) {{
  %y = {keep}
  return %y, %t : {kind}, tensor<f32>
}}""")
        run("mp-run", path, "--dim=8", "--steps=70", "--log-every=70", f"--monitor={log}", "--max-memory=900M")
        alerts.append(alerts_of(log))
    return tuple(alerts)


@network("memory-near", "moments")
def full_memory(folder, rule):
    """Moments of 16 MiB each leave a fifth of what there is, or less; the healed ones take a quarter."""
    step, alerts, limit = folder / "step.mlir", [], []
    step.write_text(run("mp-gen", "mlp", "--train=adam", "--layers=1", "--inputs=2048", "--outputs=2048", "--batch=1").stdout)
    for name, options in (("f32", "format=bf16"), ("f32", "format=bf16"), ("fp8", "format=bf16 moments=fp8")):
        path, log = folder / f"{name}.mlir", folder / f"{name}.jsonl"
        run("mp-opt", step, f"--mp-train-step={options} table=false", "-o", path)
        run("mp-run", path, "--steps=4", "--log-every=4", "-q", f"--monitor={log}", *limit)
        alerts.append(alerts_of(log))
        # The others may hold a fifth more than it does between steps.
        held = max(json.loads(line)["resident_bytes"] for line in log.read_text().splitlines() if '"step"' in line and "resident_bytes" in line)
        limit = limit or [f"--max-memory={held * 6 // 5}"]
    return alerts[1], alerts[2]


@network("stall", "load")
def stopped(folder, rule):
    """Somebody stops the process again and again."""
    log, path, told = folder / "log.jsonl", folder / "step.mlir", []
    path.write_text(run("mp-gen", "mlp", "--train=sgd", "--layers=3", "--inputs=64", "--hidden=768", "--outputs=10", "--batch=64").stdout)
    for stops in (True, False):
        process = subprocess.Popen(["mp-run", path, "--steps=250", "--log-every=250", f"--monitor={log}"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        # Past 128 steps, of a line each: stopped in 12 steps, for longer than three of them take, however busy the machine is.
        left, lines = 12 if stops else 0, 150
        while process.poll() is None:
            steps = log.read_text().splitlines() if left and log.exists() else []
            if len(steps) > lines:
                lines, left = len(steps), left - 1
                process.send_signal(signal.SIGSTOP)
                time.sleep(max(0.2, 6 * statistics.median(json.loads(step)["seconds"] for step in steps[1:129])))
                process.send_signal(signal.SIGCONT)
            time.sleep(0.001)
        told.append(alerts_of(log))
    # Others may use the machine, too: healed is what stalls a tenth as often.
    count = [sum(alert["count"] for alert in alerts.get("stall", [])) for alerts in told]
    return told[0], told[1] if count[1] * 10 > count[0] else {}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="rules, with commas")
    parser.add_argument("--folder", type=pathlib.Path, help="where networks are kept")
    options = parser.parse_args()
    rules = json.loads(run("mp-run", "--alarm-rules").stdout)
    if unknown := {rule for rule, _ in NETWORKS} - {rule["rule"] for rule in rules}:
        sys.exit(f"networks of rules that are not in the table: {', '.join(sorted(unknown))}")
    failures = 0
    with tempfile.TemporaryDirectory() as temporary:
        for rule in rules:
            name = rule["rule"]
            if options.only and name not in options.only.split(","):
                continue
            for suggestion in rule["suggestions"]:
                make = NETWORKS.get((name, suggestion["id"]))
                if not make:
                    print(f"{name} / {suggestion['id']}: NO SICK NETWORK", flush=True)
                    failures += 1
                    continue
                folder = (options.folder or pathlib.Path(temporary)) / f"{name}-{suggestion['id']}"
                folder.mkdir(parents=True, exist_ok=True)
                more = [suggestion["id"]] if make.__code__.co_argcount == 3 else []
                sick, healed = make(folder, name, *more)
                told = [alert for alert in sick.get(name, []) if suggestion["text"] in alert["advice"]]
                good = told and name not in healed
                failures += not good
                verdict = ("does not fire" if name not in sick else "fires, but does not suggest this" if not told else
                           f"step {told[0]['step']}, {sum(alert['count'] for alert in told)} times; " +
                           ("HEALED NOT" if name in healed else "healed"))
                print(f"{rule['grade']} {name} / {suggestion['id']}: {verdict}: {' '.join(make.__doc__.split())}", flush=True)
    print(f"{failures} without a sick network, or not healed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
