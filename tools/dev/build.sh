#!/usr/bin/env bash
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Configures and builds one preset:  tools/dev/build.sh [dev|release|asan|tsan|coverage|fuzz|gcc] [TARGET...]
# (default release, in build/PRESET, everything).
set -euo pipefail
cd "$(dirname "$0")/../.."
preset=${1-release}
without_cache=()
if ! command -v ccache >/dev/null; then
  without_cache=(-DCMAKE_CXX_COMPILER_LAUNCHER= -DCMAKE_C_COMPILER_LAUNCHER=)
fi
if [[ $preset == asan ]] && ! clang++-22 -fsanitize=address,undefined -x c++ - -o /dev/null <<<'int main() {}' 2>/dev/null; then
  echo "build.sh: the preset asan needs clang's sanitizer runtimes: apt-get install libclang-rt-22-dev" >&2
  exit 1
fi
strict=()
if [[ -n ${CI-} && $preset == release ]]; then # users build this preset, too: theirs stops at no warning
  strict=(-DMP_STRICT=ON)
fi
cmake --preset "$preset" "${without_cache[@]}" "${strict[@]}" >/dev/null
exec ninja -C "build/$preset" -j"$(nproc)" "${@:2}"
