#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: killed.py PIDS FILE        under mpirun: process 1 kills its mp-run in the middle of a long run; each
leaves a file in the folder PIDS.
       killed.py PIDS             afterwards: says whether one of them is still there"""
import os
import signal
import sys
import time

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
run = ["mp-run", sys.argv[2], "-q", "--steps=100000", "--log-every=100000"]
if os.environ["OMPI_COMM_WORLD_RANK"] != "1":
    os.execvp(run[0], run)
child = os.fork()
if child == 0:
    time.sleep(5)
    os.kill(os.getppid(), signal.SIGKILL)
    os._exit(0)
os.execvp(run[0], run)
