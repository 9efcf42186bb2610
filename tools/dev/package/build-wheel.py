#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds the wheel of python/mp: one library that needs neither LLVM nor MLIR, and the package over it.

usage: build-wheel.py BUILD [--out=DIR] [--keep=DIR]

BUILD is a build folder whose libMP.so is up to date. Its objects are linked with the static archives of the
distribution's LLVM and MLIR (llvm-22-dev, libmlir-22-dev), of the back ends X86 and NVPTX alone; only functions
that begin with mp_ are visible, so that another copy of LLVM in the process has nothing to bind to. Prints the
wheel's path and its size. --keep leaves the folder that is zipped.
"""
import argparse
import base64
import hashlib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[3]
KEPT = ("X86", "NVPTX")
# Archives that are no part of a compiler: bindings, test passes, other programs' mains.
LEFT_OUT = re.compile(r"lib(MLIR(CAPI.*|.*Test.*|JitRunner|TblgenLib)|LLVM(BOLT.*|Exegesis.*|FuzzerCLI|DTLTO))\.a$")
SYSTEM = ("libz.so.1", "libzstd.so.1")


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, text=True, capture_output=True, **options).stdout


def link_inputs(build):
    """The objects of libMP, by the build's own command."""
    commands = run("ninja", "-C", build, "-t", "commands", "lib/libMP.so.0.1.0" if (build / "lib/libMP.so.0.1.0").exists() else "MP")
    words = shlex.split(commands.strip().splitlines()[-1].replace("&&", " "))
    objects = [word for word in words if word.endswith(".o")]
    if not objects:
        sys.exit(f"build-wheel: '{build}' does not say how libMP is linked; build it first: ninja -C {build} MP")
    return [build / word for word in objects]


def targets(include):
    """Back ends that this LLVM was built with."""
    text = (include / "llvm/Config/Targets.def").read_text()
    return re.findall(r"^LLVM_TARGET\((\w+)\)", text, re.M)


def stubs(left_out):
    """Functions that "initialise all targets" names, for targets that are left out: they do nothing."""
    kinds = ("TargetInfo", "Target", "TargetMC", "AsmPrinter", "AsmParser", "Disassembler", "TargetMCA")
    return "".join(f"void LLVMInitialize{name}{kind}(void) {{}}\n" for name in left_out for kind in kinds)


# Defines what newer C libraries added and the archives use by functions of older ones, so that the wheel installs on
# systems from glibc 2.34 on (Ubuntu 22.04, RHEL 9): entropy, and hypot before its errors went to the caller.
OLDER = """
#include <stdlib.h>
#include <sys/random.h>
unsigned arc4random(void) {
  unsigned value;
  if (getrandom(&value, sizeof value, 0) != sizeof value) abort();
  return value;
}
double oldHypot(double x, double y);
__asm__(".symver oldHypot,hypot@GLIBC_2.2.5");
double hypot(double x, double y) { return oldHypot(x, y); }
"""


def link(build, folder, prefix):
    archives = sorted((prefix / "lib").glob("libMLIR*.a")) + sorted((prefix / "lib").glob("libLLVM*.a"))
    if not archives:
        sys.exit(f"build-wheel: no static archives in {prefix / 'lib'}; expected those of llvm-22-dev and libmlir-22-dev")
    known = targets(prefix / "include")
    unwanted = re.compile(rf"libLLVM({'|'.join(t for t in known if t not in KEPT)})[A-Z]\w*\.a$")
    archives = [path for path in archives if not LEFT_OUT.search(path.name) and not unwanted.search(path.name)]
    (folder / "stubs.c").write_text(OLDER + stubs([t for t in known if t not in KEPT]))
    (folder / "visible.map").write_text("{ global: mp_*; local: *; };\n")
    system = [next(path for place in ("/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64") if (path := pathlib.Path(place, name)).exists())
              for name in SYSTEM]
    library = folder / "libMP.so.0"
    run("clang++-22", "-shared", "-fuse-ld=lld-22", "-fPIC", "-O1", "-o", library, "-x", "c", folder / "stubs.c", "-x", "none",
        *link_inputs(build), "-Wl,-soname,libMP.so.0", "-Wl,--gc-sections,--icf=all,-s,-z,defs", f"-Wl,--version-script={folder / 'visible.map'}",
        "-Wl,--start-group", *archives, "-Wl,--end-group", *system, "-lm", "-ldl", "-lpthread")
    return library


def tag(library):
    """The wheel's tag: the newest glibc that the library names."""
    versions = [tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_(\d+\.\d+)", run("objdump", "-T", library))]
    major, minor = max(versions)
    return f"py3-none-manylinux_{major}_{minor}_x86_64"


def project():
    """Name, version and the like out of the packaging file, which is short and ours."""
    text = (SOURCE / "python/pyproject.toml").read_text()
    value = lambda key: re.search(rf'^{key} = "([^"]*)"', text, re.M)[1]
    table = lambda name: re.findall(r'^([\w-]+) = (.*)$', re.search(rf"^\[{re.escape(name)}\]\n((?:[^\[\n].*\n|\n)*)", text, re.M)[1], re.M)
    return {"name": value("name"), "version": value("version"), "summary": value("description"), "python": value("requires-python"),
            "scripts": table("project.scripts"), "entries": table("project.entry-points.torch_dynamo_backends"),
            "extras": table("project.optional-dependencies")}


def metadata(facts):
    lines = ["Metadata-Version: 2.1", f"Name: {facts['name']}", f"Version: {facts['version']}", f"Summary: {facts['summary']}",
             "License: Apache-2.0 WITH LLVM-exception", f"Requires-Python: {facts['python']}", "Requires-Dist: numpy"]
    for extra, packages in facts["extras"]:
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {package}; extra == "{extra}"' for package in re.findall(r'"([^"]+)"', packages)]
    return "\n".join(lines) + "\n"


def entry_points(facts):
    lines = ["[console_scripts]", *(f"{name} = {target.strip(chr(34))}" for name, target in facts["scripts"]), "",
             "[torch_dynamo_backends]", *(f"{name} = {target.strip(chr(34))}" for name, target in facts["entries"])]
    return "\n".join(lines) + "\n"


def write_wheel(library, out):
    """A zip in a fixed order with fixed times, so that the same library gives the same file."""
    facts, wheel_tag = project(), tag(library)
    name = facts["name"].replace("-", "_")
    info = f"{name}-{facts['version']}.dist-info"
    files = {f"mp/{path.relative_to(SOURCE / 'python/mp').as_posix()}": path.read_bytes()
             for path in sorted((SOURCE / "python/mp").rglob("*.py"))}
    files["mp/libMP.so.0"] = library.read_bytes()
    files[f"{info}/METADATA"] = metadata(facts).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: build-wheel\nRoot-Is-Purelib: false\nTag: {wheel_tag}\n".encode()
    files[f"{info}/entry_points.txt"] = entry_points(facts).encode()
    files[f"{info}/LICENSE"] = (SOURCE / "LICENSE").read_bytes()
    record = [f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()},{len(content)}"
              for path, content in files.items()]
    files[f"{info}/RECORD"] = ("\n".join([*record, f"{info}/RECORD,,"]) + "\n").encode()
    path = out / f"{name}-{facts['version']}-{wheel_tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for inner, content in files.items():
            entry = zipfile.ZipInfo(inner, (1980, 1, 1, 0, 0, 0))
            entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--llvm", type=pathlib.Path, default=pathlib.Path("/usr/lib/llvm-22"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory() as temporary:
            folder = options.keep or pathlib.Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            path = write_wheel(link(options.build.resolve(), folder, options.llvm), options.out)
    except subprocess.CalledProcessError as error:
        sys.exit(f"build-wheel: {error.cmd[0]} failed:\n" + "\n".join(error.stderr.splitlines()[:20]))
    print(f"{path} {os.path.getsize(path) / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
