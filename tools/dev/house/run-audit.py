#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every row of docs/results/Audit.md: a command, the exit status it must have, and what it must print.

usage: run-audit.py [PAGE] [--only SUBSTRING] [--bin DIR] [--jobs N]

Rows are those of the tables whose header names `command`, `exit` and `prints`. The block fenced as
sh makes the files that commands read; each command runs in bash in a copy of their folder of its
own, with MP_SOURCE (the source tree) and MP_LIB (the libMP.so beside mp-opt). `prints` is a regular expression, found in standard output or standard error; a cell of several,
joined by ` … `, must be found in that order. A row whose command exits with 77 is skipped. --bin
puts the tools of another build first. Prints one line per row that is not as the page says; exits
with 1 if there are any.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import run_bash  # noqa: E402

ROOT = pathlib.Path(__file__).parents[3]
SECONDS = 120


def cells_of(line):
    """The cells of a row of a table; a bar behind a backslash is no border."""
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def rows_of(text):
    """(row, command, exit, prints) of each row of the tables that hold commands."""
    columns = None
    for line in text.splitlines():
        if not line.startswith("|"):
            columns = None
            continue
        cells = cells_of(line)
        if "command" in cells and "exit" in cells and "prints" in cells:
            columns = [cells.index(name) for name in ("row", "command", "exit", "prints")]
        elif columns and not set(line) <= set("|-: "):
            row, command, status, prints = (cells[column] for column in columns)
            yield row, command.strip("`"), int(status), prints.strip("`")


def missing_part(prints, output):
    """The first part of `prints` that the output lacks behind the parts before it, or None."""
    at = 0
    for part in prints.split(" … ") if prints else []:
        found = re.compile(part, re.M).search(output, at)
        if not found:
            return part
        at = found.end()
    return None


def problem_of(entry, prepared, environment):
    row, command, status, prints = entry
    # A command that is ended may have children that still write.
    with tempfile.TemporaryDirectory(prefix="mp-audit-", ignore_cleanup_errors=True) as folder:
        shutil.copytree(prepared, folder, dirs_exist_ok=True, symlinks=True)
        found, output = run_bash(command, folder, environment, SECONDS)
    if found == 77 and status != 77:
        return f"{row}: skipped: {output.strip()}", False
    if found != status:
        return f"{row}: exit status {found}, expected {status}: {command}\n{output.rstrip()[-2000:]}", True
    if part := missing_part(prints, output):
        return f"{row}: expected '{part}' from: {command}\n{output.rstrip()[-2000:]}", True
    return None, False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page", nargs="?", default=ROOT / "docs/results/Audit.md", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--bin")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    environment = dict(os.environ, MP_SOURCE=str(ROOT), TERM="dumb")
    if options.bin:
        environment["PATH"] = os.path.abspath(options.bin) + os.pathsep + environment["PATH"]
    tool = shutil.which("mp-opt", path=environment["PATH"])
    if not tool:
        sys.exit("mp-opt is not in PATH; name the folder with --bin")
    environment["MP_LIB"] = str(pathlib.Path(tool).parents[1] / "lib/libMP.so")
    text = options.page.read_text()
    rows = [row for row in rows_of(text) if options.only in row[0] or options.only in row[1]]
    with tempfile.TemporaryDirectory(prefix="mp-audit-files-") as prepared:
        environment["MP_CRASH_DIR"] = prepared
        for block in re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S):
            status, output = run_bash("set -e\n" + block, prepared, environment, SECONDS)
            if status != 0:
                sys.exit(f"the files could not be made (exit status {status}): {output}")
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            problems = list(pool.map(lambda row: problem_of(row, prepared, environment), rows))
    for said, _ in problems:
        if said:
            print(said)
    wrong = sum(is_wrong for _, is_wrong in problems)
    skipped = sum(bool(said) and not is_wrong for said, is_wrong in problems)
    print(f"{len(rows)} rows, {skipped} skipped, {wrong} problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
