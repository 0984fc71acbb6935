#!/usr/bin/env bash
# docs/launch.md's example runs as it stands there, and its two algorithms agree.
source "$(dirname "$0")/common.sh"

cp "$FIRMWARE/kernels/launch_examples.co" .
sed -n '/^```ini$/,/^```$/p' "$SOURCE/docs/launch.md" | sed '/^```/d' >paths.launch
expect 0 "$LACUNA" launch paths.launch --out out
grep -q '^floyd_warshall  *64 ' err.txt || fail "not 64 dispatches of floyd_warshall"
[[ $(wc -l <out/kernels.csv) -ge 67 ]] || fail "kernels.csv has too few lines"

# Row 0 of the paths but for the way from 0 to itself, which may be a detour there.
numbers() { od -An -v -td4 -w4 -j4 -N252 "$1"; }
diff <(numbers paths.bin) <(numbers distances.bin) >&2 || fail "Floyd-Warshall and relaxation disagree"
[[ $(od -An -td4 -N4 distances.bin) -eq 0 ]] || fail "vertex 0 is not at distance 0"

# A constant is overridden, and two runs are one.
expect 0 "$LACUNA" launch paths.launch --define n=32 --out small
[[ $(stat -c %s paths.bin) == 4096 ]] || fail "--define n=32 had no effect"
expect 0 "$LACUNA" launch paths.launch --define n=32 --out again
[[ $(run_value small run_hash) == $(run_value again run_hash) ]] || fail "run hashes differ"
