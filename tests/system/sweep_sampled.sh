#!/usr/bin/env bash
# Tests the intervals of sampled timing in a sweep: tables and CSV mark them and combine them with those of repetitions; exact
# values and runs without sampling have none; ratios have the propagated interval. `until` reports an interval that repetitions
# cannot narrow.
source "$(dirname "$0")/sweep_common.sh"

cp "$FIRMWARE/kernels/sampled_cases.co" .
cat >steady.launch <<'END'
[constants]
groups = 600
[code]
file = sampled_cases.co
[buffer x]
contents = fill:groups*64*2:f32:uniform(0,1):3
[dispatch steady]
grid = groups*64
block = 64
arg = buf:x
arg = u32:100
END
cat >steady.sweep <<'END'
[sweep]
command = launch
program = steady.launch
config = tiny
[axes]
gpu.timing = loose, sampled
[repeat]
gpu.start_phase = 0cycles..502cycles+251cycles
[metrics]
cycles = kernels.steady.cycles
requests = kernels.steady.activity.load_requests.count
instructions = kernels.steady.wavefront_instructions
untimed = kernels.steady.untimed_instructions
time = run.simulated_ps
ratio = {kernels.steady.cycles @ gpu.timing=loose} / {kernels.steady.cycles}
END
expect 0 "$LACUNA" sweep steady.sweep
grep -qE '^loose +3 of 3 +[0-9.,]+ ± [0-9.]+ % +[0-9.,]+ ± [0-9.]+ % ' out.txt || fail "detailed timing is marked: $(cat out.txt)"
! grep '^loose' out.txt | grep -q sampled || fail "detailed timing is marked: $(cat out.txt)"
# Cycles, requests, time and ratio are estimates; numbers of instructions are exact.
[[ $(grep '^sampled ' out.txt | grep -oE '± [0-9.]+ % sampled' | wc -l) == 4 ]] || fail "not four estimates: $(cat out.txt)"
grep -qE '^sampled .* 723,600 ± 0 %  ' out.txt || fail "an exact number is marked: $(cat out.txt)"
says "sampled: an estimate by sampled timing, whose own interval is included and does not narrow with more samples"

expect 0 "$LACUNA" results steady --csv
cp out.txt ours.csv
# statistic TIMING PATH: prints the values of the repetitions, in one line.
statistic() {
  query "SELECT group_concat(value, ' ') FROM members JOIN points ON points.key = members.key JOIN statistics ON point = points.id
    JOIN statistic_names ON statistic_names.id = name WHERE json_extract(axes, '$.\"gpu.timing\"') = '$1' AND path = '$2'"
}
half_widths=$(statistic sampled kernels.steady.half_width_cycles)
[[ -n $half_widths && $half_widths != *"0 0 0"* ]] || fail "the kernel was not sampled: $half_widths"
# The half-width of the whole interval is the root of the sum of two squares: that of the half-width by Student's t
# (qt(0.975, 2) = 4.30265), and that of the mean half-width of the samples' own intervals.
awk -F, -v cycles="$(statistic sampled kernels.steady.cycles)" -v half_widths="$half_widths" '
  function near(a, b) { return (a - b) ^ 2 < 1e-8 * b ^ 2 }
  BEGIN {
    n = split(cycles, c, " ")
    split(half_widths, h, " ")
    for (i = 1; i <= n; ++i) { mean += c[i] / n; own += h[i] / n }
    for (i = 1; i <= n; ++i) squares += (c[i] - mean) ^ 2
    half = sqrt(4.30265 ^ 2 * squares / (n - 1) / n + own ^ 2)
  }
  NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
  $1 == "loose" { checked += $at["cycles_sampled"] == "" && $at["ratio_sampled"] == ""; detailed = $at["cycles_mean"] }
  $1 == "sampled" {
    checked += near($at["cycles_mean"], mean) && near($at["cycles_sampled"], own) && near($at["cycles_high"] - mean, half)
    share = own / mean
    checked += ($at["requests_sampled"] / $at["requests_mean"] / share - 1) ^ 2 < 1e-4
    checked += $at["instructions_sampled"] == "" && $at["untimed_sampled"] == "" && $at["untimed_mean"] > 0
    # A run has the estimated time of its kernels and that of the host between them: 1 ns for each cycle of tiny.
    checked += ($at["time_sampled"] / (1000 * own) - 1) ^ 2 < 1e-4
    checked += ($at["ratio_sampled"] / ($at["ratio_mean"] * (1 - 1 / (1 + share))) - 1) ^ 2 < 1e-4
    checked += $at["cycles_low"] < detailed && detailed < $at["cycles_high"]
  }
  END { print checked " of 7"; exit checked != 7 }' ours.csv || fail "the intervals are not those of $half_widths: $(cat ours.csv)"

# The interval of one repetition is that of its estimate.
expect 0 "$LACUNA" results steady --where 'gpu.start_phase == 0' --metric cycles=kernels.steady.cycles
grep -qE '^sampled +1 of 1 +[0-9,]+ ± [0-9.]+ % sampled$' out.txt || fail "no interval of one sample: $(cat out.txt)"
grep -qE '^loose +1 of 1 +[0-9,]+$' out.txt || fail "an interval of one sample that is exact: $(cat out.txt)"
says "one sample each: no intervals except those of sampled timing"

# Repetitions do not narrow the interval of sampled timing: `until` reports this and runs no further repetitions.
sed 's/251cycles$/50cycles\nuntil = 0.2 % of cycles\nleast = 3/' steady.sweep >until.sweep
expect 1 "$LACUNA" sweep until.sweep --db until.db
complains "until = 0.2 % of cycles: gpu.timing=sampled: cycles "
complains " % sampled after 3 repetitions; sampled timing alone has ± "
complains "which repetitions do not make narrower: set a smaller sampling.error, or gpu.timing = loose"
says "or no number where sampled timing alone is wider"
[[ $(sqlite3 until.db "SELECT count(*) FROM members JOIN points ON points.key = members.key
  WHERE json_extract(axes, '$.\"gpu.timing\"') = 'sampled'") == 3 ]] || fail "repetitions were run in vain"

if /usr/bin/python3 -c 'import matplotlib' 2>/dev/null; then
  expect 0 /usr/bin/python3 "$SOURCE/experiments/figures.py" --plot ours.csv plots y=cycles
  grep -q 'hatched: sampled timing' plots/cycles.svg || fail "sampled bars are not marked"
fi
