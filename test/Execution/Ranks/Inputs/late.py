#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: late.py FILE TOLD        under mpirun: process 1 stops its mp-run in the middle of a long run."""
import os
import signal
import sys
import time

from midway import RANK, long_run, wait_for_steps

run = long_run(*sys.argv[1:])
if RANK == 1:
    late = os.getpid()
    if os.fork() == 0:
        wait_for_steps(sys.argv[2])
        os.kill(late, signal.SIGSTOP)
        time.sleep(10)
        os.kill(late, signal.SIGKILL)
        os._exit(0)
os.execvp(run[0], run)
