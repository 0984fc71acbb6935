#!/usr/bin/env bash
# Checks that the commands of docs/guide/running.md have the documented results.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[[ $(<"$(printed 'lacuna exec --config r9nano -- ./vector_add')") == "1000000 sums, 0 wrong" ]] || fail "vector_add computes something else"
grep -q '^  Name:  *gfx90a *$' "$(printed '* -- rocminfo')" || fail "rocminfo finds no GPU of mi210"
[[ $(stat -c %s quotient.bin) == 4194304 ]] || fail "the launch has left no quotients"
for file in statistics.json kernels.csv log.txt console.txt effective.cfg; do
  [[ -s lacuna-out/run-0001/$file || $file == kernels.csv || $file == console.txt ]] || fail "the first run has left no $file"
done
