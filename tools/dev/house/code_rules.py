# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules of a text of code that check-tree.py holds and house-counts.py counts."""
import re

MAX_FUNCTION = 80
HEADLESS = re.compile(r"^\s*(?://[/!]?<?|#)\s+(What|Of|Whether|Who|Whose|Where|How|Which|Why)\b")


def lines_of_code(text):
    """(number, line) of each line that can be broken: not in raw strings, nor in examples of TableGen."""
    closing = None
    for number, line in enumerate(text.splitlines(), 1):
        if closing:
            if closing in line:
                closing = None
            continue
        raw = re.search(r'R"(\w*)\(', line)
        if raw and f"){raw[1]}\"" not in line[raw.end():]:
            closing = f'){raw[1]}"'
        elif line.strip() == "```mlir":
            closing = "```"
        if not raw:
            yield number, line


def headless_comments(text):
    """Lines of comments that open with a relative clause or a bare genitive: nobody does anything in them."""
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        begins = not re.match(r"\s*(//|#)\S*\s+\S", before) or before.rstrip().endswith((".", ":", "exception"))
        if begins and HEADLESS.match(line):
            yield number
        before = line


def start_of(lines, number):
    """The line where the declaration begins that ends in the brace of line `number`."""
    ends = re.compile(r"\s*(//|#|$|(public|private|protected|case .*|default):$)|.*[;{}]$")
    while number > 0 and not ends.match(lines[number - 1]):
        number -= 1
    return number


def long_functions(text):
    """(line, length) of bodies of more lines than allowed: from a line that opens a brace to the brace below the
    declaration. Tables are none."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if not line.endswith("{"):
            continue
        first = start_of(lines, number)
        head, indent = " ".join(lines[first:number + 1]), re.match(r" *", lines[first])[0]
        is_lambda = re.search(r"\[[&=\w, ]*\] ?(\(|\{$)", head)
        if len(indent) > 2 or "(" not in head or head.endswith("= {") or is_lambda or re.match(
                r"\s*(namespace|struct|class|enum|union|extern|if|for|while|switch|else|do|case)\b", head):
            continue
        end = next((k for k in range(number + 1, len(lines)) if re.match(rf"{indent}}}", lines[k])), number)
        if end - number > MAX_FUNCTION:
            yield first + 1, end - number
