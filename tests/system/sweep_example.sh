#!/usr/bin/env bash
# docs/sweep.md's example runs as it stands there and prints the table that is shown; bench/start_phase.sweep is a good one.
source "$(dirname "$0")/common.sh"

page=$SOURCE/docs/sweep.md
# block LANGUAGE NUMBER: that fenced block of the page
block() { awk -v fence="\`\`\`$1" -v wanted="$2" '$0 == fence { ++n; inside = n == wanted; next } /^```$/ { inside = 0 } inside' "$page"; }
block ini 1 >relu.launch
block ini 2 >relu.sweep
mkdir build
ln -s "$(dirname "$FIRMWARE")" build/release
commands=0
while read -r line; do
  eval "words=($line)"
  [[ ${words[0]} != lacuna ]] || words[0]=$LACUNA
  expect 0 "${words[@]}"
  commands=$((commands + 1))
  [[ $line != "lacuna results relu" ]] || cp out.txt table.txt
done < <(block sh 1)
[[ $commands == 5 ]] || fail "$commands commands were found in docs/sweep.md"
[[ $(wc -l <out.txt) == 5 ]] || fail "not four combinations from n = 2048 on"
awk '/^```/ { inside = 0 } inside; /^n  *cu.wavefronts_per_simd  *done/ && !n++ { inside = 1; print }' "$page" >shown.txt
diff shown.txt table.txt >&2 || fail "docs/sweep.md shows another table"

expect 0 "$LACUNA" sweep "$SOURCE/bench/start_phase.sweep" --dry-run
says "16 points, 16 to run"
