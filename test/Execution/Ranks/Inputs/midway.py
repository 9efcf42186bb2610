# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tells under mpirun when a long run is in the middle of its steps."""
import os
import time

RANK = int(os.environ.get("OMPI_COMM_WORLD_RANK", "0"))


def long_run(file, told):
    """Arguments of a run of too many steps; that of process 0 says in the file `told` how far it is."""
    told = [f"--monitor={told}"] if RANK == 0 else []
    return ["mp-run", file, "-q", "--steps=1000000", "--log-every=1000000", *told]


def wait_for_steps(told):
    """Returns after a few steps, or when they do not come."""
    deadline = time.time() + 60
    while time.time() < deadline and not (os.path.exists(told) and os.path.getsize(told) > 4096):
        time.sleep(0.02)
