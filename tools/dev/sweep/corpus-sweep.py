#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Converts every file of a corpus and checks what conversion promises.

usage: corpus-sweep.py CORPUS [--set=core|golden|all] [--run [--max-work=N]] [--write=docs/results/CorpusSweep.md] [--limit-s=N]
                       [--records=FILE [--budget-s=N]] [--lines=N [--kind=KIND] [--max-seconds=X]]

CORPUS holds manifest.tsv and either corpus.tar.xz or the files it unpacks to (corpus/OWNER+NAME/PATH).
For f16 and bf16: no crash, the result verifies, erases to the original with its signatures, is the same
twice and unchanged by a second run, survives text and bytecode, and no f32 contraction stays wide
without a reason. With --run the functions that can run do so before and after, and the largest error
over the largest magnitude is listed; functions above --max-work operations (2e9) do not run. Prints counts and what broke; --write makes the table of files.
Exits 1 if something broke. One process (mp-sweep, from PATH) does all; after a crash, or --limit-s
seconds on one file (120), another takes over behind it.

With --records what is found is kept in FILE, line by line, and a later call goes on from there, small files
first; files that took too long, or had more than --max-work operations when a larger limit is given now, are
tried again. --budget-s ends a call early: what is missing is counted.

With --lines only files of at least N lines (and of a kind, such as train) are converted, and the seconds
of one conversion are printed for each; one above --max-seconds counts as broken.
"""
import csv
import json
import pathlib
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import Records, extract, write_table  # noqa: E402

FORMATS = ("f16", "bf16")
WORK = re.compile(r"(\S+) operations, limit (\S+)")


def sweep(files, options, limit, keep, until):
    """Hands the records of mp-sweep for all files to `keep`; a crash or a hang is a record too. Ends at `until`."""
    pending = list(files)
    while pending and time.monotonic() < until:
        process = subprocess.Popen(["mp-sweep", *options, *pending], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lines, started = queue.Queue(), []
        readers = [threading.Thread(target=lambda: [lines.put(line) for line in process.stdout] + [lines.put(None)]),
                   threading.Thread(target=lambda: started.extend(process.stderr))]
        for reader in readers:
            reader.start()
        hung = False
        while True:
            left = until - time.monotonic()
            try:
                line = lines.get(timeout=max(0, min(limit, left)))
            except queue.Empty:
                process.kill()
                if left < limit:
                    process.wait()
                    return
                hung = True
                continue
            if line is None:
                break
            keep(json.loads(line))
        for reader in readers:
            reader.join()
        if process.wait() == 0:
            return
        # Names of files go to standard error as they are begun; the last one is to blame.
        blamed = [line.rstrip("\n") for line in started if line.rstrip("\n") in pending][-1]
        detail = "".join(started)[-500:] if not hung else ""
        keep({"file": blamed, "broken": f"more than {limit:.0f} s" if hung else f"crashed: {detail}"})
        pending = pending[pending.index(blamed) + 1:]


def stale(records, max_work):
    """Files to be tried again: those that took too long or did too much, and the last one, of which there is perhaps a part."""
    again = {record["file"] for record in records if record.get("broken", "").startswith("more than ")}
    again.update(record["file"] for record in records[-1:])
    again.update(record["file"] for record in records for run in record.get("runs", [])
                 if (left := WORK.match(run.get("skipped", ""))) and float(left[2]) < float(left[1]) <= max_work)
    return again


def unpack(corpus, scratch):
    """The folder of OWNER+NAME folders."""
    if (corpus / "corpus.tar.xz").exists():
        extract(corpus / "corpus.tar.xz", scratch)
        return scratch / "corpus"
    return corpus / "corpus" if (corpus / "corpus").is_dir() else corpus


def reason(records):
    """Why nothing was narrowed, or the reasons of what was not."""
    reasons = {}
    for record in records:
        if record.get("contractions", 0) == 0 and "contractions" in record:
            reasons["no contractions"] = 1
        for text in record.get("wide", {}):
            reasons.setdefault(text, 1)
    return "; ".join(reasons)


def error(record):
    if "broken" in record or "unread" in record:
        return "broken"
    runs = record.get("runs", [])
    errors = [float(run["error"]) for run in runs if "error" in run]
    if not errors:
        return "–"
    text = f"{max(errors):.1e}" if max(errors) else "0"
    return text if len(errors) == len(runs) else f"{text} ({len(errors)} of {len(runs)})"


def merged(records):
    """One record of the parts of a file."""
    whole = dict(records[0])
    for record in records[1:]:
        for key in ("ops", "contractions", "narrowed", "casts"):
            whole[key] = whole.get(key, 0) + record.get(key, 0)
        whole["idioms"] = {kind: whole.get("idioms", {}).get(kind, 0) + record.get("idioms", {}).get(kind, 0)
                           for kind in {**whole.get("idioms", {}), **record.get("idioms", {})}}
        whole["runs"] = whole.get("runs", []) + record.get("runs", [])
        whole.update({key: record[key] for key in ("broken", "unread") if key in record})
    return whole


def table(records):
    lines = ["| file | ops | contractions | narrow f16 | narrow bf16 | casts f16 | casts bf16 | idioms | error f16 | error bf16 | left wide because |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    for file, of_file in records.items():
        f16, bf16 = (merged([r for r in of_file if r.get("format", format) == format]) for format in FORMATS)
        idioms = ", ".join(f"{count} {kind}" for kind, count in sorted(f16.get("idioms", {}).items()))
        cells = [file, f16.get("ops", ""), f16.get("contractions", ""), f16.get("narrowed", ""),
                 bf16.get("narrowed", ""), f16.get("casts", ""), bf16.get("casts", ""), idioms,
                 error(f16), error(bf16), reason(of_file)]
        lines.append("| " + " | ".join(str(cell).replace("|", "/").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines)


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    options = dict((a.removeprefix("--").split("=", 1) + [""])[:2] for a in sys.argv[1:] if a.startswith("--"))
    if len(arguments) != 1 or options.get("set", "all") not in ("core", "golden", "all"):
        sys.exit(__doc__)
    corpus = pathlib.Path(arguments[0])
    with open(corpus / "manifest.tsv", newline="") as manifest:
        rows = [row for row in csv.DictReader(manifest, delimiter="\t")
                if options.get("set", "all") in ("all", row["set"])
                and int(row["lines"]) >= int(options.get("lines") or 0)
                and row["kind"] == options.get("kind", row["kind"])]
    wanted = [f"{row['repo']}/{row['path']}" for row in sorted(rows, key=lambda row: int(row["lines"]))]
    with tempfile.TemporaryDirectory() as scratch:
        folder = unpack(corpus, pathlib.Path(scratch))
        names = {str(folder / row["repo"].replace("/", "+") / row["path"]): f"{row['repo']}/{row['path']}" for row in rows}
        paths = {name: path for path, name in names.items()}
        max_work = float(options.get("max-work") or 0)
        kept = Records(options.get("records"), lambda record: record["file"], stale=lambda records: stale(records, max_work))
        sweep([paths[name] for name in wanted if name not in kept],
              ["--formats=" + ",".join(FORMATS), *(["--run"] if "run" in options else []),
               *(["--max-work=" + options["max-work"]] if "max-work" in options else [])],
              float(options.get("limit-s") or 120), lambda record: kept.keep({**record, "file": names[record["file"]]}),
              time.monotonic() + float(options.get("budget-s") or "inf"))
    # A file that a budget cut short may have some of its records.
    whole = {name for name, of_file in kept.found.items()
             if any(r.keys() & {"broken", "unread"} for r in of_file) or {r["format"] for r in of_file} == set(FORMATS)}
    kept.found = {name: of_file for name, of_file in kept.found.items() if name in whole}
    records = {name: kept.found[name] for name in names.values() if name in kept.found}
    found = [record for of_file in records.values() for record in of_file]
    if "lines" in options:
        lines_of = {f"{row['repo']}/{row['path']}": row["lines"] for row in rows}
        for record in found:
            if "seconds" in record:
                print(f"{record['file']} {record['format']}: {lines_of[record['file']]} lines, {record['ops']} ops, "
                      f"{record['seconds']:.2f} s")
            if record.get("seconds", 0) > float(options.get("max-seconds") or "inf"):
                record.setdefault("broken", f"took {record['seconds']:.2f} s, at most {options['max-seconds']}")
    bad = [record for record in found if "broken" in record or "unread" in record]
    for record in bad:
        print(f"{record['file']} {record.get('format', '')}: {record.get('broken') or record.get('unread')}")
    runs = [run for record in found for run in record.get("runs", [])]
    total = {key: sum(record.get(key, 0) for record in found) for key in ("contractions", "narrowed", "casts")}
    counts = (f"{len(records)} files, {len(FORMATS)} formats: {len(bad)} broken; {total['narrowed']} of "
              f"{total['contractions']} contractions narrow, {total['casts']} casts; "
              f"{sum('error' in run for run in runs)} of {len(runs)} functions ran")
    if len(records) < len(names):
        counts += f"; {len(names) - len(records)} files were not reached"
    print(counts)
    if "write" in options:
        write_table(options["write"], f"{counts}.\n\n{table(records)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
