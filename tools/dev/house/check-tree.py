#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the tree against the rules of docs/concepts/Architecture.md.

usage: check-tree.py [ROOT]

Allowed includes per room and per folder, public headers beside their sources, sizes of files, functions
and folders, comments with a subject, licence lines, nothing foreign at the top level; C++ formatted by
clang-format-22 (where it is installed), lines of at most 100 columns; every pass and every op has a
summary, a description with a runnable example, and a test; links and paths in pages lead somewhere, paths of pages in sources do, docs/README.md links every page, and
tools/dev/README.md names every tool. Prints one line per problem; exits 1 if there are any.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from code_rules import MAX_FUNCTION, headless_comments, lines_of_code, long_functions

# Room -> rooms it may include, itself and theirs beside. The same table is in docs/concepts/Architecture.md.
ROOMS = {
    "Support": [],
    "Numerics": [],
    "Target": ["Support", "Runtime"],
    "Policy": ["Target"],
    "Assignment": ["Support"],
    "Runtime": [],
    "Domains": ["Numerics"],
    "Emulator": ["Numerics", "Runtime"],
    "Layouts": [],
    "Cubin": [],
    "Performance": ["Target"],
    "Watch": [],
    "Dialect": ["Support", "Numerics"],
    "Proofs": ["Dialect"],
    "Interfaces": ["Domains", "Dialect"],
    "Analysis": ["Interfaces", "Domains", "Target", "Performance"],
    "Report": ["Analysis"],
    "Import": ["Dialect"],
    "Models": ["Dialect"],
    "Kernels": ["Analysis", "Target", "Interfaces", "Runtime", "Layouts", "Performance"],
    "Transforms": ["Analysis", "Assignment", "Target", "Policy", "Proofs", "Performance"],
    "Pipelines": ["Transforms", "Kernels", "Import", "Report"],
    "Execution": ["Pipelines", "Runtime", "Emulator", "Numerics", "Performance", "Watch"],
    "ToolSupport": ["Support", "Target", "Policy", "Performance"],
    "CAPI": ["Execution", "ToolSupport"],
}
# Folder of a room -> folders of the room it may include. What lies in the room itself (its public words, what joins
# folders) is not checked. Rooms without a table may have any arrows that make no circle.
FOLDERS = {
    "Transforms": {"Common": [], "Annotate": ["Common"], "Train": ["Common"], "Assign": ["Common"], "Scale": ["Common"],
                   "Prepare": ["Common", "Assign", "Scale"], "Materialize": ["Common", "Scale"], "Optimize": ["Common"],
                   "Distribute": ["Common"], "Quantize": ["Common"], "Verify": ["Common"], "Interop": ["Common"]},
    "Execution": {"Files": [], "Host": [], "Compare": ["Host"], "Calibration": ["Host"],
                  "Watch": ["Compare", "Files", "Host"], "Trials": ["Calibration", "Compare", "Files", "Host", "Watch"],
                  "Train": ["Files", "Host", "Watch"],
                  "Tool": ["Calibration", "Compare", "Files", "Host", "Trials", "Watch"]},
    "Emulator": {"Syntax": [], "Decode": ["Syntax"], "State": ["Decode"], "Memory": ["Decode", "State"],
                 "Scalar": ["Decode", "State"], "Transfer": ["Decode", "Scalar", "State"], "Control": ["Decode", "State"],
                 "Matrix": ["Decode", "Scalar", "State", "Transfer"], "Machine": ["State"]},
}
PLAIN_ROOMS = {"Support", "Numerics", "Target", "Policy", "Domains", "Assignment", "Emulator", "Runtime", "Layouts", "Cubin", "Performance", "Watch"}
TOP_LEVEL = {"lib", "include", "python", "tools", "test", "docs", "CMakeLists.txt", "CMakePresets.json", "README.md", "CHANGELOG.md", "LICENSE"}
# Passes that read other files, so that no example fits into a block of mlir.
WITHOUT_EXAMPLE = {"mp-merge-versions"}
MAX_LINES = {".cpp": 400, ".h": 400, ".td": 400}
MAX_LINES_OF_SCRIPTS = 500
MAX_COLUMNS = 100
INDEX = pathlib.Path("docs/README.md")
CLANG_FORMAT = "clang-format-22"
MAX_SOURCES = 16
# Files that hold more, and how many lines; none may grow, each is to be split by its second responsibility.
MORE_LINES = {"lib/Kernels/Families/AttentionKernel.cpp": 493,
              "lib/Kernels/Families/StreamKernel.cpp": 465,
              "test/Kernels/EmulatedContractionTest.cpp": 415}
# Files whose comments and functions are mended once the work on them is in; the list only shrinks.
TO_MEND = {"lib/Analysis/Error/ErrorModel.cpp", "test/Analysis/ErrorModelTest.cpp"}
# Folders that hold more, and why.
MORE_SOURCES = {"lib/Target": (20, "one file per architecture")}
CODE = {".cpp", ".h", ".td", ".py", ".sh"}
LICENCE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"


def may_include(room):
    """The room itself and everything below it."""
    reached, pending = set(), [room]
    while pending:
        current = pending.pop()
        if current not in reached:
            reached.add(current)
            pending += ROOMS[current]
    return reached


def check_top_level(root):
    for entry in sorted(root.iterdir()):
        if not entry.name.startswith((".", "build", "install")) and entry.name not in TOP_LEVEL:
            yield f"{entry.name}: does not belong at the top level, which holds {', '.join(sorted(TOP_LEVEL))}"


def check_files(root, files):
    for path in files:
        name = path.relative_to(root)
        lines = path.read_text(errors="replace").splitlines()
        limit = MORE_LINES.get(name.as_posix(), MAX_LINES.get(path.suffix, MAX_LINES_OF_SCRIPTS))
        if len(lines) > limit:
            yield f"{name}: {len(lines)} lines, at most {limit}; split it by concern"
        if LICENCE not in " ".join(line.lstrip("/# ") for line in lines[:4]):
            yield f"{name}: no licence line on top"
        marker = "TO" + "DO"
        for number, line in enumerate(lines, 1):
            if re.search(rf"\b({marker}|FIX{'ME'})\b", line):
                yield f"{name}:{number}: {marker}; write an issue instead"
            if name.parts[0] == "lib" and name.parts[1] != "ToolSupport" and re.search(r"\bcl::opt<", line):
                yield f"{name}:{number}: global option; options belong to passes, in TableGen"


def check_prose_and_functions(root, files):
    for path in files:
        name, text = path.relative_to(root), path.read_text(errors="replace")
        if name.as_posix() in TO_MEND:
            continue
        for number in headless_comments(text):
            yield f"{name}:{number}: this comment has no subject; say who does what"
        if path.suffix in (".cpp", ".h") and name.parts[0] != "test":
            for number, length in long_functions(text):
                yield f"{name}:{number}: a function of {length} lines, at most {MAX_FUNCTION}; name its steps"


def check_columns(root, files):
    for path in files:
        if path.suffix in (".cpp", ".h", ".td"):
            for number, line in lines_of_code(path.read_text()):
                if len(line) > MAX_COLUMNS:
                    yield f"{path.relative_to(root)}:{number}: {len(line)} columns, at most {MAX_COLUMNS}"


def check_format(root, files):
    """Asks clang-format which files it would change; says so where it is not installed."""
    if not shutil.which(CLANG_FORMAT):
        print(f"{CLANG_FORMAT} is not installed: formatting is not checked")
        return
    style = pathlib.Path(__file__).parents[3] / ".clang-format"
    sources = [path for path in files if path.suffix in (".cpp", ".h")]
    done = subprocess.run([CLANG_FORMAT, f"--style=file:{style}", "--dry-run", "--ferror-limit=1", *sources],
                          capture_output=True, text=True)
    for name in sorted(set(re.findall(r"^(\S+?):\d+:\d+: (?:warning|error): code should be clang-formatted",
                                      done.stderr, re.M))):
        yield f"{pathlib.Path(name).relative_to(root)}: differs from {CLANG_FORMAT}; run it with -i"


def check_folders(root, files):
    count = {}
    for path in files:
        if path.suffix == ".cpp" and path.relative_to(root).parts[0] == "lib":
            folder = path.parent.relative_to(root).as_posix()
            count[folder] = count.get(folder, 0) + 1
    for folder, sources in sorted(count.items()):
        limit, _ = MORE_SOURCES.get(folder, (MAX_SOURCES, ""))
        if sources > limit:
            yield f"{folder}: {sources} sources, at most {limit}; split it into folders"


def check_includes(root, files):
    for path in files:
        name = path.relative_to(root)
        if path.suffix not in (".cpp", ".h", ".td"):
            continue
        if name.parts[0] == "lib" and len(name.parts) > 2:
            room = name.parts[1]
        elif name.parts[:2] == ("include", "mp") and len(name.parts) > 3:
            room = name.parts[2]
        else:
            continue
        if room not in ROOMS:
            yield f"{name}: '{room}' is no room; docs/concepts/Architecture.md has the list"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'\s*#?include "(mp|mlir)/(\w+)', line)
            if not match:
                continue
            if match[1] == "mp" and match[2] not in may_include(room):
                yield f"{name}:{number}: {room} includes {match[2]}; it may include {', '.join(ROOMS[room]) or 'no other room'}"
            if match[1] == "mlir" and room in PLAIN_ROOMS:
                yield f"{name}:{number}: {room} is plain C++ and includes MLIR"


def place_of(root, path):
    """(room, folder of the room or "") of a file of lib or include/mp; nothing elsewhere."""
    parts = path.relative_to(root).parts
    parts = parts[1:] if parts[0] == "lib" else parts[2:] if parts[:2] == ("include", "mp") else ()
    return (parts[0], parts[1] if len(parts) > 2 else "") if len(parts) > 1 else None


def folder_arrows(root, files):
    """{(room, folder, folder included): [(file, line)]}, of relative includes and of public headers."""
    arrows = {}
    for path in files:
        place = place_of(root, path)
        if not place or path.suffix not in (".cpp", ".h"):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'#include "((?:mp|\.\.)/[\w./]+)"', line)
            if match:
                target = root / "include" / match[1] if match[1].startswith("mp/") else path.parent / match[1]
                other = place_of(root, pathlib.Path(os.path.normpath(target)))
                if other and other[0] == place[0] and other[1] != place[1]:
                    arrows.setdefault((*place, other[1]), []).append((path, number))
    return arrows


def check_folder_arrows(root, files):
    arrows = folder_arrows(root, files)
    below = {}
    for (room, folder, other), places in sorted(arrows.items()):
        if not folder or not other:
            continue
        below.setdefault((room, folder), set()).add(other)
        if room in FOLDERS and other not in FOLDERS[room].get(folder, []):
            path, number = places[0]
            yield (f"{path.relative_to(root)}:{number}: {room}/{folder} includes {room}/{other}; "
                   f"it may include {', '.join(FOLDERS[room].get(folder, [])) or 'no other folder'}")
    for room, folder in sorted(below):
        reached, pending = set(), list(below[room, folder])
        while pending:
            current = pending.pop()
            if current not in reached:
                reached.add(current)
                pending += below.get((room, current), ())
        if folder in reached:
            yield f"lib/{room}/{folder}: includes itself through {', '.join(sorted(below[room, folder]))}"


def check_mirror(root, files):
    """A public header lies in the room itself or in the folder of its source."""
    sources = {}
    for path in files:
        place = place_of(root, path)
        if place and path.suffix == ".cpp":
            sources.setdefault((place[0], path.stem), set()).add(place[1])
    for path in files:
        place = place_of(root, path)
        if place and path.suffix == ".h" and path.relative_to(root).parts[0] == "include" and place[1]:
            found = sources.get((place[0], path.stem))
            if found and place[1] not in found:
                yield f"{path.relative_to(root)}: its source is in lib/{place[0]}/{sorted(found)[0]}"
            if not (root / "lib" / place[0] / place[1]).is_dir():
                yield f"{path.relative_to(root)}: lib/{place[0]} has no folder {place[1]}"


def definitions(text, pattern):
    """(match, body) of each TableGen def that matches."""
    for match in re.finditer(pattern, text):
        end = re.search(r"^}", text[match.end():], re.M)
        yield match, text[match.start():match.end() + (end.start() if end else 0)]


def check_described(name, what, body, needs_example=True):
    if 'let summary = "' not in body:
        yield f"{name}: {what} has no summary"
    if "let description" not in body:
        yield f"{name}: {what} has no description"
    elif needs_example and "```mlir" not in body:
        yield f"{name}: the description of {what} has no example fenced as mlir"


def check_passes(root, files, tests):
    for path in files:
        if not path.name.endswith("Passes.td"):
            continue
        name = path.relative_to(root)
        folder = root / "lib" / path.parent.relative_to(root / "include" / "mp")
        for match, body in definitions(path.read_text(), r'def (\w+) : (?:Interface)?Pass<"([^"]+)"'):
            pass_name, flag = match.groups()
            yield from check_described(name, f"pass {flag}", body, flag not in WITHOUT_EXAMPLE)
            if not list(folder.rglob(pass_name + ".cpp")):
                yield f"{name}: pass {flag} should be in {folder.relative_to(root)}/{pass_name}.cpp"
            # An example that shows what comes out is a test too: run-doc-examples.py runs it.
            shown = re.search(rf"--{flag}\b", body) and re.search(r"^ *becomes$", body, re.M)
            if not shown and not any(re.search(rf"{flag}\b", text) for text in tests.values()):
                yield f"{name}: no test runs {flag}"


def check_ops(root, files, tests):
    for path in files:
        if path.suffix != ".td" or "Dialect" not in path.parts:
            continue
        name = path.relative_to(root)
        for match, body in definitions(path.read_text(), r'def (MPK?|Check)_\w+Op : (?:MPK?|Check)_\w*Op<"([\w.]+)"'):
            op = f"{match[1].lower()}.{match[2]}"
            yield from check_described(name, f"op {op}", body)
            if not any(re.search(rf"{re.escape(op)}\b", text) for text in tests.values()):
                yield f"{name}: no test mentions {op}"


def check_pages(root):
    """Links and paths in backquotes of the README and of docs, and the index of all pages."""
    pages = sorted((root / "docs").rglob("*.md"))
    linked = set()
    for path in [root / "README.md", *pages]:
        name = path.relative_to(root)
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for target in re.findall(r"\]\(([^)\s]+)\)", line):
                found = (path.parent / target.split("#")[0]).resolve()
                if re.match(r"\w+:", target) or target.startswith("#"):
                    continue
                if name == INDEX:
                    linked.add(found)
                if not found.exists():
                    yield f"{name}:{number}: the link {target} leads nowhere"
            for named in re.findall(r"`((?:mp|lib|include|test|tools)/[\w./-]+)`", line):
                if not (root / ("include" if named.startswith("mp/") else "") / named).exists():
                    yield f"{name}:{number}: names {named}, which does not exist"
    for path in pages:
        if path.resolve() not in linked and path != root / INDEX:
            yield f"{path.relative_to(root)}: {INDEX} does not link it"


def check_tools(root):
    """Tools lie in rooms of tools/dev, and its index names each, as `room/name`."""
    folder = root / "tools/dev"
    index = set(re.findall(r"`(\w+/[\w.-]+)`", (folder / "README.md").read_text()))
    for path in sorted(folder.glob("*/*")):
        name = path.relative_to(folder).as_posix()
        if "__pycache__" not in path.parts and path.suffix != ".h" and name not in index and name != "sweep/Runner.cpp":
            yield f"tools/dev/{name}: tools/dev/README.md does not name it"
    for name in sorted(index):
        if not (folder / name).exists():
            yield f"tools/dev/README.md: names {name}, which does not exist"


def check_page_paths(root, files):
    """Paths of pages that comments, messages, tools and pages name anywhere."""
    for path in sorted(files):
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            for named in re.findall(r"\bdocs/[\w/]+\.md\b", line):
                if not (root / named).exists():
                    yield f"{path.relative_to(root)}:{number}: names {named}, which does not exist"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[3]).resolve()
    files = [path for folder in ("lib", "include", "python", "tools", "test") for path in sorted((root / folder).rglob("*"))
             if path.suffix in CODE and path.is_file() and "__pycache__" not in path.parts]
    tests = {path: path.read_text(errors="replace") for path in (root / "test").rglob("*")
             if path.suffix in (".mlir", ".test", ".cpp") and path.is_file()}
    problems = [problem for check in (check_files(root, files), check_columns(root, files),
                                      check_prose_and_functions(root, {*files, *tests}),
                                      check_format(root, files), check_folders(root, files),
                                      check_includes(root, files), check_folder_arrows(root, files),
                                      check_mirror(root, files), check_top_level(root), check_passes(root, files, tests),
                                      check_ops(root, files, tests), check_pages(root), check_tools(root),
                                      check_page_paths(root, {*files, *tests, *(root / "docs").rglob("*.md")}))
                for problem in check]
    for problem in problems:
        print(problem)
    print(f"{len(files)} files, {len(problems)} problems")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
