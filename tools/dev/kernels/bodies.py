# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scalar ops of rows and epilogues as text of MLIR, on f32 values by name: for what is timed and for what is tested."""


def gelu(x, bias, result):
    """GELU of x + bias by tanh."""
    return f"""%half = arith.constant 0.5 : f32
%one = arith.constant 1.0 : f32
%slope = arith.constant 0.7978845608 : f32
%cubic = arith.constant 0.044715 : f32
%s = arith.addf {x}, {bias} : f32
%s2 = arith.mulf %s, %s : f32
%s3 = arith.mulf %s2, %s : f32
%q = arith.mulf %s3, %cubic : f32
%w = arith.addf %s, %q : f32
%u = arith.mulf %w, %slope : f32
%t = math.tanh %u : f32
%v = arith.addf %t, %one : f32
%hs = arith.mulf %s, %half : f32
{result} = arith.mulf %hs, %v : f32"""


def constants(width):
    return f"%n = arith.constant {width}.0 : f32\n%eps = arith.constant 1.0e-5 : f32\n"


def centred(x, total, width, result):
    """x less the mean of a row of `width`."""
    return constants(width) + f"%m = arith.divf {total}, %n : f32\n{result} = arith.subf {x}, %m : f32"


def normalised(x, squares, width, result):
    """x over the root of the mean of squares."""
    return constants(width) + (f"%ms = arith.divf {squares}, %n : f32\n%ve = arith.addf %ms, %eps : f32\n"
                               f"%rs = math.rsqrt %ve : f32\n{result} = arith.mulf {x}, %rs : f32")
