# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mp-opt and mp-run as console scripts: the tools are functions of the library."""
import ctypes
import os
import sys

from .library import library


def run(tool):
    words = [os.fsencode(word) for word in [tool, *sys.argv[1:]]]
    array = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    sys.exit(library().mp_tool_main(tool.encode(), len(words), array))


def mp_opt():
    run("mp-opt")


def mp_run():
    run("mp-run")
