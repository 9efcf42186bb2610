#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs clang-tidy by the kept list of .clang-tidy.

usage: tidy.py [BUILD] [FILE ...] [--since COMMIT] [--sample N] [--seed S] [--clang-tidy PROGRAM]

Of FILEs; with --since, of what changed since a commit; with --sample, of N files of lib drawn by the seed; else of all of
lib and of the tools that are installed. BUILD (default build/dev) was configured by clang. One file at a time: it is for
nights. Prints what is found, and `N files, M with findings`; exits with 1 if there are any, and with 77 without clang-tidy.
"""
import argparse
import json
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[3]
DROPPED = re.compile(r"-Winvalid-pch|-fpch-instantiate-templates|-Xclang|-include-pch|-fno-pch-timestamp|\S*\.pch")


def commands_of(build):
    """File to its command without precompiled headers, which another program cannot read; the header itself stays included."""
    found = subprocess.run(["ninja", "-C", build, "-t", "compdb"], capture_output=True, text=True, check=True).stdout
    commands = {}
    for entry in json.loads(found):
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        words = shlex.split(entry["command"])
        if path.suffix != ".cpp" or ROOT not in path.parents or "-c" not in words:
            continue
        compiler = next(at for at, word in enumerate(words) if "clang++" in word or word.endswith("g++"))
        kept = [word for word in words[compiler:] if not DROPPED.fullmatch(word)]
        commands[path] = dict(entry, file=str(path), command=shlex.join(kept))
    return commands


def chosen(commands, options):
    if options.files:
        return [path.resolve() for path in options.files]
    own = sorted(path for path in commands if path.relative_to(ROOT).parts[0] in ("lib", "tools"))
    if options.since:
        changed = subprocess.run(["git", "-C", ROOT, "diff", "--name-only", options.since], capture_output=True, text=True, check=True)
        names = set(changed.stdout.split())
        return [path for path in own if str(path.relative_to(ROOT)) in names]
    return sorted(random.Random(options.seed).sample(own, min(options.sample, len(own)))) if options.sample else own


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=ROOT / "build/dev")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--since")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clang-tidy", default=shutil.which("clang-tidy-22"))
    options = parser.parse_args()
    if not options.clang_tidy:
        print("tidy.py: clang-tidy-22 is not installed: apt-get install clang-tidy-22")
        return 77
    commands = commands_of(options.build)
    files = chosen(commands, options)
    if lost := [path for path in files if path not in commands]:
        sys.exit(f"tidy.py: {lost[0]} is not compiled in {options.build}")
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "compile_commands.json").write_text(json.dumps([commands[path] for path in files]))
        for path in files:
            command = [options.clang_tidy, "-p", folder, "--quiet", f"--config-file={ROOT / '.clang-tidy'}", path]
            done = subprocess.run(command, capture_output=True, text=True, errors="replace")
            if done.returncode != 0:
                wrong += 1
                print(done.stdout.strip() or done.stderr.strip(), flush=True)
    print(f"{len(files)} files, {wrong} with findings")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
