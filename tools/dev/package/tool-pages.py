#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes man pages and bash completion of the tools, out of their own --help.

usage: tool-pages.py BIN OUT

BIN holds the tools. OUT/man1 gets a page for each, OUT/completions one script and a link for each tool. Nothing
is written twice: a flag that --help does not name is in neither.
"""
import argparse
import gzip
import pathlib
import re
import subprocess
import sys

SUMMARIES = {  # of tools whose help opens with their usage
    "mp-gen": "write example models as MLIR",
    "mp-lsp-server": "serve editors of MLIR with mp's dialects",
    "mp-reduce": "make a module that fails smaller",
}
OPTION = re.compile(r"^ {2,6}(-{1,2}[^\s].*?|[a-z-]+=[A-Z][\w.]*)(?: {2,}-? *(.*)|$)")
PASSES = re.compile(r"^ +(Passes|Pass Pipelines):$")


def help_of(path):
    flag = "--help-all" if path.name == "mp-run" else "--help"  # mp-opt's has all of upstream's flags
    done = subprocess.run([str(path), flag], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"tool-pages: '{path} {flag}' ended with {done.returncode}: {done.stderr[:200]}")
    return without_passes(done.stdout.splitlines())


def without_passes(lines):
    """Without the thousand lines of upstream's passes: mp-opt --list-passes prints those."""
    kept, skipping = [], False
    for line in lines:
        if PASSES.match(line):
            skipping = True
            kept.append("    Passes are listed by mp-opt --list-passes.")
        elif skipping and (not line.strip() or re.match(r"^ {0,3}\S", line) and not line.strip().startswith("=")):
            skipping = False
        if not skipping:
            kept.append(line)
    return kept


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def body(lines):
    """Roff of the help: headings, options as tagged paragraphs, what stays is kept as it stands."""
    out, plain, tagged = [], [], False

    def flush():
        if any(line.strip() for line in plain):
            out.extend([".PP", ".nf", *(escaped(line) for line in plain), ".fi"])
        plain.clear()

    for line in lines:
        option = OPTION.match(line)
        if re.match(r"^[A-Za-z][^:]*:$", line):
            flush()
            out.append(f".SH {escaped(line[:-1].upper())}")
            tagged = False
        elif option and len(option[1]) < 90:
            flush()
            out += [".TP", f".B {escaped(option[1].strip())}", escaped((option[2] or "").strip()) or "\\&"]
            tagged = True
        elif tagged and re.match(r"^ {8,}\S| {4}=", line):
            out.append(escaped(line.strip()) if not line.startswith("    =") else ".br\n" + escaped(line.strip()))
        else:
            tagged = False
            if line.strip() or plain:
                plain.append(line)
    flush()
    return out


def man_page(tool, lines, version):
    first = re.match(rf"^{tool}[^:]*: (.*)$", lines[0])
    summary = first[1] if first else SUMMARIES.get(tool)
    if not summary:
        sys.exit(f"tool-pages: no summary of {tool}: its help opens with neither '{tool}: ...' nor a known usage")
    usage = next((line.split(":", 1)[1].strip() for line in lines if line.lower().startswith("usage:")), lines[0].split(":")[0])
    head = [f'.TH {tool.upper()} 1 "" "mp {version}" "User Commands"', ".SH NAME", f"{tool} \\- {escaped(summary)}",
            ".SH SYNOPSIS", f".B {escaped(usage)}", ".SH DESCRIPTION"]
    rest = [line for line in lines[first is not None:] if not line.startswith(("USAGE:", "OVERVIEW:", "usage: mp-opt"))]
    return "\n".join([*head, *body(rest), ""])


def flags(lines):
    """Flags with = where a value follows, and the values of those that list them."""
    names, values = set(), {}
    for line in lines:
        for name, equals, given in re.findall(r"(?<![\w\"=])(--[a-z][\w-]*|-[a-z]\b)(=?)([\w.|-]*)", line):
            names.add(name + equals)
            words = [word for word in given.split("|") if word]
            if len(words) > 1 and not any(re.search("[A-Z]", word) for word in words):
                values[name] = words
    return sorted(name for name in names if name + "=" not in names), values


def completion(helps):
    lines = ["# bash completion of mp's tools, made from their --help", "_mp() {", "  local cur prev words cword",
             "  _init_completion -n = || return", "  local flags= values=", '  case "${words[0]##*/}" in']
    for tool, text in helps.items():
        names, values = flags(line for line in text if tool == "mp-opt" or "mp-opt" not in line)
        lines.append(f"    {tool})")
        lines.append(f"      flags='{' '.join(names)}'")
        if values:
            lines.append('      case "$cur" in')
            lines += [f"        {name}=*) values='{' '.join(words)}' ;;" for name, words in sorted(values.items())]
            lines.append("      esac")
        lines.append("      ;;")
    lines += ["  esac",
              '  if [[ -n $values ]]; then', '    COMPREPLY=($(compgen -P "${cur%%=*}=" -W "$values" -- "${cur#*=}"))',
              '  elif [[ $cur == --*=* ]]; then', '    cur=${cur#*=}', '    _filedir',
              '  elif [[ $cur == -* ]]; then', '    COMPREPLY=($(compgen -W "$flags" -- "$cur"))',
              '    [[ ${COMPREPLY-} == *= ]] && compopt -o nospace', "  else", "    _filedir", "  fi", "}",
              f"complete -F _mp {' '.join(helps)}", ""]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    options = parser.parse_args()
    tools = [path for path in sorted(options.bin.glob("mp-*")) if path.name.count("-") == 1 or path.name == "mp-lsp-server"]
    helps = {path.name: help_of(path) for path in tools if path.name != "mp-sweep"}
    if "mp-opt" not in helps:
        sys.exit(f"tool-pages: no mp-opt in '{options.bin}'")
    said = subprocess.run([str(options.bin / "mp-opt"), "--version"], capture_output=True, text=True).stdout
    version = said.split()[1]
    for folder in ("man1", "completions"):
        (options.out / folder).mkdir(parents=True, exist_ok=True)
    for tool, lines in helps.items():
        with gzip.GzipFile(options.out / f"man1/{tool}.1.gz", "wb", 9, mtime=0) as file:
            file.write(man_page(tool, lines, version).encode())
    script = options.out / "completions/mp-opt"
    script.write_text(completion(helps))
    for tool in helps:
        link = options.out / "completions" / tool
        if tool != "mp-opt" and not link.is_symlink():
            link.symlink_to("mp-opt")
    print(f"{len(helps)} man pages, completion of {' '.join(helps)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
