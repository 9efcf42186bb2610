# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts functions of mp-sweep's output whose error exceeds a limit.

usage: errors.py f16=LIMIT bf16=LIMIT < LINES

Exits 1 if one does, did not run, or broke a promise.
"""
import json
import sys


def main():
    limits = {name: float(value) for name, value in (a.split("=") for a in sys.argv[1:])}
    functions, above, skipped, narrow = 0, [], [], set()
    for line in sys.stdin:
        record = json.loads(line)
        if "broken" in record or "unread" in record:
            sys.exit(f"{record['file']}: {record.get('broken') or record['unread']}")
        for run in record["runs"]:
            functions += 1
            name = f"@{run['entry']} in {record['format']}"
            if "skipped" in run:
                skipped.append(f"{name}: {run['skipped']}")
            elif not float(run["error"]) <= limits[record["format"]]:
                above.append(f"{name}: {run['error']}")
        count = len(record["runs"]) or 1
        narrow.add(f"{record['narrowed'] / count:g} of {record['contractions'] / count:g}")
    print(*above, *skipped, sep="\n")
    print(f"{functions} functions: {len(above)} above the limit, {len(skipped)} not run, "
          f"{' or '.join(sorted(narrow))} contractions narrow in each")
    return 1 if above or skipped else 0


if __name__ == "__main__":
    sys.exit(main())
