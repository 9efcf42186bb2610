# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every stored model through mp-opt with and without --import; both must print the same.

usage: models.py FOLDER
"""
import lzma
import pathlib
import re
import subprocess
import sys


def run(text, *flags):
    done = subprocess.run(["mp-opt", "-", *flags], input=text, capture_output=True)
    if done.returncode:
        print(done.stderr.decode()[:2000])
    return done.stdout.decode()


def main():
    different = 0
    models = sorted(pathlib.Path(sys.argv[1]).glob("*.mlir.xz"))
    for model in models:
        text = lzma.open(model).read()
        plain, imported = run(text), run(text, "--import")
        # Attributes of exporters are dropped; the stored models have them on modules only.
        head = re.compile(r"^module( @\w+)? attributes \{[^\n]*\} \{$", re.MULTILINE)
        plain = head.sub(lambda m: f"module{m[1] or ''} {{", plain, count=1)
        if not imported or plain != imported:
            different += 1
            print(model.name)
    print(f"{len(models)} models, {different} different")


if __name__ == "__main__":
    main()
