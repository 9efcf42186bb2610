#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: late.py FILE        under mpirun: process 1 stops its mp-run in the middle of a long run."""
import os
import signal
import sys
import time

run = ["mp-run", sys.argv[1], "-q", "--steps=100000", "--log-every=100000"]
if os.environ["OMPI_COMM_WORLD_RANK"] == "1":
    late = os.getpid()
    if os.fork() == 0:
        time.sleep(5)
        os.kill(late, signal.SIGSTOP)
        time.sleep(10)
        os.kill(late, signal.SIGKILL)
        os._exit(0)
os.execvp(run[0], run)
