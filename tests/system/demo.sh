#!/usr/bin/env bash
# Runs the demo firmware ($1) on a GPU configuration ($2, with the settings that follow), and checks that every kernel is
# correct and that the reports are complete.
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

# firmware/README.md shows the output of this run: the simulated values shown must equal the actual values. Wall time, speed and
# memory depend on the host.
simulated() {
  tr -d '\r' | sed -E 's/ +/ /g; s/ [0-9.]+ s [0-9.-]+ [0-9.-]+$//; s/ in [0-9.]+ s,/,/; s/, peak memory .*//; /^output folder/d'
}
if [[ $1 == demo && $2 == r9nano ]]; then
  sed -n '/^<!-- begin of the demo.s run/,/^<!-- end of the demo.s run/p' "$SOURCE/firmware/README.md" | sed '/^<!--/d; /^```$/d' |
    simulated >readme.txt
  cat out.txt err.txt | simulated >now.txt
  diff -u readme.txt now.txt >&2 || fail "firmware/README.md does not show the current run of the demo: run ./dev docs"
fi
