#!/usr/bin/env bash
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# From a bare Debian 12 to a converted model: installs what is needed, builds the tools
# (preset release, in build/release), and runs the main job on a BERT block. Tests are
# built by test.sh.
#   tools/dev/setup.sh [--install-only | --no-install]
set -euo pipefail
cd "$(dirname "$0")/../.."

install=yes go_on=yes
case "${1-}" in
  "") ;;
  --install-only) go_on=no ;;
  --no-install) install=no ;;
  *) echo "setup.sh: unknown argument '$1', expected --install-only or --no-install" >&2; exit 2 ;;
esac

packages=(ca-certificates cmake ninja-build ccache g++ clang-22 clang-format-22 lld-22 llvm-22-dev llvm-22-tools
          libmlir-22-dev mlir-22-tools libgtest-dev libmpfr-dev libmimalloc-dev python3 python3-numpy python3-jsonschema python3-psutil
          libopenblas0-pthread libopenmpi-dev openmpi-bin valgrind z3)
# A browser looks at the page of reports in CI; elsewhere that test runs where there is one.
[[ -z ${CI-} ]] || packages+=(chromium)

install_packages() {
  local missing=() package
  for package in "${packages[@]}"; do
    [[ "$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null)" == "install ok installed" ]] || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    echo "setup: every package is installed"
    return
  fi
  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || { echo "setup: run as root or install sudo; needed: ${missing[*]}" >&2; exit 1; }
    as_root=(sudo)
  fi
  echo "setup: installing ${missing[*]}"
  "${as_root[@]}" apt-get update -q
  # LLVM 22 is in Debian's security archive, which an installed Debian lists and a debootstrap does not.
  if ! apt-cache show libmlir-22-dev >/dev/null 2>&1; then
    echo "setup: adding Debian's own bookworm-security archive to /etc/apt/sources.list.d"
    echo "deb http://deb.debian.org/debian-security bookworm-security main" |
      "${as_root[@]}" tee /etc/apt/sources.list.d/bookworm-security.list >/dev/null
    "${as_root[@]}" apt-get update -q
  fi
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${missing[@]}"
}

[[ $install == yes ]] && install_packages
[[ $go_on == yes ]] || exit 0
tools/dev/build.sh release mp-gen mp-opt mp-run
tools/dev/demo.sh
