#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: killed.py FILE        under mpirun: process 1 kills its mp-run in the middle of a long run."""
import os
import signal
import sys
import time

run = ["mp-run", sys.argv[1], "-q", "--steps=100000", "--log-every=100000"]
if os.environ["OMPI_COMM_WORLD_RANK"] != "1":
    os.execvp(run[0], run)
child = os.fork()
if child == 0:
    time.sleep(5)
    os.kill(os.getppid(), signal.SIGKILL)
    os._exit(0)
os.execvp(run[0], run)
