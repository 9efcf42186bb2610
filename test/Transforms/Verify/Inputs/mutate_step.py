#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Breaks a train step of phase T in every place, one mistake at a time, and asks the verifier for the name of each.

usage: mutate_step.py STEP.mlir FOLDER

The step clips its gradients. Mistakes: each state that escapes the guard, or keeps another's old value; each gradient used
without unscaling, and each saturated before the check; clipping before unscaling; unscaling by another value, or by the scale
already updated; scale and guard that follow another flag. Exit status 1 if a mistake passes, or goes by another name than expected.
"""
import pathlib
import re
import subprocess
import sys

step, folder = pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
lines = step.splitlines()


def find(pattern):
    place = next(i for i, line in enumerate(lines) if re.search(pattern, line))
    return place, re.search(pattern, lines[place])


def edited(*changes):
    """The step with (line, old, new) replaced, once each."""
    copy = list(lines)
    for place, old, new in changes:
        assert old in copy[place], (old, copy[place])
        copy[place] = copy[place].replace(old, new, 1)
    return "\n".join(copy)


check, unscale = find(r"(%\w+):(\d+), (%\w+) = mp\.unscale (.*) by (%\w+) : (.*)")
unscaled, flag, scale = unscale[1], unscale[3], unscale[5]
gradients, types = unscale[4].split(", "), unscale[6].split(", ")
guard, kept = find(r"(%\w+):\d+ = mp\.guarded_update (%\w+) keep\((.*?)\) else\((.*?)\) : (.*)")
old, new, state = kept[3].split(", "), kept[4].split(", "), kept[5].split(", ")
update, moved = find(r"(%\w+), .* = mp\.update_loss_scale")
end = next(i for i in range(guard, len(lines)) if lines[i].lstrip().startswith("return"))
mutants = []  # text, pattern of the error

for i, (before, after) in enumerate(zip(old, new)):
    argument = before.removeprefix("%arg")
    # The last place is a word of its own.
    mutants.append((edited((end, f"{kept[1]}#{i},", f"{after},")), rf"\(T6\) argument #{argument} .* is not guarded: a step that overflowed would change it"))
    other = next((o for o, t in zip(old, state) if t == state[i] and o != before), None)
    if other:
        swapped = old[:i] + [other] + old[i + 1:]
        mutants.append((edited((guard, f"keep({kept[3]})", f"keep({', '.join(swapped)})")),
                        rf"\(T6\) argument #{argument} .* is not guarded: a step that overflowed keeps another argument's value"))

for j, (gradient, type) in enumerate(zip(gradients, types)):
    rest = [re.sub(rf"{unscaled}#{j}(?!\d)", gradient, line) if i > check else line for i, line in enumerate(lines)]
    mutants.append(("\n".join(rest), r"\(T3\) does not scale with the loss|\(T4\) result #\d+ still carries the loss scale"))
    narrow = type.replace("xf32", "xf16")
    casts = f"    %narrow = mp.cast saturate {gradient} : {type} to {narrow}\n    %wide = mp.cast %narrow : {narrow} to {type}\n"
    swapped = gradients[:j] + ["%wide"] + gradients[j + 1:]
    text = edited((check, unscale[4], ", ".join(swapped))).split("\n")
    mutants.append(("\n".join(text[:check]) + "\n" + casts + "\n".join(text[check:]), r"\(T5\) saturates before the check"))

# Clipping of what is scaled, then unscaling of what is clipped.
text, clipped = list(lines), []
del text[check]
for j, gradient in enumerate(gradients):
    text = [re.sub(rf"{unscaled}#{j}(?!\d)", gradient, line) for line in text]
for j, gradient in enumerate(gradients):
    clipped.append(next(re.match(r"\s*(%\w+) = ", line)[1] for line in text if re.search(rf"parallel.*ins\({gradient}, %\w+ : .*tensor<f32>\)", line)))
last = max(i for i, line in enumerate(text) if any(re.match(rf"\s*{c} = ", line) for c in clipped))
last += next(i for i, line in enumerate(text[last:]) if line.lstrip().startswith("} ->"))
for j, name in enumerate(clipped):
    text[last + 1:] = [re.sub(rf"{name}(?!\w)", f"{unscaled}#{j}", line) for line in text[last + 1:]]
text.insert(last + 1, f"    {unscaled}:{unscale[2]}, {flag} = mp.unscale {', '.join(clipped)} by {scale} : {unscale[6]}")
mutants.append(("\n".join(text), r"\(T3\) does not scale with the loss, but stands before the unscaling"))

constants = '    %other = arith.constant dense<1.0> : tensor<f32>\n    %never = arith.constant dense<false> : tensor<i1>\n'


def with_constants(*changes):
    text = edited(*changes).split("\n")
    return "\n".join(text[:check]) + "\n" + constants + "\n".join(text[check:])


mutants.append((with_constants((check, f"by {scale}", "by %other")), r"\(T1\) unscales by another value"))
mutants.append((with_constants((update, f"on {flag}", "on %never")), r"\(T2\) moves the scale by another flag"))
mutants.append((with_constants((guard, f"guarded_update {flag}", "guarded_update %never")), r"\(T6\) guards by another flag"))

# The scale moves first, by a flag that it has.
text = with_constants((update, f"on {flag}", "on %never"), (check, f"by {scale}", f"by {moved[1]}")).split("\n")
early = text.pop(update + constants.count("\n"))
text.insert(check + constants.count("\n"), early)
mutants.append(("\n".join(text), r"\(T1\) unscales by the updated scale"))

path, starts, text = folder / "mutants.mlir", [], ""
for mutant, _ in mutants:
    starts.append(text.count("\n") + 1)
    text += mutant + "\n// -----\n"
path.write_text(text)
done = subprocess.run(["mp-opt", path, "--split-input-file", "--mp-verify-training", "-o", "/dev/null"], capture_output=True, text=True)
errors = {}
for line, message in re.findall(r"mutants\.mlir:(\d+):\d+: error: (.*)", done.stderr):
    errors.setdefault(max(i for i, start in enumerate(starts) if start <= int(line)), []).append(message)
wrong = 0
for i, (_, expected) in enumerate(mutants):
    found = errors.get(i, [])
    if len(found) != 1 or not re.search(expected, found[0]):
        print(f"mistake {i}: expected one error '{expected}', found {found or 'none'}")
        wrong += 1
print(f"{len(mutants)} mistakes, {wrong} without their name")
sys.exit(wrong > 0)
