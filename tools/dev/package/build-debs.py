#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds the Debian packages of a build folder by CPack, and holds them against lintian where that is installed.

usage: build-debs.py BUILD [--out=DIR] [--keep=DIR]

BUILD is a build folder that is up to date. The packages are components of its installation: libmp0, libmpruntime0
(which needs no LLVM), libmp-emulator0, libmp-mpi0 (where MPI was found), mp-tools with man pages and completion made
from the tools' own help, libmp-dev, and python3-mp. DEBFULLNAME and DEBEMAIL name the maintainer, as of Debian's own
tools; SOURCE_DATE_EPOCH the time of all files, else that of the last commit. Exits with 1 if lintian finds errors
or warnings that no file of tools/dev/package/debian/overrides gives a reason for.
"""
import argparse
import email.utils
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

SOURCE = pathlib.Path(__file__).resolve().parents[3]
NEEDED = {"cpack": "cmake", "ninja": "ninja-build", "dpkg-shlibdeps": "dpkg-dev", "strip": "binutils"}


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, **options)
    if done.returncode != 0:
        sys.exit(f"build-debs: {command[0]} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def maintainer():
    return f"{os.environ.get('DEBFULLNAME', 'mp developers')} <{os.environ.get('DEBEMAIL', 'nobody@mp.invalid')}>"


def epoch():
    if os.environ.get("SOURCE_DATE_EPOCH"):
        return int(os.environ["SOURCE_DATE_EPOCH"])
    return int(run("git", "-C", SOURCE, "log", "-1", "--format=%ct").strip())


def debian_changelog(seconds):
    """CHANGELOG.md as Debian writes such files."""
    out = []
    for version, note, text in re.findall(r"^## (\S+?)(,[^\n]*)?\n(.*?)(?=^## |\Z)", (SOURCE / "CHANGELOG.md").read_text(), re.M | re.S):
        suite = "UNRELEASED" if "not released" in note else "unstable"
        entries = re.findall(r"^- (.*?)(?=^- |\Z)", text.strip() + "\n", re.M | re.S)
        lines = [textwrap.fill(" ".join(entry.split()), 80, initial_indent="  * ", subsequent_indent="    ",
                               break_long_words=False, break_on_hyphens=False) for entry in entries]
        out.append(f"mp ({version}) {suite}; urgency=medium\n\n" + "\n".join(lines) +
                   f"\n\n -- {maintainer()}  {email.utils.formatdate(seconds)}\n")
    return "\n".join(out)


def copyright_file():
    """Machine-readable, with the licence whole but for the Apache License, which Debian has in one place."""
    exception = (SOURCE / "LICENSE").read_text().split("---- LLVM Exceptions to the Apache 2.0 License ----")
    if len(exception) < 2:
        sys.exit("build-debs: LICENSE has no LLVM exceptions after the Apache License")
    indented = "\n".join(f" {line}" if line.strip() else " ." for line in exception[1].strip().splitlines())
    return ("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: mp\n\nFiles: *\n"
            "Copyright: 2026 the authors of mp\nLicense: Apache-2.0-with-LLVM-exception\n\nLicense: Apache-2.0-with-LLVM-exception\n"
            " On Debian systems the Apache License, Version 2.0, is in\n /usr/share/common-licenses/Apache-2.0. To it is added:\n .\n"
            + indented + "\n")


def documents(build, folder, seconds):
    run(sys.executable, SOURCE / "tools/dev/package/tool-pages.py", build / "bin", folder)
    run(sys.executable, SOURCE / "tools/dev/package/reference-pages.py", build / "bin", folder / "reference")
    (folder / "copyright").write_text(copyright_file())
    with gzip.GzipFile(folder / "changelog.gz", "wb", 9, mtime=seconds) as file:
        file.write(debian_changelog(seconds).encode())
    for path in folder.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)


def cached(build, name):
    found = re.search(rf"^{name}(?::\w+)?=(.*)$", (build / "CMakeCache.txt").read_text(), re.M)
    if not found:
        sys.exit(f"build-debs: '{build}' is no build folder of mp: its cache has no {name}")
    return found[1]


def lintian(packages):
    if not shutil.which("lintian"):
        print("lintian: skipped, it is not installed (apt-get install lintian)")
        return 0
    unnamed = [] if os.environ.get("DEBEMAIL") else ["--suppress-tags", "bogus-mail-host,bogus-mail-host-in-debian-changelog"]
    done = subprocess.run(["lintian", *unnamed, "--fail-on=error,warning", "--allow-root", "--tag-display-limit=0", *map(str, packages)],
                          text=True, capture_output=True)
    print(done.stdout + done.stderr, end="")
    print("lintian: " + ("clean" if done.returncode == 0 else f"status {done.returncode}") +
          (", no address asked for: DEBEMAIL is not set" if unnamed else ""))
    return 1 if done.returncode else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--keep", type=pathlib.Path, help="folder for what CPack works on")
    options = parser.parse_args()
    for program, package in NEEDED.items():
        if not shutil.which(program):
            print(f"build-debs: skipped: no {program} (apt-get install {package})", file=sys.stderr)
            return 77
    build, out, seconds = options.build.resolve(), options.out.resolve(), epoch()
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.keep or pathlib.Path(temporary)).resolve()
        documents(build, folder / "documents", seconds)
        libraries = pathlib.Path(cached(build, "MLIR_DIR")).parents[1]
        run("cmake", "-G", "Ninja", "-S", SOURCE / "tools/dev/package/debian", "-B", folder / "cpack", f"-DMP_BUILD={build}", f"-DMP_SOURCE={SOURCE}",
            f"-DMP_DOCUMENTS={folder / 'documents'}", f"-DMP_VERSION={cached(build, 'CMAKE_PROJECT_VERSION')}",
            f"-DMP_MAINTAINER={maintainer()}", f"-DMP_LIBRARY_DIR={libraries}")
        run("cpack", "-G", "DEB", "-B", folder / "made", cwd=folder / "cpack",
            env=dict(os.environ, SOURCE_DATE_EPOCH=str(seconds),
                                                            PERL_HASH_SEED="0", PERL_PERTURB_KEYS="0"))  # of dpkg-shlibdeps
        packages = [shutil.copy(path, out) for path in sorted((folder / "made").glob("*.deb"))]
    for path in packages:
        depends = run("dpkg-deb", "-f", path, "Depends").strip()
        print(f"{os.path.getsize(path) / 1e6:6.2f} MB  {pathlib.Path(path).name}: {depends}")
    return lintian(packages)


if __name__ == "__main__":
    sys.exit(main())
