# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Uses the page of a report as a person does, in a real browser: look-at-page.py PAGE PAGE_WITH_CHANGES MODEL."""
import json
import pathlib
import sys
import unittest

from browser import Browser

PAGE, CHANGES, MODEL = sys.argv[1:4]
WIDE = "document.documentElement.scrollWidth"


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def setUp(self):
        self.browser.resize(1280, 900)
        self.browser.open(PAGE)

    def tearDown(self):
        self.assertEqual(self.browser.problems, [])

    def text(self, selector):
        return self.browser.value(f"document.querySelector({json.dumps(selector)}).innerText")

    def is_seen(self, selector):
        left, top, width, height = self.browser.box(selector)
        return width > 0 and height > 0 and left >= 0 and left + width <= self.browser.value("innerWidth")

    def test_begins_with_model_command_and_version(self):
        name = pathlib.Path(MODEL).name
        self.assertEqual(self.browser.value("document.title"), f"{name} in f16: mixed precision")
        self.assertEqual(self.text("#title"), f"{name} in f16")
        self.assertRegex(self.text("#about"), r'^mp-mixed-precision="format=f16.*"; mp \d')
        for what in ("#title", "#about", "#summary", "#letters"):
            self.assertTrue(self.is_seen(what), what)

    def test_errors_estimated_and_measured_are_tiles(self):
        tiles = self.text("#tiles")
        self.assertRegex(tiles, r"\d\S*\s+error of the results in norm, estimated")
        self.assertRegex(tiles, r"\d\S*\s+largest error of an op in norm, measured")

    def test_letters_are_explained(self):
        self.assertRegex(self.text("#letters"), "T contractions; F sums.*B others")
        self.assertRegex(self.text("#classes"), "T +contractions")

    def test_contractions_come_first(self):
        ops = self.browser.value("[...document.querySelectorAll('#ops .line')].slice(0, 4).map(e => e.innerText)")
        self.assertEqual([("matmul" in op) for op in ops], [True] * 3 + [False])

    def test_search(self):
        self.browser.type("#filter", "exp")
        shown = self.browser.value("[...document.querySelectorAll('#ops .line')].map(e => e.innerText)")
        self.assertTrue(shown)
        self.assertTrue(all("exp" in line for line in shown))
        self.assertEqual(self.text("#count"), f"{len(shown)} of 5 ops")
        self.browser.type("#filter", "no such op")
        self.assertEqual(self.text("#count"), "0 of 5 ops")

    def test_layers_group_ops_and_a_click_shows_theirs(self):
        layers = self.browser.value("[...document.querySelectorAll('#layers .line')].map(e => e.innerText.split('\\n')[0])")
        self.assertEqual(layers, ["blocks.0.attention", "blocks.1.attention"])
        self.browser.click("#layers .line", 1)
        self.assertEqual(self.browser.value("document.querySelector('#filter').value"), "blocks.1.attention")
        self.assertEqual(self.text("#count"), "2 of 5 ops")

    def test_a_click_on_the_graph_explains_an_op(self):
        self.assertIn("Click an op", self.text("#details"))
        left, top, _, _ = self.browser.box("#canvas")
        x, y = self.browser.value("(() => { const n = graph.nodes.find(n => n.row.op === 'math.exp');"
                                  " return [view.x + (n.x + W / 2) * view.k, view.y + (n.y + H / 2) * view.k]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.browser.send("Input.dispatchMouseEvent", type=kind, x=left + x, y=top + y, button="left", clickCount=1)
        self.assertRegex(self.text("#details"), r"math\.exp[\s\S]*decided by[\s\S]*because[\s\S]*reads")
        self.assertTrue(self.browser.value("document.querySelector('#ops .line.on').innerText").count("math.exp"))

    def test_the_graph_is_painted(self):
        colours = self.browser.value("(async () => { await new Promise(requestAnimationFrame); await new Promise(requestAnimationFrame);"
                                     " const c = document.querySelector('#canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
                                     " const s = new Set(); for (let i = 0; i < d.length; i += 4) if (d[i + 3] === 255) s.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);"
                                     " return s.size; })()")
        self.assertGreater(colours, 3)

    def test_advice_is_seen_without_a_click(self):
        self.assertRegex(self.text("#advice"), r"pre-scale|clamp|range")
        self.assertTrue(self.is_seen("#advice"))

    def test_before_and_after_are_side_by_side(self):
        line = "#text .line.changed[data-seen]"
        self.browser.value("[...document.querySelectorAll('#text .line.changed')].find(e => e.innerText.includes('matmul')).dataset.seen = 'yes'")
        self.browser.value(f"document.querySelector('{line}').scrollIntoView({{block: 'center'}})")
        before, after = self.browser.value(f"[2, 4].map(n => document.querySelector(`{line} span:nth-child(${{n}})`).getBoundingClientRect().toJSON())")
        self.assertEqual(before["top"], after["top"])
        self.assertLessEqual(before["right"], after["left"])
        self.assertLessEqual(after["right"], 1280)
        self.assertIn("tensor<4x4xf32>", self.text(f"{line} span:nth-child(2)"))
        self.assertIn("tensor<4x4xf16>", self.text(f"{line} span:nth-child(4)"))
        self.assertIn("matmul", self.text(f"{line} span:nth-child(2)"))
        few = self.browser.value("document.querySelectorAll('#text .line').length")
        self.browser.click("#textAll")
        self.assertGreater(self.browser.value("document.querySelectorAll('#text .line').length"), few)

    def test_what_differs_from_another_report(self):
        self.assertFalse(self.browser.value("document.querySelector('#changeSection').checkVisibility()"))
        self.browser.open(CHANGES)
        self.assertTrue(self.browser.value("document.querySelector('#changeSection').checkVisibility()"))
        self.assertRegex(self.text("#changeTitle"), "Changes against ")
        self.assertRegex(self.text("#changes"), r"computes in bf16[\s\S]*computes in f16")

    def test_a_phone_scrolls_down_alone(self):
        self.browser.resize(390, 844, mobile=True)
        self.browser.open(CHANGES)
        self.assertEqual(self.browser.value("innerWidth"), 390)
        self.assertLessEqual(self.browser.value(WIDE), 390)
        for section in range(self.browser.value("document.querySelectorAll('section').length")):
            left, _, width, height = self.browser.box("section", section)
            if height > 0:
                self.assertGreaterEqual(left, 0)
                self.assertLessEqual(left + width, 390)
        canvas = self.browser.box("#canvas")
        self.assertGreater(canvas[2], 300)
        x, y, before = canvas[0] + canvas[2] / 2, canvas[1] + canvas[3] / 2, self.browser.value("view.k")
        self.browser.touch([(x - 20, y), (x - 40, y), (x - 80, y)], [(x + 20, y), (x + 40, y), (x + 80, y)])
        self.assertGreater(self.browser.value("view.k"), 1.5 * before)

    def test_widths_between(self):
        for width in (320, 701, 901, 2560):
            self.browser.resize(width, 800)
            self.assertLessEqual(self.browser.value(WIDE), width)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
