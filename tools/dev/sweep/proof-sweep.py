#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Says what f16 rests on in files, has a second opinion on what is proved, and sets both against an earlier state.

usage: proof-sweep.py [CORPUS] [--models=FOLDER] [--live=FOLDER,...] [--before=CorpusSweep.md,SharedModels.md]
                      [--set=core|golden|all] [--records=FILE] [--limit-s=120] [--write=docs/results/ProofSweep.md]

Files of CORPUS (as in corpus-sweep.py), of FOLDER (.mlir.xz) and exports that frontends/import-live.py --folder=FOLDER kept
(FOLDER/MODEL/KIND.read.mlir) are decided for f16 by the default policy. Counted are
contractions that become f16, by the evidence of their factors, and the factors of which mp-check-proofs confirms
that they are in range, leaves it open, or refuses it. --before names tables of an earlier state, as corpus-sweep.py and
shared-models.py write them: files in which fewer contractions are f16 than then are listed with the reasons that are
given now. Of exports, each is listed with what rests on what, and every contraction that is left wide with its reason. Exits 1 if a proof is refused that docs/concepts/CheckingProofs.md does not list, or a file is not decided.
mp-sweep is found on PATH.
"""
import argparse
import csv
import importlib.util
import pathlib
import re
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import Records, unpacked, write_table  # noqa: E402

EVIDENCE = ("proved", "guarded", "stated", "measured", "assumed")
ANSWERS = ("confirmed", "not checked", "refused")


def corpus_sweep():
    spec = importlib.util.spec_from_file_location("corpus_sweep", pathlib.Path(__file__).with_name("corpus-sweep.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def paths_of(options, corpus, scratch):
    """Path and set of each file, by its name in tables."""
    found = {}
    for folder in map(pathlib.Path, filter(None, options.live.split(","))):
        for path in sorted(folder.glob("*/*.read.mlir")):
            found[f"{folder.name}/{path.parent.name}/{path.name.removesuffix('.read.mlir')}"] = (path, "live exports")
    if options.models:
        for path in sorted(options.models.glob("*.mlir.xz")):
            found[path.name.removesuffix(".mlir.xz")] = (unpacked(path, scratch), "shared models")
    if not options.corpus:
        return found
    with open(options.corpus / "manifest.tsv", newline="") as manifest:
        rows = [row for row in csv.DictReader(manifest, delimiter="\t") if options.set in ("all", row["set"])]
    folder = corpus.unpack(options.corpus, scratch)
    for row in sorted(rows, key=lambda row: int(row["lines"])):
        found[f"{row['repo']}/{row['path']}"] = (folder / row["repo"].replace("/", "+") / row["path"], "corpus")
    return found


def narrow_before(tables):
    """Contractions that were f16 in an earlier state, by the name of the file."""
    before = {}
    for table in tables:
        column = None
        for line in table.read_text().splitlines():
            cells = [cell.strip().strip("`") for cell in line.strip("| ").split(" | ")]
            for title in ("narrow f16", "f16 contractions"):
                column = cells.index(title) if title in cells else column
            if column is not None and len(cells) > column and (count := re.match(r"(\d+)( of \d+)?$", cells[column])):
                before[cells[0]] = int(count[1])
    return before


def total(records, *keys):
    count = 0
    for record in records:
        for key in keys[:-1]:
            record = record.get(key, {})
        count += record.get(keys[-1], 0)
    return count


def short(text):
    return " ".join(text.replace("|", "/").split())[:200]


def counts_table(sets, before):
    lines = ["| files of | number | contractions | f16 before | f16 now | " + " | ".join(EVIDENCE)
             + " | factors " + " | factors ".join(ANSWERS) + " |", "|---" * (8 + len(EVIDENCE)) + "|"]
    for name, files in sets.items():
        records = [record for of_file in files.values() for record in of_file]
        known = sum(before[file] for file in files if file in before)
        cells = [name, len(files), total(records, "contractions"), known if before else "–", total(records, "narrowed"),
                 *(total(records, "evidence", kind) for kind in EVIDENCE),
                 *(total(records, "factors", answer) for answer in ANSWERS)]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return lines


def why_wide(records):
    """Reasons of contractions that are not f16, with how many have each."""
    reasons = {}
    for record in records:
        for reason, count in record.get("wide", {}).items():
            reasons[reason] = reasons.get(reason, 0) + count
    return "; ".join(f"{count}: {short(reason)}" for reason, count in sorted(reasons.items(), key=lambda item: -item[1]))


def recall_table(files, before):
    lines = ["| file | f16 before | f16 now | left wide now because |", "|---|---|---|---|"]
    for file, records in files.items():
        now = total(records, "narrowed")
        if file in before and now != before[file]:
            lines.append(f"| {file} | {before[file]} | {now} | {why_wide(records)} |")
    return lines


def exports_table(files):
    lines = ["| export | contractions | f16 | " + " | ".join(EVIDENCE) + " | left wide because |", "|---" * (4 + len(EVIDENCE)) + "|"]
    for file, records in files.items():
        kinds = " | ".join(str(total(records, "evidence", kind)) for kind in EVIDENCE)
        lines.append(f"| {file} | {total(records, 'contractions')} | {total(records, 'narrowed')} | {kinds} | {why_wide(records)} |")
    return lines


def open_table(files):
    lines = ["| file | factors " + " | factors ".join(ANSWERS) + " | ops not known, or the first that is refused |", "|---" * 5 + "|"]
    for file, records in files.items():
        if total(records, "factors", "not checked") + total(records, "factors", "refused") == 0:
            continue
        unknown = sorted({op for record in records for op in record.get("unknown", {})})
        first = next((record["errors"].splitlines()[0] for record in records if record.get("errors")), "")
        lines.append(f"| {file} | " + " | ".join(str(total(records, "factors", answer)) for answer in ANSWERS)
                     + f" | {', '.join(unknown) if unknown else short(first)} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("corpus", type=pathlib.Path, nargs="?")
    parser.add_argument("--models", type=pathlib.Path)
    parser.add_argument("--live", default="")
    parser.add_argument("--before", default="")
    parser.add_argument("--set", default="all", choices=["core", "golden", "all"])
    parser.add_argument("--records", type=pathlib.Path)
    parser.add_argument("--limit-s", type=float, default=120)
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    corpus = corpus_sweep()
    with tempfile.TemporaryDirectory() as scratch:
        paths = paths_of(options, corpus, pathlib.Path(scratch))
        names = {str(path): name for name, (path, _) in paths.items()}
        kept = Records(options.records, lambda record: record["file"], stale=lambda records: corpus.stale(records, 0))
        corpus.sweep([path for path, name in names.items() if name not in kept], ["--proofs"], options.limit_s,
                     lambda record: kept.keep({**record, "file": names[record["file"]]}), time.monotonic() + 1e9)
    files = {name: kept.found[name] for name in paths if name in kept.found}
    bad = {name: of_file for name, of_file in files.items() if any(r.keys() & {"broken", "unread"} for r in of_file)}
    sets = {kind: {name: of_file for name, of_file in files.items() if paths[name][1] == kind} for kind in ("corpus", "shared models", "live exports")}
    before = narrow_before([pathlib.Path(path) for path in options.before.split(",") if path])
    lines = counts_table({kind: of_kind for kind, of_kind in sets.items() if of_kind}, before)
    lines += ["", f"{len(bad)} of {len(files)} files are not decided."]
    lines += [f"* {name}: {short(next(r.get('broken') or r.get('unread') for r in of_file if r.keys() & {'broken', 'unread'}))}"
              for name, of_file in bad.items()]
    if sets["live exports"]:
        lines += ["", "## Export by export", "", *exports_table(sets["live exports"])]
    if before:
        lines += ["", "## Other numbers than before", "", *recall_table(files, before)]
    lines += ["", "## Proofs that the checker does not confirm", "", *open_table(files)]
    text = "\n".join(lines)
    print(text)
    if options.write:
        write_table(options.write, text, end=r"\Z")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
