# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes logs as mp-train does: two of known figures, and eight pairs of which the second is 0.1 better."""
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])


def write(name, losses, more=()):
    events = [{"kind": "step", "step": i, "loss": loss, "gradient_norm": 1.0, "skipped": False, "metrics": {"accuracy": 1 - loss}}
              for i, loss in enumerate(losses)]
    (folder / name).write_text("".join(json.dumps(event) + "\n" for event in list(more) + events +
                                       [{"kind": "end", "step": len(losses), "peak_bytes": 1000 * (1 + bool(more))}]))


# A falls from 1 to 0.1 in its last 50 steps; B is at 0.05 from step 25 on, after a rollback that had made 40 steps.
write("a.jsonl", [1.0] * 50 + [0.1] * 50)
with (folder / "a.jsonl").open("a") as log:
    log.write(json.dumps({"kind": "validation", "step": 100, "loss": 0.25, "metrics": {"accuracy": 0.75}}) + "\n")
write("b.jsonl", [1.0] * 25 + [0.05] * 75,
      [{"kind": "step", "step": i, "loss": 7.0, "gradient_norm": 1.0, "skipped": True} for i in range(40)] +
      [{"kind": "alert", "step": 39, "grade": "alarm"}, {"kind": "rollback", "step": 0}])
for pair in range(8):
    base = 1 + 0.01 * (pair * 7 % 5)
    write(f"p{pair}.jsonl", [base] * 20)
    write(f"q{pair}.jsonl", [base - 0.1 - 0.001 * (pair % 3)] * 20)
