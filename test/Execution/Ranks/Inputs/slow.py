#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: slow.py SLOW ARGUMENTS...        under mpirun: mp-run with these arguments; that of process SLOW is stopped
for 1 s, then for 0.2 s again and again."""
import os
import signal
import sys
import time

if os.environ["OMPI_COMM_WORLD_RANK"] == sys.argv[1]:
    slow = os.getpid()
    if os.fork() == 0:
        time.sleep(0.5)
        seconds = 1.0
        # Until it has ended, and somebody else is the parent.
        while os.getppid() == slow:
            os.kill(slow, signal.SIGSTOP)
            time.sleep(seconds)
            os.kill(slow, signal.SIGCONT)
            time.sleep(0.1)
            seconds = 0.2
        os._exit(0)
os.execvp("mp-run", ["mp-run"] + sys.argv[2:])
