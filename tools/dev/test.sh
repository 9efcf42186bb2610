#!/usr/bin/env bash
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds the preset release and runs its tests; the last line counts them.
#   tools/dev/test.sh [quick|core|nightly]      (default core)
set -uo pipefail
cd "$(dirname "$0")/../.."
tier=${1-core}
build=$PWD/build/release
results=$build/test-results

if ! tools/dev/build.sh release; then
  echo "test: the build failed, no test ran" >&2
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi
rm -rf "$results"
mkdir -p "$results"
limit=()
if [[ $tier != nightly ]] && python3 -c 'import psutil' 2>/dev/null; then
  limit=(--timeout=1200) # a test that hangs is named, and the others are counted
fi
python3 /usr/lib/llvm-22/bin/lit "${limit[@]}" --param tier="$tier" -sv -j"$(nproc)" -o "$results/lit.json" \
  "$build/test" "$build/test/Unit"
exec python3 tools/dev/house/count-tests.py "$results/lit.json"
