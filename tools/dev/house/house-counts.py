#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts what reviews of the tree measure, one row per measure.

usage: house-counts.py [ROOT] [--where MEASURE]

Plain text matching, so that an older tree can be counted by the same rules: run it on both and set
the tables side by side. --where lists the places of one measure.
"""
import importlib.util
import pathlib
import re
import sys

from code_rules import headless_comments, lines_of_code, long_functions as long_bodies

CODE = (".cpp", ".h", ".td")
FOLDERS = ("lib", "include", "tools", "test")
NAMED_OP = re.compile(r"\bisa(?:_and_nonnull|_and_present)?<((?:[\w:]+Op\s*,\s*)+[\w:]+Op)\s*>")
NAME_TABLE = re.compile(r"StringSwitch<|StringMap<\w+Fn>|getStringRef\(\) == \"|name == \"(?:arith|math|tosa|linalg|tensor)\.")
# An option in TableGen, then one in C++: its word and its type.
OPTION = re.compile(r'\b(?:List)?Option<"\w+",\s*"(?P<word>[\w-]+)",\s*"(?P<type>[^"]+)"'
                    r'|\b(?:List)?Option<(?P<ctype>[\w:<>]+)>\s*\w+\{\s*\*this,\s*"(?P<cword>[\w-]+)"')
# Texts that come from no closed set: files, folders, and names that the user's program gives.
OPEN_WORDS = {
    "function", "name", "select", "explain", "plan", "policy", "scales", "sensitivity", "costs",
    "dump-problem", "dump-costs", "report", "against", "html", "dot", "viewer", "errors", "original", "file",
    "proofs", "dir"}


def sources(root, folders=FOLDERS, suffixes=CODE):
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in suffixes and path.is_file():
                yield path.relative_to(root), path.read_text(errors="replace")


def headless(root):
    for name, text in sources(root, suffixes=(*CODE, ".py", ".mlir", ".test")):
        yield from (f"{name}:{number}" for number in headless_comments(text))


def wide_lines(root):
    """Lines that can be broken: what raw strings and examples hold is as long as it is."""
    for name, text in sources(root):
        for number, line in lines_of_code(text):
            if len(line) > 100:
                yield f"{name}:{number}"


def long_files(root):
    for name, text in sources(root):
        if text.count("\n") > 400:
            yield f"{name}: {text.count(chr(10))}"


def long_functions(root):
    for name, text in sources(root, folders=("lib", "include", "tools"), suffixes=(".cpp", ".h")):
        yield from (f"{name}:{number}: {length}" for number, length in long_bodies(text))


def matches(pattern, folders=("lib",), suffixes=(".cpp", ".h")):
    def find(root):
        for name, text in sources(root, folders, suffixes):
            for match in pattern.finditer(text):
                yield f"{name}:{text.count(chr(10), 0, match.start()) + 1}"
    return find


def options(accepts):
    """Options of passes and pipelines whose type, and whether their texts are open, `accepts`."""
    def find(root):
        for name, text in sources(root, ("include", "lib"), (".td", ".h", ".cpp")):
            for match in OPTION.finditer(text):
                word, kind = match["word"] or match["cword"], match["type"] or match["ctype"]
                if accepts(kind.split("::")[-1] == "string", word in OPEN_WORDS):
                    yield f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {word}"
    return find


def upward_includes(root):
    """Includes against the table of rooms, as check-tree.py of this tree sees them."""
    spec = importlib.util.spec_from_file_location("check_tree", pathlib.Path(__file__).with_name("check-tree.py"))
    check = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(check)
    files = [root / name for name, _ in sources(root, folders=("lib", "include"))]
    yield from check.check_includes(root, files)


def sideways_includes(root):
    """Folders of a room that include each other, by relative paths, in both directions."""
    arrows = set()
    for name, text in sources(root, folders=("lib",), suffixes=(".cpp", ".h")):
        for match in re.finditer(r'#include "((?:\.\./)+[\w/]+\.h)"', text):
            target = (root / name.parent / match[1]).resolve()
            source = (root / name.parent).resolve()
            if target.parent != source and (root / "lib").resolve() in target.parents:
                arrows.add((source.relative_to(root.resolve()).as_posix(), target.parent.relative_to(root.resolve()).as_posix()))
    for source, target in sorted(arrows):
        if (target, source) in arrows and source < target:
            yield f"{source} <-> {target}"


def without_header(root):
    for name, text in sources(root, folders=("lib",), suffixes=(".cpp",)):
        lines = text.splitlines()
        if len(lines) > 2 and not (lines[1].startswith("//") and lines[2].startswith("// ")):
            yield str(name)


def qualified(root):
    for name, text in sources(root, suffixes=(".cpp", ".h")):
        for number, line in enumerate(text.splitlines(), 1):
            yield from [f"{name}:{number}"] * len(re.findall(r"(?<![\w:])::mp::", line))


MEASURES = {
    "comments that open without a subject": headless,
    "lines over 100 columns": wide_lines,
    "files over 400 lines": long_files,
    "functions over 80 lines": long_functions,
    "sources without a header comment": without_header,
    "options of passes and pipelines": options(lambda is_string, is_open: True),
    "strings among them that are open": options(lambda is_string, is_open: is_string and is_open),
    "strings among them from closed sets": options(lambda is_string, is_open: is_string and not is_open),
    "lists of ops in isa<>": matches(NAMED_OP),
    "tables and tests of op names": matches(NAME_TABLE),
    "includes against the rooms": upward_includes,
    "folders of a room in a circle": sideways_includes,
    "namespace aliases": matches(re.compile(r"^\s*namespace \w+ = ", re.M), FOLDERS),
    "qualifiers ::mp::": qualified,
}


def main():
    arguments = sys.argv[1:]
    where = None
    if "--where" in arguments:
        at = arguments.index("--where")
        where = arguments[at + 1] if at + 1 < len(arguments) else ""
        del arguments[at:at + 2]
        if where not in MEASURES:
            sys.exit(f"house-counts: measure is '{where}', expected one of: {', '.join(MEASURES)}")
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parents[3])
    if not (root / "lib").is_dir():
        sys.exit(f"house-counts: '{root}' holds no folder lib")
    if where:
        print(*MEASURES[where](root), sep="\n")
        return
    print("| measure | count |\n|---|---|")
    for name, find in MEASURES.items():
        print(f"| {name} | {len(list(find(root)))} |")


if __name__ == "__main__":
    main()
