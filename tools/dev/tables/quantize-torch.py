#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantises the networks of quantize-table.py with torch, after training and in it, on the same weights and data.

usage: quantize-torch.py FOLDER

FOLDER is what `quantize-table.py --only=mlp,cnn --folds=N --keep=FOLDER` left. Needs torch, torchao and numpy. *int8*: torch.ao's static quantisation
with its default observers for x86, calibrated on the rows trained on. *int4 weights*: torchao's IntxWeightOnlyConfig in groups of 16, which has no
convolutions. *int8 trained*: torch.ao's quantisation-aware training by its defaults for x86, from these weights on for as many steps, by the same optimizer
with the same rate; *f32 trained on* is that without rounding. Columns: what was held out, its distance from f32.
"""
import pathlib
import re
import sys
import warnings

import numpy
import torch
import torch.ao.quantization as ao
from torch import nn

warnings.filterwarnings("ignore")


def load(folder):
    weights = [torch.tensor(numpy.load(path)) for path in sorted(folder.glob("w*.npy"))]
    return weights, *(torch.tensor(numpy.load(folder / f"{name}.npy")) for name in ("rows", "answers", "held", "labels"))


def linear(weight, bias):
    layer = nn.Linear(weight.shape[0], weight.shape[1])
    layer.weight.data, layer.bias.data = weight.T.contiguous(), bias
    return layer


def conv(weight, bias, stride):
    layer = nn.Conv2d(weight.shape[1], weight.shape[0], weight.shape[2], stride=stride, padding=weight.shape[2] // 2)
    layer.weight.data, layer.bias.data = weight, bias
    return layer


def mlp(w):
    return nn.Sequential(linear(w[0], w[1]), nn.ReLU(), linear(w[2], w[3]), nn.ReLU(), linear(w[4], w[5]))


def cnn(w):
    return nn.Sequential(conv(w[0], w[1], 1), nn.ReLU(), nn.MaxPool2d(2), conv(w[2], w[3], 1), nn.ReLU(), conv(w[4], w[5], 2), nn.ReLU(),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), linear(w[6], w[7]))


# name: model, what inputs are multiplied by
NETWORKS = {"mlp": (mlp, 1 / 16), "cnn": (cnn, 1)}


# torch's optimizers with the rates of mp-gen's
OPTIMIZERS = {"momentum": lambda weights: torch.optim.SGD(weights, lr=0.02, momentum=0.9), "adam": lambda weights: torch.optim.Adam(weights, lr=1e-3)}


def int8(model, rows, answers, about):
    wrapped = nn.Sequential(ao.QuantStub(), model, ao.DeQuantStub()).eval()
    wrapped.qconfig = ao.get_default_qconfig("x86")
    prepared = ao.prepare(wrapped)
    prepared(rows)
    return ao.convert(prepared)


def trained_on(model, rows, answers, about):
    model.train()
    name, steps, batch = re.search(r"--train=(\w+): (\d+) steps of (\d+)", about).groups()
    optimizer = OPTIMIZERS[name](model.parameters())
    for step in range(int(steps)):
        at = torch.arange(step * int(batch), (step + 1) * int(batch)) % len(rows)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(rows[at]), answers[at]).backward()
        optimizer.step()
    return model.eval()


def int8_trained(model, *data):
    wrapped = nn.Sequential(ao.QuantStub(), model, ao.DeQuantStub()).train()
    wrapped.qconfig = ao.get_default_qat_qconfig("x86")
    return ao.convert(trained_on(ao.prepare_qat(wrapped), *data))


def int4_weights(model, rows, answers, about):
    from torchao.quantization import IntxWeightOnlyConfig, PerGroup, quantize_
    quantize_(model, IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(16)), filter_fn=lambda m, _: isinstance(m, nn.Linear))
    return model


def rightly(folder, network, convert):
    build, factor = NETWORKS[network]
    weights, rows, answers, held, labels = load(folder)
    model = convert(build([w.clone() for w in weights]).eval(), rows * factor, answers, (folder / "about").read_text())
    with torch.no_grad():
        return float((model(held * factor).argmax(-1) == labels).float().mean()) * 100


def main():
    torch.manual_seed(0)
    torch.backends.quantized.engine = "x86"
    for network in NETWORKS:
        folders = sorted(path for path in pathlib.Path(sys.argv[1]).glob(f"{network}*") if (path / "held.npy").exists())
        if not folders:
            continue
        reference = None
        print(network + (f", means of {len(folders)} folds" if len(folders) > 1 else ""))
        for label, convert in (("f32", lambda model, *_: model), ("int8 after, torch.ao", int8), ("int4 weights after, torchao", int4_weights),
                               ("f32 trained on", trained_on), ("int8 trained, torch.ao", int8_trained)):
            found = sum(rightly(folder, network, convert) for folder in folders) / len(folders)
            reference = found if reference is None else reference
            print(f"  {label:28} {found:6.1f}% {found - reference:+8.3f}")


if __name__ == "__main__":
    main()
