# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds a .dot file against the part of the DOT grammar that it may use; every edge has its two nodes."""
import re
import sys

text = open(sys.argv[1]).read()
STRING = r'"(?:[^"\\]|\\.)*"'
nodes, edges, depth = set(), [], 0
for line in text.splitlines():
    line = line.strip()
    if re.fullmatch(rf"(digraph \w+|subgraph {STRING}) {{", line):
        depth += 1
    elif line == "}":
        depth -= 1
    elif found := re.fullmatch(rf"({STRING}) -> ({STRING})(?: \[.*\])?;", line):
        edges.append(found.groups())
    elif found := re.fullmatch(rf"({STRING}) \[label={STRING} fillcolor={STRING}\];", line):
        nodes.add(found[1])
    elif not re.fullmatch(rf"(label={STRING}|rankdir=TB|node \[[^\]]*\]);", line):
        sys.exit(f"no statement of DOT: {line}")
missing = [end for edge in edges for end in edge if end not in nodes]
if depth or missing or not edges:
    sys.exit(f"depth {depth}, edges without nodes {missing}, {len(edges)} edges")
