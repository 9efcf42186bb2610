# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a conversion decided, for people and programs; and how far results are from a reference."""
import html
import json
import math


class Report:
    """The report of a conversion (docs/reference/Report.md): prints as the table, shows as the page in notebooks."""

    def __init__(self, text, content, page):
        self.text, self.content, self.page = text, content, page

    @classmethod
    def of(cls, outcome):
        return cls(outcome.print("text").strip(), json.loads(outcome.print("json")), outcome.print("html"))

    def __str__(self):
        return self.text

    def _repr_html_(self):
        return f'<iframe srcdoc="{html.escape(self.page)}" style="width:100%;height:40em;border:0"></iframe>'

    @property
    def totals(self):
        return self.content["totals"]

    @property
    def contractions(self):
        return self.totals["contractions"]

    @property
    def narrowed(self):
        return self.totals["narrowed"]

    @property
    def bytes_before(self):
        return self.totals["bytes_before"]

    @property
    def bytes_after(self):
        return self.totals["bytes_after"]

    @property
    def ops(self):
        return self.content["ops"]

    @property
    def casts(self):
        return self.content["casts"]

    def ops_of(self, path):
        """The rows of a layer: of ops whose name is `path` or begins with it."""
        return [op for op in self.ops if (name := op.get("name", "")) == path or name.startswith((path + ".", path + "/"))]

    def layers(self):
        """Names of ops, in order, each once."""
        return list(dict.fromkeys(op["name"] for op in self.ops if op.get("name")))

    def save_html(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.page)

    def save_json(self, path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.content, file, indent=2)


class Difference:
    """How far one result is from its reference."""

    def __init__(self, name, found, expected):
        import numpy as np
        self.name = name
        found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
        finite = np.isfinite(expected)
        same = np.array_equal(found[~finite], expected[~finite], equal_nan=True) and np.isfinite(found[finite]).all()
        error = np.abs(found[finite] - expected[finite])
        self.largest = float(np.abs(expected[finite]).max()) if finite.any() else 0.0
        self.max_abs = float(error.max()) if same and error.size else (0.0 if same else math.inf)
        self.relative = self.max_abs / self.largest if self.largest else (0.0 if self.max_abs == 0 else math.inf)
        power, noise = float((expected[finite] ** 2).sum()), float((error ** 2).sum())
        self.sqnr = math.inf if not noise and same else (10 * math.log10(power / noise) if power and same else -math.inf)

    def __str__(self):
        return (f"{self.name}: largest error {self.max_abs:.3g}, {self.relative:.2e} of the largest magnitude {self.largest:.3g}; "
                f"SQNR {self.sqnr:.1f} dB")


class Comparison:
    """A difference for each float result; `relative` is the largest of them."""

    def __init__(self, differences):
        self.differences = list(differences)

    @property
    def relative(self):
        return max((d.relative for d in self.differences), default=0.0)

    def __str__(self):
        return "\n".join(map(str, self.differences))


class Check:
    """Whether a converted program is the original plus casts; true or false, with what was found."""

    def __init__(self, holds, message="", diagnostics=()):
        self.holds, self.message, self.diagnostics = holds, message, list(diagnostics)

    def __bool__(self):
        return self.holds

    def __str__(self):
        return "the original plus casts, and nothing else" if self.holds else self.message
