#!/usr/bin/env bash
# The main job: the demo firmware ($1) on a GPU configuration ($2, with what settings follow); every kernel correct, and the reports complete.
source "$(dirname "$0")/common.sh"

expect 0 "$LACUNA" run "$FIRMWARE/$1.elf" --config "$2" "${@:3}" --out demo
! grep -q WRONG out.txt || fail "a kernel computed wrong results"
for kernel in vector_add relu matmul_tiled reduce_tree histogram; do
  grep -q "^$kernel .*correct" out.txt || fail "$kernel was not checked"
  grep -q "^[0-9]*,$kernel," demo/kernels.csv || fail "$kernel is not in kernels.csv"
done
complains "million wavefront"
complains "all kernels"
complains "run hash"
[[ $(run_value demo ended_by) == guest ]] || fail "statistics.json does not say how the run ended"
