#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Projects train steps of GPT-size networks to 8, 64 and 1,024 GPUs. Modelled, not measured: prints the formula's parts.

usage: projected-scaling.py [--links=FILE.json] [--overlap=SHARE] [--calibrate]

A step of a network of l layers, width h, s tokens a sequence and V words, on B sequences, over d (data) x t (tensor) x p (pipeline) GPUs, with
m = B / (d b) micro-batches of b sequences a pipeline, v chunks of layers a GPU:

  work      = 96 B s l h^2 (1 + s / (6 h) + V / (16 l h)) / (d t p) / (peak eff),    activations computed again; 72 without
  eff       = e w / (w + c),  w = h / t: products of narrow slices reach less of the peak
  bubble    = (p - 1) / (v m) of work
  tensor    = 6 l / p m (all-reduce of 2 b s h bytes over t)            two each forward, again and back
  stages    = 2 v m (2 b s h / t bytes, to the next node), where p > 1
  data      = all-reduce of 4 P / (t p) bytes over d, less what the backward pass hides: --overlap times two thirds of
              the work on the last micro-batch; 0 unless given, as in the runs it is fitted to
  optimizer = 16 P / (t p) bytes through memory, read and written
  all-reduce of N bytes over n, ring: 2 (n - 1) alpha + 2 N (n - 1) / (n bandwidth)

e and c are fitted to ten runs on A100s of arXiv 2104.04473, table 1, as recalled: of these figures only that of 3,072 GPUs was checked again
(52 % of the peak, in the abstract). --calibrate prints what the model says of each of them. The interconnects
are data: --links replaces them. Groups of t lie within a node of 8, those of d and p between nodes.
"""
import argparse
import json

LINKS = {
    # peak of bf16 in TFLOP/s, memory in GB/s, bandwidth per GPU and direction in GB/s as reached and latency in s
    "A100-80GB, HDR": {"peak": 312, "memory": 2039 * 0.8, "inside": 300 * 0.8, "inside_latency": 4e-6, "between": 25 * 0.9, "between_latency": 6e-6},
    "H100, NDR": {"peak": 989, "memory": 3350 * 0.8, "inside": 450 * 0.8, "inside_latency": 4e-6, "between": 50 * 0.9, "between_latency": 6e-6},
}
# billions of parameters, width, layers, tensor, pipeline, GPUs, sequences, TFLOP/s per GPU as published
PUBLISHED = [
    (1.7, 2304, 24, 1, 1, 32, 512, 137), (3.6, 3072, 30, 2, 1, 64, 512, 138), (7.5, 4096, 36, 4, 1, 128, 512, 142),
    (18.4, 6144, 40, 8, 1, 256, 1024, 135), (39.1, 8192, 48, 8, 2, 512, 1536, 138), (76.1, 10240, 60, 8, 4, 1024, 1792, 140),
    (145.6, 12288, 80, 8, 8, 1536, 2304, 148), (310.1, 16384, 96, 8, 16, 1920, 2160, 155), (529.6, 20480, 105, 8, 35, 2520, 2520, 163),
    (1008, 25600, 128, 8, 64, 3072, 3072, 163),
]
TOKENS, WORDS = 2048, 51200


def flops(sequences, layers, width):
    return 96 * sequences * TOKENS * layers * width**2 * (1 + TOKENS / (6 * width) + WORDS / (16 * layers * width))


def all_reduce(size, ranks, bandwidth, latency):
    return 0 if ranks == 1 else 2 * (ranks - 1) * latency + 2 * size * (ranks - 1) / (ranks * bandwidth * 1e9)


def step(link, fit, width, layers, tensor, pipeline, gpus, sequences, overlap=0.0, micro=1, chunks=1):
    """Seconds by part."""
    data = gpus // (tensor * pipeline)
    batches = max(1, sequences // (data * micro))
    parameters = 12 * layers * width**2 + WORDS * width
    share = width / tensor
    work = flops(sequences, layers, width) / gpus / (link["peak"] * 1e12 * fit["e"] * share / (share + fit["c"]))
    activations = 2 * micro * TOKENS * width
    parts = {
        "work": work,
        "bubble": work * (pipeline - 1) / (chunks * batches),
        "tensor": 6 * layers / pipeline * batches * all_reduce(activations, tensor, link["inside"], link["inside_latency"]),
        "stages": 2 * chunks * batches * (link["between_latency"] + activations / tensor / (link["between"] * 1e9)) if pipeline > 1 else 0,
    }
    within_node = tensor * pipeline * data <= 8
    bandwidth, latency = (link["inside"], link["inside_latency"]) if within_node else (link["between"], link["between_latency"])
    gradients = all_reduce(4 * parameters / (tensor * pipeline), data, bandwidth, latency)
    parts["data"] = max(0, gradients - overlap * work / batches * 2 / 3)
    parts["optimizer"] = 2 * 16 * parameters / (tensor * pipeline) / (link["memory"] * 1e9)
    return parts


def rate(parts, gpus, sequences, layers, width):
    return flops(sequences, layers, width) / gpus / sum(parts.values()) / 1e12


def published_rate(fit, row):
    _, width, layers, tensor, pipeline, gpus, sequences, _ = row
    return rate(step(LINKS["A100-80GB, HDR"], fit, width, layers, tensor, pipeline, gpus, sequences), gpus, sequences, layers, width)


def fitted():
    """The e and c with the least squared relative error, from a grid."""
    candidates = [{"e": e / 1000, "c": c} for e in range(450, 801, 5) for c in range(0, 600, 10)]
    return min(candidates, key=lambda fit: sum((published_rate(fit, row) / row[7] - 1) ** 2 for row in PUBLISHED))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--links", type=argparse.FileType())
    parser.add_argument("--overlap", type=float, default=0)
    parser.add_argument("--calibrate", action="store_true")
    options = parser.parse_args()
    links = json.load(options.links) if options.links else LINKS
    fit = fitted()
    print(f"modelled, not measured; e = {fit['e']:.3f}, c = {fit['c']}")
    if options.calibrate:
        print(f"  {'params':>7} {'t':>2} {'p':>3} {'GPUs':>5}  TFLOP/s  model  error")
        for row in PUBLISHED:
            found = published_rate(fit, row)
            print(f"  {row[0]:6}G {row[3]:2} {row[4]:3} {row[5]:5} {row[7]:8} {found:6.0f} {found / row[7] - 1:+6.1%}")
    for name, link in links.items():
        print(f"{name}: 175 G (96 layers of 12288), 1,536 sequences of {TOKENS}; seconds a step")
        print(f"  {'GPUs':>5} {'d':>4} {'t':>2} {'p':>2} {'state GB':>8} {'work':>8} {'bubble':>7} {'tensor':>7} {'stages':>7} {'data':>6} {'optim.':>6} {'step':>8} {'TFLOP/s':>7} {'of peak':>7}")
        for gpus, tensor, pipeline in ((8, 8, 1), (64, 8, 8), (1024, 8, 8)):
            parts = step(link, fit, 12288, 96, tensor, pipeline, gpus, 1536, options.overlap)
            found = rate(parts, gpus, 1536, 96, 12288)
            state = 16 * (12 * 96 * 12288**2 + WORDS * 12288) / (tensor * pipeline) / 1e9
            print(f"  {gpus:5} {gpus // tensor // pipeline:4} {tensor:2} {pipeline:2} {state:8.0f} {parts['work']:8.1f} {parts['bubble']:7.2f} {parts['tensor']:7.2f} "
                  f"{parts['stages']:7.3f} {parts['data']:6.2f} {parts['optimizer']:6.3f} {sum(parts.values()):8.1f} {found:7.0f} {found / link['peak']:7.1%}")


if __name__ == "__main__":
    main()
