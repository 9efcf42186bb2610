#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: killed.py PIDS FILE        under mpirun: process 1 kills its mp-run in the middle of a long run; each
leaves a file in the folder PIDS.
       killed.py PIDS             afterwards: says whether one of them is still there"""
import os
import signal
import sys
import time

from midway import RANK, long_run, wait_for_steps

folder = sys.argv[1]
if len(sys.argv) == 2:
    deadline = time.time() + 10
    pids = os.listdir(folder)
    while any(os.path.exists(f"/proc/{pid}") for pid in pids) and time.time() < deadline:
        time.sleep(0.1)
    print(len(pids), "processes,", sum(os.path.exists(f"/proc/{pid}") for pid in pids), "left")
    sys.exit()
os.makedirs(folder, exist_ok=True)
open(os.path.join(folder, str(os.getpid())), "w").close()
told = folder + ".jsonl"
run = long_run(sys.argv[2], told)
if RANK != 1:
    os.execvp(run[0], run)
killed = os.getpid()
if os.fork() == 0:
    wait_for_steps(told)
    os.kill(killed, signal.SIGKILL)
    os._exit(0)
os.execvp(run[0], run)
