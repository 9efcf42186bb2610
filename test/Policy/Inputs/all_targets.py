# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shows the built-in policies of all targets and formats, and feeds each back."""
import pathlib
import re
import subprocess
import tempfile


def show(options):
    return subprocess.run(["mp-opt", f"--mp-show-policy={options}"], capture_output=True, text=True)


refusal = show("target=none").stderr
targets = re.findall(r"sm_\d+a?", refusal.split("Known targets:")[1])
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "policy.json"
    for target in targets:
        for form in ("bf16", "f16", "tf32"):
            first = show(f"target={target} format={form} policy=training")
            if first.returncode != 0:
                print(f"{target} {form}: {first.stderr.strip()}")
                continue
            path.write_text(first.stdout)
            again = show(f"policy={path}")
            print(f"{target} {form}:", "same twice" if again.stdout == first.stdout else "differs")
