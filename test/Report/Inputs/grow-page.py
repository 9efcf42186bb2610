# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Opens the page of a report whose rows are repeated, in a real browser: grow-page.py PAGE OPS. Prints what that takes."""
import json
import os
import pathlib
import re
import sys
import tempfile
import time

from browser import Browser


def grow(page, count):
    """The page with `count` ops in a chain, layers of fifty."""
    found = re.search(r'id="data">([\s\S]*?)</script>', page)
    report = json.loads(found[1])
    rows, texts = report["ops"], []
    for index in range(count):
        row = {**rows[index % len(rows)], "ordinal": index, "name": f"blocks.{index // 50}.attention.op{index % 50}", "location": f"model.mlir:{index + 5}:10"}
        row["reads"] = [f"op {index - 1}" if index else "argument 0", *["argument 1"] * (len(row["in"]) - 1)]
        texts.append(json.dumps(row, separators=(",", ":")))
    report["ops"], report["totals"]["ops"] = [], count
    text = json.dumps(report, separators=(",", ":")).replace('"ops":[]', '"ops":[' + ",".join(texts) + "]", 1)
    return page[:found.start(1)] + text.replace("</", "\\u003c/") + page[found.end(1):]


def main():
    count = int(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.html")
        pathlib.Path(path).write_text(grow(pathlib.Path(sys.argv[1]).read_text(), count))
        browser = Browser()
        try:
            opened, start = browser.open(path), time.monotonic()
            browser.value("document.querySelector('#filter').value = 'blocks.7. tanh'; applyFilter()")
            filtered, shown = time.monotonic() - start, browser.value("document.querySelector('#count').innerText")
            start = time.monotonic()
            browser.value("draw(); new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r))).then(() => 1)")
            print(f"{count} ops, {os.path.getsize(path) / 1e6:.0f} MB: opened in {opened:.1f} s, filtered in {filtered:.2f} s ({shown}), "
                  f"painted whole in {time.monotonic() - start:.1f} s, {len(browser.problems)} problems")
        finally:
            browser.close()


if __name__ == "__main__":
    main()
