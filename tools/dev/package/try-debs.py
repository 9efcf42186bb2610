#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Installs the Debian packages where nothing else is, and builds programs against them.

usage: try-debs.py DEBS [--root=DIR] [--suite=bookworm]

DEBS is the folder that build-debs.py wrote. Two root file systems are made (needs root and mmdebstrap). In the first
is libmpruntime0 with what it needs, and no LLVM; Python's ctypes calls it, and it says which driver it misses. In the
second are all packages and compilers: the programs of test/Install are built there with g++ and with clang, in C and
in C++, and run; ctypes converts a module; the Python package does; man page and completion are found. Prints a line
for each, ends with 1 at the first that fails. --root keeps the second.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[3]
# The archives that this system installs from, bookworm-security with its LLVM 22 among them.
SYSTEM_SOURCES = sorted(path for path in (pathlib.Path("/etc/apt/sources.list"), *pathlib.Path("/etc/apt/sources.list.d").glob("*")) if path.exists())
CLANG = "clang-22"

RUNTIME_CALL = """
import ctypes, os, sys
os.environ["MP_DEVICE"] = "emulator"
runtime, facts = ctypes.CDLL("libMPRuntime.so.0"), ctypes.create_string_buffer(4096)
runtime.mp_rt_device_error.restype = ctypes.c_char_p
status = runtime.mp_rt_query_device(facts)
print(facts.value.decode() if status == 0 else runtime.mp_rt_device_error().decode())
"""
PACKAGE_CALL = """
import mp
print(mp.convert("/tmp/dense.mlir", format="f16").report.narrowed, "contraction narrowed by the package")
"""
MODEL = """func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %c: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%c : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
"""
STAGES = [  # what is shown, command
    ("programs and their manual", "mp-opt /tmp/dense.mlir --mp-mixed-precision -q -o /tmp/n.mlir && mp-run /tmp/n.mlir --compare=f64 -q"
                                  " && test -s /usr/share/man/man1/mp-opt.1.gz"),
    ("completion", "bash -c '. /usr/share/bash-completion/bash_completion; . /usr/share/bash-completion/completions/mp-run;"
                   " COMP_WORDS=(mp-run --dev); COMP_CWORD=1; COMP_LINE=\"mp-run --dev\"; COMP_POINT=12; _mp; test ${COMPREPLY[0]} = --device='"),
    ("C and C++ by g++", "cmake -G Ninja -S /tmp/test/Install/Inputs/consumer -B /tmp/gcc -DCMAKE_CXX_COMPILER=g++ -DCMAKE_C_COMPILER=gcc"
                         " > /tmp/log && cmake --build /tmp/gcc > /tmp/log && /tmp/gcc/consumer > /tmp/out && /tmp/gcc/c-consumer"),
    ("C and C++ by clang", f"cmake -G Ninja -S /tmp/test/Install/Inputs/consumer -B /tmp/clang -DCMAKE_CXX_COMPILER={CLANG.replace('clang', 'clang++')}"
                           f" -DCMAKE_C_COMPILER={CLANG} > /tmp/log && cmake --build /tmp/clang > /tmp/log && /tmp/clang/consumer > /tmp/out && /tmp/clang/c-consumer"),
    ("C without CMake", "gcc -std=c99 -Wall -Werror /tmp/test/CAPI/example.c -lMP -o /tmp/example && /tmp/example"),
    ("the runtime and its emulated driver", "python3 /tmp/runtime.py | grep emulat"),
    ("ctypes", "python3 /tmp/test/Install/Inputs/by-ctypes.py libMP.so.0 | grep -F '1 of 1 contractions bf16'"),
    ("the Python package", "python3 /tmp/package.py"),
]


def make_root(root, suite, repository, packages):
    sources = [str(path) for path in SYSTEM_SOURCES if path.suffix in (".list", ".sources")] + [f"deb [trusted=yes] copy://{repository} ./"]
    subprocess.run(["mmdebstrap", "--quiet", "--variant=apt", f"--include={','.join(packages)}", suite, str(root), *sources], check=True)


def inside(root, name, command):
    done = subprocess.run(["chroot", str(root), "/bin/sh", "-c", command], text=True, capture_output=True, stdin=subprocess.DEVNULL,
                          env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"})
    last = (done.stdout.strip().splitlines() or [""])[-1]
    print(f"{name}: " + (f"passes {last[:80]}" if done.returncode == 0 else f"fails ({done.returncode})"), flush=True)
    if done.returncode:
        print((done.stdout + done.stderr)[-3000:])
        sys.exit(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("debs", type=pathlib.Path)
    parser.add_argument("--root", type=pathlib.Path)
    parser.add_argument("--suite", default="bookworm")
    options = parser.parse_args()
    if os.geteuid() != 0 or not shutil.which("mmdebstrap") or not shutil.which("dpkg-scanpackages"):
        print("try-debs: skipped: needs root, mmdebstrap and dpkg-dev (apt-get install mmdebstrap dpkg-dev)", file=sys.stderr)
        return 77
    with tempfile.TemporaryDirectory() as temporary:
        repository = pathlib.Path(temporary, "repository")
        repository.mkdir()
        for path in options.debs.glob("*.deb"):
            shutil.copy(path, repository)
        index = subprocess.run(["dpkg-scanpackages", "-m", "."], cwd=repository, check=True, text=True, capture_output=True).stdout
        (repository / "Packages").write_text(index)

        bare = pathlib.Path(temporary, "bare")
        make_root(bare, options.suite, repository, ["libmpruntime0", "python3-minimal", "libpython3-stdlib"])
        alien = [path for path in bare.glob("usr/lib/**/lib*") if path.name.startswith(("libLLVM", "libMLIR"))]
        if alien:
            sys.exit(f"try-debs: libmpruntime0 brings '{alien[0]}'")
        (bare / "tmp/runtime.py").write_text(RUNTIME_CALL)
        inside(bare, "the runtime without LLVM", "python3 /tmp/runtime.py | grep -F 'no driver: libMPEmulatedDriver.so'")
        shutil.rmtree(bare)

        root = options.root or pathlib.Path(temporary, "root")
        if not root.exists():
            make_root(root, options.suite, repository, ["libmp-dev", "mp-tools", "python3-mp", "bash-completion", "cmake", "ninja-build",
                                                        "g++", CLANG])
        for part in ("Install", "CAPI"):
            shutil.copytree(SOURCE / "test" / part, root / "tmp/test" / part, dirs_exist_ok=True)
        for name, text in (("dense.mlir", MODEL), ("runtime.py", RUNTIME_CALL), ("package.py", PACKAGE_CALL)):
            (root / "tmp" / name).write_text(text)
        for name, command in STAGES:
            inside(root, name, command)
    return 0


if __name__ == "__main__":
    sys.exit(main())
