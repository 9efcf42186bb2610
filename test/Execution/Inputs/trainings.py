# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the scripts that break trainings of mp-train share: they read what it prints, and kill it."""
import random
import shutil
import subprocess


def state(text):
    """The hash of the state that a training ends in."""
    return text.rsplit("state: ", 1)[1].strip()


def last(text, word):
    return next(line for line in reversed(text.splitlines()) if word in line)


def kill_at_random(command, folder, kills, seconds, wanted, environment=None):
    """Runs a training and kills it within 0.2 to 1 of that many seconds, until it was killed so often; each that gets through must end in the
    wanted state, and starts anew without its folder of states. How many got through."""
    killed, trained = 0, 0
    while killed < kills:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
        try:
            text = process.communicate(timeout=random.uniform(0.2, 1) * seconds)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            killed += 1
            continue
        assert state(text) == wanted
        trained += 1
        shutil.rmtree(folder)
    return trained
