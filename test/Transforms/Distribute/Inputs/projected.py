# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Known answers of tools/dev/tables/projected-scaling.py, from whose folder it runs."""
import importlib.util

spec = importlib.util.spec_from_file_location("projected", "projected-scaling.py")
projected = importlib.util.module_from_spec(spec)
spec.loader.exec_module(projected)

assert abs(projected.flops(1536, 96, 12288) / 4.511e18 - 1) < 1e-3
assert projected.all_reduce(8e9, 1, 100, 1e-6) == 0
assert abs(projected.all_reduce(8e9, 8, 100, 0) - 2 * 8e9 * 7 / 8 / 100e9) < 1e-12
assert abs(projected.all_reduce(0, 8, 100, 1e-6) - 14e-6) < 1e-15

link = projected.LINKS["A100-80GB, HDR"]
fit = {"e": 0.5, "c": 0}
one = projected.step(link, fit, 12288, 96, 8, 1, 8, 1536)
assert one["bubble"] == one["stages"] == one["data"] == 0 and one["tensor"] > 0
assert abs(one["work"] - projected.flops(1536, 96, 12288) / 8 / 156e12) < 1e-6
many = projected.step(link, fit, 12288, 96, 8, 8, 1024, 1536)
assert abs(many["bubble"] / many["work"] - 7 / 96) < 1e-12
assert many["data"] > projected.step(link, fit, 12288, 96, 8, 8, 1024, 1536, overlap=1.0)["data"] >= 0
# Twice the GPUs halve the work, and never the whole step.
half, whole = (projected.step(link, fit, 12288, 96, 8, 8, n, 1536) for n in (2048, 1024))
assert abs(half["work"] * 2 / whole["work"] - 1) < 1e-12 and sum(half.values()) > sum(whole.values()) / 2
