# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads what a report wrote as a browser and Model Explorer would.

usage: parse_outputs.py PAGE.html VIEWER_FOLDER

The page: tags nest and close, nothing comes from elsewhere, the data parse. Model Explorer: ids are unique, edges
lead to nodes, overlays belong to graphs and nodes that exist and have the keys that node data may have.
"""
import html.parser
import json
import pathlib
import re
import sys

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
OPTIONAL = {"html", "head", "body", "p", "li", "tr", "td", "th", "thead", "tbody", "option"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.script, self.data = [], None, ""

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            assert name not in ("src", "href", "action", "srcset") or not value or value.startswith("#"), (tag, name, value)
            assert not re.search(r"(https?:)?//", value or "") or name == "xmlns", (tag, name, value)
        if tag not in VOID:
            self.open.append(tag)
        self.script = dict(attributes).get("id") if tag == "script" else self.script

    def handle_endtag(self, tag):
        while self.open and self.open[-1] != tag and self.open[-1] in OPTIONAL:
            self.open.pop()
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing, line {self.getpos()[0]}"
        self.script = None if tag == "script" else self.script

    def handle_data(self, data):
        self.data += data if self.script == "data" else ""


page = Page()
page.feed(pathlib.Path(sys.argv[1]).read_text())
page.close()
assert all(tag in OPTIONAL for tag in page.open), page.open
shown = json.loads(page.data)
print(f"page: {len(shown['ops'])} ops, {len(shown['functions'])} functions")

folder = pathlib.Path(sys.argv[2])
graphs = {}
for graph in json.loads((folder / "graph.json").read_text())["graphs"]:
    nodes = {node["id"]: node for node in graph["nodes"]}
    assert len(nodes) == len(graph["nodes"]) and graph["id"] not in graphs
    edges = 0
    for node in nodes.values():
        assert set(node) <= {"id", "label", "namespace", "attrs", "incomingEdges", "outputsMetadata", "inputsMetadata",
                             "subgraphIds", "config"}, set(node)
        assert isinstance(node["label"], str) and isinstance(node["namespace"], str)
        assert all(set(pair) == {"key", "value"} and isinstance(pair["value"], str) for pair in node.get("attrs", []))
        for edge in node.get("incomingEdges", []):
            assert edge["sourceNodeId"] in nodes and isinstance(edge["sourceNodeOutputId"], str)
            assert isinstance(edge["targetNodeInputId"], str)
            edges += 1
    graphs[graph["id"]] = nodes
    print(f"graph {graph['id']}: {len(nodes)} nodes, {edges} edges")
for path in sorted(folder.glob("*.json")):
    if path.stem == "graph":
        continue
    for name, overlay in json.loads(path.read_text()).items():
        assert set(overlay) <= {"name", "results", "gradient", "thresholds", "showExpandedSummaryOnGroupNode"}, set(overlay)
        assert set(overlay["results"]) <= set(graphs[name])
        for entry in overlay["results"].values():
            assert set(entry) <= {"value", "bgColor", "textColor"} and "value" in entry
        for stop in overlay.get("gradient", []):
            assert 0 <= stop["stop"] <= 1 and re.fullmatch("#[0-9a-f]{6}", stop["bgColor"])
        print(f"overlay {path.stem}: {len(overlay['results'])} of {name}")
