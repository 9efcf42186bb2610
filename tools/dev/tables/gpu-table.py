#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints what gpu-time.py measured on a GPU as tables, beside what PyTorch, its libraries and Triton took there.

usage: gpu-table.py [TIMES.json] [--write=PAGE.md] [--csv=F.csv]

TIMES.json is the report of tools/dev/kernels/gpu-time.py (the one in this tree where none is named). --write puts the tables
behind <!-- products -->, <!-- streams -->, <!-- attention -->, <!-- layers --> and <!-- schedules --> of a page; --csv writes
products with a pinned schedule as fit-model reads them.
"""
import argparse
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import common

TIMES = pathlib.Path(__file__).parents[1] / "kernels" / "measured" / "h200-times.json"


def name(entry):
    """Without the kind, and with a mark where the result was not compared."""
    words = entry["case"] if entry["kind"] == "convolution" else entry["case"].split(" ", 1)[1]
    return words + (" †" if entry["verdict"] == "unchecked" else "")


def us(value):
    return f"{value:.0f}" if value >= 1000 else f"{value:.1f}"


def ratio(entry, label):
    """The reference's time, and ours as a multiple of it."""
    other = entry.get("references", {}).get(label, {})
    return [us(other["us"]), f"{entry['us'] / other['us']:.2f}"] if "us" in other else ["", ""]


def markdown(names, rows):
    return ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)] + ["| " + " | ".join(row) + " |" for row in rows]


def rate(entry):
    return f"{entry['flops'] / entry['us'] / 1e6:.0f}" if entry["flops"] else f"{entry['bytes'] / entry['us'] / 1e3:.0f}"


def first(entry, *labels):
    return next((label for label in labels if "us" in entry["references"].get(label, {})), labels[0])


def products(cases):
    rows = []
    for e in cases:
        if e["kind"] in ("product", "convolution") and not e["shape"].get("schedule"):
            library = first(e, "torch", "torch, cuDNN", "torch, cast each time")
            rows.append([name(e), us(e["us"]), rate(e), *ratio(e, library), *ratio(e, "Triton")])
    return markdown(["product or convolution", "us", "TFLOP/s", "cuBLAS, cuDNN us", "times that", "Triton us", "times that"], rows)


def streams(cases):
    rows = []
    for e in cases:
        if e["kind"] not in ("product", "convolution", "attention", "layer"):
            rows.append([name(e), us(e["us"]), rate(e), *ratio(e, "torch"), *ratio(e, "torch.compile")])
    return markdown(["kernel", "us", "GB/s", "torch us", "times that", "torch.compile us", "times that"], rows)


def attention(cases):
    rows = [[name(e), us(e["us"]), rate(e), *ratio(e, "torch, FlashAttention-2"), *ratio(e, "torch, cuDNN")]
            for e in cases if e["kind"] == "attention"]
    return markdown(["attention", "us", "TFLOP/s", "FlashAttention-2 us", "times that", "cuDNN us", "times that"], rows)


def layers(cases):
    rows = []
    for e in cases:
        if e["kind"] == "layer":
            launches = sum(k["launches"] for k in e["kernels"])
            eager, compiled = first(e, "torch, autocast", "torch, f32"), "torch.compile, autocast"
            rows.append([name(e), us(e["us"]), f"{launches:.0f}", us(e["host_us"]), *ratio(e, eager), *ratio(e, compiled)])
    return markdown(["layer", "us", "launches", "host us", "torch us", "times that", "torch.compile us", "times that"], rows)


def pinned(cases):
    """By product: the time of each schedule."""
    by_product = {}
    for e in cases:
        if e["kind"] == "product" and e["shape"]["schedule"]:
            s = e["shape"]
            product = f"{s['m']}x{s['n']}x{s['k']}" + (", f32 weights" if s["narrow"] else "")
            by_product.setdefault(product, {})[s["schedule"]] = e["us"]
    return by_product


def schedules(cases):
    by_product = pinned(cases)
    names = list(dict.fromkeys(schedule for times in by_product.values() for schedule in times))
    chosen = {(e["shape"]["m"], e["shape"]["n"], e["shape"]["k"], e["shape"]["narrow"]): e["us"] for e in cases
              if e["kind"] == "product" and not e["shape"]["schedule"] and e["shape"]["format"] == "bf16" and not e["shape"]["epilogue"] and e["shape"]["order"] == "nt"}
    rows = []
    for product, times in by_product.items():
        m, n, k = map(int, product.split(",")[0].split("x"))
        own, least = chosen.get((m, n, k, "f32" in product)), min(times.values())
        rows.append([product, *(us(times[schedule]) if schedule in times else "" for schedule in names), us(own) if own else "", f"{own / least:.2f}" if own else ""])
    return markdown(["product", *(schedule.replace(" warps=", ", ").replace(" stages=", ", ").replace("tile=", "") for schedule in names), "chosen", "times the best"], rows)


def csv(cases, device):
    part = next(part for part in ("H200", "H100 SXM", "H100") if part.split()[0] in device)
    lines = ["# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception", "#",
             "# What tools/dev/kernels/gpu-time.py measured; tools/dev/tables/gpu-table.py --csv wrote this.", "part;problem;value;unit;source;schedule"]
    for e in cases:
        s = e["shape"]
        if e["kind"] == "product" and s["schedule"]:
            narrow = " b-bits=32" if s["narrow"] else ""
            lines.append(f"{part};matmul m={s['m']} n={s['n']} k={s['k']} format=bf16 result=bf16{narrow};{e['us']:.1f};us;gpu-time.py;"
                         f"matmul unit=mma.sync {s['schedule']} copy={'loads' if s['narrow'] else 'async'}")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("times", nargs="?", type=pathlib.Path, default=TIMES)
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("--csv", type=pathlib.Path)
    options = parser.parse_args()
    report = json.loads(options.times.read_text())
    cases = [e for e in report["cases"] if e["verdict"] in ("timed", "unchecked")]
    right = sum(e["verdict"] == "timed" for e in cases)
    print(f"{report['device']}: {len(report['cases'])} cases, {right} right, {len(cases) - right} timed and not compared")
    for mark, table in (("products", products), ("streams", streams), ("attention", attention), ("layers", layers), ("schedules", schedules)):
        lines = table(cases)
        if options.write:
            common.write_table(options.write, "\n".join(lines), mark, end=r"^(## |<!-- )")
        else:
            print("\n".join(lines))
    if options.csv:
        options.csv.write_text(csv(cases, report["device"]))


if __name__ == "__main__":
    main()
