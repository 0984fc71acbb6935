#!/usr/bin/env bash
# Tests that the sweep of every figure is valid at both scales: `lacuna sweep --dry-run` lists its points.
source "$SOURCE/tests/system/common.sh"

sweeps=$(cd "$SOURCE/experiments" && sed -ns 's/^sweep = //p;T;F' */*.figure | paste - - | sed 's/^\(\S*\)\t\(\S*\)\/.*/\2\/\1/' | sort -u)
[[ $(wc -l <<<"$sweeps") -ge 50 ]] || fail "experiments has only the sweeps $sweeps"
for sweep in $sweeps; do
  for scale in quick paper; do
    expect 0 "$LACUNA" sweep "$SOURCE/experiments/$sweep.$scale.sweep" --db none.db --dry-run
    grep -q '[0-9] points\?, ' out.txt || fail "$sweep.$scale has no points"
  done
done
