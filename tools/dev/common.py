# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared by the sweeps and tables: graphs as they lie on disk, records that a later call goes on from, tables in pages,
counts of instructions."""
import json
import lzma
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import threading


def unpacked(path, folder, name=None):
    """The file itself, or what a .xz holds, written to `folder` under its name without .xz."""
    if path.suffix != ".xz":
        return path
    target = pathlib.Path(folder) / (name or path.stem)
    target.write_bytes(lzma.decompress(path.read_bytes()))
    return target


def extract(archive, folder, pattern=""):
    """Unpacks the members of a .tar.xz whose names match; their paths."""
    with tarfile.open(archive) as packed:
        packed.extraction_filter = getattr(tarfile, "data_filter", None)  # not in Debian 12's Python
        members = [member for member in packed if re.search(pattern, member.name)]
        packed.extractall(folder, members)
    return [pathlib.Path(folder) / member.name for member in members]


class Records:
    """What was found, a list of records by key, kept in a file of lines if there is a path. A later call goes on from there.
    Records that do not serve, being of another kind of run, stay in the file alone; keys that are stale are forgotten."""

    def __init__(self, path, key, serves=lambda record: True, stale=lambda records: set()):
        self.path, self.key, self.found, self.lock = path and pathlib.Path(path), key, {}, threading.Lock()
        if self.path and self.path.exists():
            earlier = [json.loads(line) for line in self.path.read_text().splitlines()]
            again = stale(earlier)
            left = [record for record in earlier if key(record) not in again]
            for record in filter(serves, left):
                self.found.setdefault(key(record), []).append(record)
            if len(left) < len(earlier):
                self.path.write_text("".join(json.dumps(record) + "\n" for record in left))

    def __contains__(self, key):
        return key in self.found

    def last(self, key):
        return self.found[key][-1]

    def keep(self, record):
        with self.lock:
            self.found.setdefault(self.key(record), []).append(record)
            if self.path:
                with self.path.open("a") as file:
                    file.write(json.dumps(record) + "\n")


def behind(path, mark, end=r"^## "):
    """A page in three: up to the mark, behind it, and from what ends that on, the next heading."""
    head, found, rest = pathlib.Path(path).read_text().partition(f"<!-- {mark} -->\n")
    if not found:
        sys.exit(f"{path}: expected a line <!-- {mark} --> where the table goes")
    after = re.search(end, rest, re.M)
    split = after.start() if after else len(rest)
    return head + found, rest[:split], rest[split:]


def write_table(path, text, mark="table", end=r"^## "):
    """Replaces what lies behind the mark."""
    head, _, rest = behind(path, mark, end)
    pathlib.Path(path).write_text(f"{head}\n{text.rstrip()}\n" + ("\n" + rest if rest else ""))


def run_bash(command, folder, environment, seconds):
    """(exit status, everything printed) of a command in bash; no status where it ran longer than that."""
    try:
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, f"ran longer than {seconds} s"
    return done.returncode, done.stdout.decode(errors="replace")


def count_instructions(command):
    """Instructions of one command, by valgrind: the same at every run to within some thousands, whatever else runs."""
    counter = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    done = subprocess.run([*counter, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
    counted = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if done.returncode or not counted:
        sys.exit(f"{' '.join(map(str, command))} failed under valgrind: {done.stderr[-600:]}")
    return int(counted[1].replace(",", ""))


def peak_bytes(command):
    """Bytes that one command has on the heap at most, by valgrind: the same at every run, unlike what is resident."""
    with tempfile.NamedTemporaryFile() as snapshots:
        counter = ["valgrind", "--tool=massif", "--soname-synonyms=somalloc=*mimalloc*", "--peak-inaccuracy=0",
                   f"--massif-out-file={snapshots.name}"]
        done = subprocess.run([*counter, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
        sizes = re.findall(r"^mem_heap_B=(\d+)$", snapshots.read().decode(), re.M)
    if done.returncode or not sizes:
        sys.exit(f"{' '.join(map(str, command))} failed under valgrind: {done.stderr[-600:]}")
    return max(map(int, sizes))
