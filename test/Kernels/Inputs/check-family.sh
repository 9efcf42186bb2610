# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: check-family.sh PREFIX PYTHON INPUTS FAMILY MAX-REL KERNEL...
#
# Runs the dispatch that family-kernels.py makes of KERNEL... (or the file KERNEL), which must be one kernel of FAMILY,
# beside its inlined body on the plain route: equal bits, in both orders of threads. Then with sums=tree
# (alone at night only) and math=approximate: at most MAX-REL from it, and equal bits in both orders. For $CHIP, or sm_80.
t=$1 python=$2 inputs=$3 family=$4 bound=$5
shift 5
size=1 fill= chip=${CHIP:-sm_80}
case "$*" in *--fill=*) fill=--input=$2x$3xf32=${*##*--fill=} ;; esac
case "$*" in *--dynamic*) size=$2 ;; esac
case $1 in
*.mlir) cp "$inputs/$1" "$t.mlir" ;;
*) "$python" "$inputs/family-kernels.py" "$@" >"$t.mlir" ;;
esac
mp-opt "$t.mlir" --mp-inline-dispatches -o "$t.inlined.mlir"
mp-opt "$t.inlined.mlir" --mp-to-nvvm="target=$chip dispatches=false" -o "$t.plain.mlir"
rm -rf "$t".plain "$t".up "$t".down
run() { mp-run "$1" --device=emulator --chip="$chip" --dim="$size" $fill --output-dir="$2" ${3:+"$3"} --per-op >"$t.log"; }
run "$t.plain.mlir" "$t.plain"
[ "$MP_TIER" = nightly ] && night=tree || night=
for numbers in ordered $night "tree math=approximate"; do
  mp-opt "$t.mlir" --mp-to-nvvm="target=$chip sums=$numbers" -o "$t.kernel.mlir"
  if ! grep -q "@${family}_0 " "$t.kernel.mlir" && ! grep -q "@${family}_0(" "$t.kernel.mlir" &&
    [ "${2:-1}" != 0 ] && [ "${3:-1}" != 0 ]; then
    echo "no kernel ${family}_0 in $t.kernel.mlir" >&2
    exit 1
  fi
  rm -rf "$t".up "$t".down
  run "$t.kernel.mlir" "$t.up"
  run "$t.kernel.mlir" "$t.down" --reverse
  diff -r "$t.up" "$t.down"
  if [ "$numbers" = ordered ]; then
    diff -r "$t.up" "$t.plain"
  elif [ -z "$fill" ]; then
    mp-run "$t.kernel.mlir" --device=emulator --chip="$chip" --dim="$size" --compare="$t.inlined.mlir" --max-rel="$bound" >"$t.log"
  fi
done
