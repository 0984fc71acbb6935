#!/usr/bin/env bash
# Tests the figure experiments/lazygpu/latency with few points, from the sweep to the pictures. The descriptions and sweeps of
# all figures must be valid.
source "$(dirname "$0")/common.sh"

figures=(/usr/bin/python3 "$SOURCE/experiments/figures.py")
cp "$SOURCE"/experiments/lazygpu/latency.{csv,figure,sweep} "$SOURCE/experiments/lazygpu/chase.launch" .
mkdir -p build/release
ln -s "$FIRMWARE" build/release/firmware
sed -i 's|\.\./\.\./build|build|' chase.launch
sed 's/^kib = .*/kib = 16, 256/; s/^passes = .*/passes = 64, 12/; s/^gpu.start_phase = .*/gpu.start_phase = 0cycles, 251cycles/' \
  "$SOURCE/experiments/lazygpu/latency.quick.sweep" >few.sweep
expect 0 "$LACUNA" sweep few.sweep --db r.db -j 2
expect 0 "$LACUNA" results lazygpu_latency_quick --db r.db --csv
cp out.txt ours.csv
expect 0 "${figures[@]}" latency.figure quick ours.csv out
for picture in png svg; do [[ -s out/latency.$picture ]] || fail "no picture latency.$picture"; done
head -c 8 out/latency.png | grep -qa PNG || fail "latency.png is not a PNG"
grep -q 'Footprint of the chain (KiB)' out/latency.md || fail "the table has no title of its axis"
# The table contains the values of the published machine at 16 KiB and 256 KiB, whose ratios of measured to published latency are between
# 0.9 and 1.1.
awk -F'|' '$2 ~ /as published/ && $3 ~ /^ (16|256) $/ { ++n; ratio = $8; if (ratio < 0.9 || ratio > 1.1) exit 1 } END { exit n != 2 }' out/latency.md ||
  fail "the table has not both levels within a tenth: $(cat out/latency.md)"

sed 's/^kind = line/kind = lines/' latency.figure >wrong.figure
expect 1 "${figures[@]}" wrong.figure quick ours.csv out
complains "kind = lines: must be one of line, bars"
sed 's/^y = latency/y = latenzy/' latency.figure >wrong.figure
expect 1 "${figures[@]}" wrong.figure quick ours.csv out
complains "has no column latenzy_mean"
expect 1 "${figures[@]}" latency.figure quick nowhere.csv out

# --plot draws a figure without a description; an interpreter without matplotlib is reported.
expect 0 "${figures[@]}" --plot ours.csv own
[[ -s own/latency.png && -s own/latency.svg ]] || fail "no picture of the sweep: $(ls own)"
mkdir without
echo 'raise ImportError' >without/matplotlib.py
expect 1 env PYTHONPATH=without "${figures[@]}" --plot ours.csv own
complains "/usr/bin/python3 has no matplotlib: install Debian's python3-matplotlib"

# Two values at the same position are an error, unless they are averaged.
sed 's/^x = kib/x = points/; s/^kind = .*/kind = bars/' latency.figure >both.figure
expect 1 "${figures[@]}" both.figure quick ours.csv out
complains "a second value of points = 2"
sed 's/^x = .*/&\nover = kib/' both.figure >over.figure
expect 0 "${figures[@]}" over.figure quick ours.csv out
awk -F'|' '$2 !~ /as published/ { next } FILENAME ~ /latency/ && $3 ~ /^ 16 $/ { low = $4 } FILENAME ~ /latency/ && $3 ~ /^ 256 $/ { high = $4 }
  FILENAME ~ /over/ && $3 ~ /^ 2 $/ { mean = $4 }
  END { difference = mean - (low + high) / 2; exit !(mean > 0 && difference * difference < 1) }' out/latency.md out/over.md ||
  fail "the mean is another one: $(cat out/over.md)"
sed 's/^over = .*/over = kob/' over.figure >wrong.figure
expect 1 "${figures[@]}" wrong.figure quick ours.csv out
complains "has no column kob"
sed 's/^over = .*/&\naverage = harmonic/' over.figure >wrong.figure
expect 1 "${figures[@]}" wrong.figure quick ours.csv out
complains "average = harmonic: must be one of arithmetic, geometric"

# Prints a sweep file together with the files that it includes.
whole_sweep() {
  cat "$1"
  local included
  for included in $(sed -n 's/^include = //p' "$1"); do whole_sweep "$(dirname "$1")/$included"; done
}
# Each figure of each paper must have a sweep at each scale, and the sweep must have the metrics of the figure.
declare -A tried
for figure in "$SOURCE"/experiments/*/*.figure; do
  folder=$(dirname "$figure")
  sweep=$(sed -n 's/^sweep = //p' "$figure")
  for scale in quick paper; do
    # Several figures may show the same sweep.
    if [[ -z ${tried[$folder/$sweep.$scale]-} ]]; then
      expect 0 "$LACUNA" sweep "$folder/$sweep.$scale.sweep" --db r.db --dry-run
      tried[$folder/$sweep.$scale]=1
    fi
    grep -q "^name = $(basename "$folder")_${sweep}_$scale\$" "$folder/$sweep.$scale.sweep" || fail "$folder/$sweep.$scale.sweep has another name"
    for take in $(sed -n 's/^y = //p' "$figure"); do
      whole_sweep "$folder/$sweep.$scale.sweep" | grep "^$take = " >/dev/null || fail "$figure shows $take, which $sweep.$scale.sweep does not take"
    done
  done
done
