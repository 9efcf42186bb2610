#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the schedules that the performance model chooses for forty products of known networks.

usage: schedule-table.py --mp-opt=MP_OPT [--times=matmul-times.csv] [--write|--check]

One row each: the product, and for an A100, an H100 and an RTX 4090 the schedule, its modelled time, and by how much
it may be slower than the model's best while any one constant of the model is a fifth off. With --times, a table of
published times as fit-model reads it, the H100's column has the library's measured time where the product is in it.
--write puts the table into docs/results/Schedules.md, --check compares it with that. Exits 1 if a choice may lose
more than a tenth.
"""
import argparse
import csv
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).parents[3] / "docs/results/Schedules.md"
PARTS = ("A100", "H100", "RTX 4090")
MOST_AT_RISK = 10.0
# Network, layer, batch, m, n, k.
PRODUCTS = [
    ("BERT-base, 128 tokens", "q k v", 1, 128, 2304, 768), ("", "output", 1, 128, 768, 768),
    ("", "feed forward 1", 1, 128, 3072, 768), ("", "feed forward 2", 1, 128, 768, 3072),
    ("BERT-base, 32 x 128 tokens", "q k v", 1, 4096, 2304, 768), ("", "output", 1, 4096, 768, 768),
    ("", "feed forward 1", 1, 4096, 3072, 768), ("", "feed forward 2", 1, 4096, 768, 3072),
    ("", "scores", 384, 128, 128, 64), ("", "values", 384, 128, 64, 128),
    ("BERT-large, 8 x 128 tokens", "output", 1, 1024, 1024, 1024), ("", "feed forward 1", 1, 1024, 4096, 1024),
    ("", "feed forward 2", 1, 1024, 1024, 4096),
    ("BERT-large, 8 x 512 tokens", "output", 1, 4096, 1024, 1024), ("", "feed forward 1", 1, 4096, 4096, 1024),
    ("", "feed forward 2", 1, 4096, 1024, 4096),
    ("Llama 7B, 1 token", "output", 1, 1, 4096, 4096), ("", "gate and up", 1, 1, 22016, 4096),
    ("", "down", 1, 1, 4096, 11008), ("Llama 7B, 16 tokens", "output", 1, 16, 4096, 4096),
    ("", "down", 1, 16, 4096, 11008), ("Llama 7B, 4096 tokens", "output", 1, 4096, 4096, 4096),
    ("", "gate and up", 1, 4096, 22016, 4096), ("", "down", 1, 4096, 4096, 11008),
    ("Llama 3 8B, 2048 tokens", "q", 1, 2048, 4096, 4096), ("", "k v", 1, 2048, 2048, 4096),
    ("ResNet-50, 32 images", "7x7, 3 to 64", 1, 401408, 64, 147), ("", "1x1, 64 to 256", 1, 100352, 256, 64),
    ("", "3x3, 64", 1, 100352, 64, 576), ("", "3x3, 128", 1, 25088, 128, 1152),
    ("", "1x1, 512 to 128", 1, 25088, 128, 512), ("", "3x3, 256", 1, 6272, 256, 2304),
    ("", "1x1, 1024 to 256", 1, 6272, 256, 1024), ("", "3x3, 512", 1, 1568, 512, 4608),
    ("", "1x1, 512 to 2048", 1, 1568, 2048, 512), ("", "classifier", 1, 32, 1000, 2048),
    ("Mixture of 8 experts, 512 tokens, 2 each", "gate and up", 8, 128, 28672, 4096), ("", "down", 8, 128, 4096, 14336),
    ("Mixture of 64 experts, 4096 tokens", "up", 64, 512, 1024, 2048), ("", "down", 64, 512, 2048, 1024),
]
DEFAULTS = {"tile": "128x128x64", "warps": "2x2", "stages": "3"}


def choice(mp_opt, part, batch, m, n, k):
    """Schedule, microseconds and what the choice may lose in percent."""
    problem = f"matmul batch={batch} m={m} n={n} k={k} format=bf16 on {part}"
    text = subprocess.run([mp_opt, f"--mp-show-schedules={problem}"], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=True).stdout
    row = re.search(r"^\* +([\d.]+) us +\w[\w ]*? +matmul ?(.*)$", text, re.MULTILINE)
    risk = re.search(r"^\* takes at most ([\d.]+) %", text, re.MULTILINE)
    settings = DEFAULTS | dict(word.split("=") for word in row[2].split())
    name = f"{settings['tile']}, {settings['stages']} stages"
    if settings.get("unit", "mma.sync") != "mma.sync":
        name = f"{settings['unit']} {name}"
    if "split-k" in settings:
        name += f", split {settings['split-k']}"
    if "slices" in settings:
        name += f", {settings['slices']} slices"
    if "cluster" in settings:
        name += f", cluster {settings['cluster']}"
    return name, float(row[1]), float(risk[1])


def published(path):
    times = {}
    with path.open() as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            if row["device"] == "sm_90" and row["types"].startswith("bf16"):
                times[tuple(int(row[key]) for key in ("batch", "m", "n", "k"))] = float(row["us"])
    return times


def table(mp_opt, times):
    lines = ["| network | product | batch | m | n | k | A100 | us | at risk | H100 | us | at risk | cuBLAS, measured | "
             "RTX 4090 | us | at risk |", "|" + "---|" * 16]
    worst = 0.0
    for network, layer, *sizes in PRODUCTS:
        cells = [network, layer, *map(str, sizes)]
        for part in PARTS:
            name, us, risk = choice(mp_opt, part, *sizes)
            worst = max(worst, risk)
            cells += [name, f"{us:.1f}", f"{risk:.1f} %"]
            if part == "H100":
                measured = times.get(tuple(sizes))
                cells.append(f"{measured:.1f}" if measured else "")
        lines.append("| " + " | ".join(cells) + " |")
    return lines, worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mp-opt", required=True)
    parser.add_argument("--times", type=pathlib.Path, help="published times of products")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    lines, worst = table(args.mp_opt, published(args.times) if args.times else {})
    before, old, after = PAGE.read_text().partition("<!-- schedules -->\n") if PAGE.exists() else ("", "", "")
    text = "\n".join(lines) + "\n"
    if args.write:
        PAGE.write_text(before + old + text + "<!-- end of schedules -->\n" + after.split("<!-- end of schedules -->\n")[1])
    elif args.check:
        kept = after.split("<!-- end of schedules -->\n")[0]
        # Without --times nobody knows what was measured.
        blank = lambda table: re.sub(r"\| [\d.]* \|(?= [^|]* \| [\d.]+ \| [\d.]+ % \|$)", "|  |", table, flags=re.MULTILINE)
        if (kept if args.times else blank(kept)) != (text if args.times else blank(text)):
            sys.exit(f"schedule-table.py: {PAGE.name} differs; --write renews it")
        print(f"{len(PRODUCTS)} products as in {PAGE.name}")
    else:
        print(text, end="")
    print(f"a choice may lose {worst:.1f} % at most", file=sys.stderr)
    if worst > MOST_AT_RISK:
        sys.exit(1)


if __name__ == "__main__":
    main()
