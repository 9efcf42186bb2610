#!/usr/bin/env bash
# Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Configures and builds one preset:  tools/dev/build.sh [dev|release|asan|gcc]
# (default release, in build/PRESET).
set -euo pipefail
cd "$(dirname "$0")/../.."
preset=${1-release}
without_cache=()
if ! command -v ccache >/dev/null; then
  without_cache=(-DCMAKE_CXX_COMPILER_LAUNCHER= -DCMAKE_C_COMPILER_LAUNCHER=)
fi
cmake --preset "$preset" "${without_cache[@]}" >/dev/null
exec ninja -C "build/$preset" -j"$(nproc)"
