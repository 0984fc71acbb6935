#!/usr/bin/env bash
# Tests sampled timing against detailed timing, with steady and unsteady kernels. Results are equal, errors of times are within
# their bounds, kernels that cannot be sampled are timed completely, and the run hash does not depend on the number of threads.
# Usage: sampled.sh KERNELS OPTION...; KERNELS is the name of the code object.
. "$(dirname "$0")/sampled_common.sh"

# run FOLDER OPTION...: runs the launch file; its results are in FOLDER/results.
run() {
  launch "$@"
  cat x.bin y.bin bins.bin turn.bin >"$1/results"
  cp race.bin "$1/race"
}
run loose "$@" --set gpu.timing=loose
run one "$@" --set gpu.timing=sampled --set sim.threads=1
run two "$@" --set gpu.timing=sampled --set sim.threads=2
run alone "$@" --set gpu.timing=sampled --set sampling.across_kernels=false
# A workgroup of `chained` waits for data of another workgroup: the kernel is refused after workgroups have been skipped.
expect 1 "$LACUNA" launch sampled.launch --quiet --out refused "$@" --set gpu.timing=sampled --results none
grep -q 'kernel chained: its control flow depends on loaded data (.* at chained + 0x' refused/log.txt || fail 'chained is not refused'
expect 2 "$LACUNA" launch sampled.launch --quiet --out refused "$@" --set gpu.timing=loose --results none
[[ $(cat err.txt) == *'sampling.untimed = skipped (--results none) needs gpu.timing = sampled'* ]] || fail 'detailed timing without results'
awk '/^\[dispatch chained\]/ { left_out = 1; next } /^\[/ { left_out = 0 } !left_out' sampled.launch >whole.launch
mv whole.launch sampled.launch
run skipped "$@" --set gpu.timing=sampled --results none
for folder in one two alone; do cmp -s loose/results $folder/results || fail "$folder: other results"; done
cmp -s one/race two/race || fail "races depend on threads"
! cmp -s loose/results skipped/results || fail "skipped workgroups have results"
grep -q 'results are not computed' skipped/log.txt || fail 'skipped workgroups are not reported'
[[ $(hash_of one) == "$(hash_of two)" ]] || fail "threads: $(hash_of one), $(hash_of two)"

# sums FOLDER: prints a line for each kernel: name, cycles, half width of the interval, instructions, untimed instructions.
sums() {
  awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
    { k = $column["kernel"]; c[k] += $column["cycles"]; h[k] += $column["half_width_cycles"]
      n[k] += $column["wavefront_instructions"]; u[k] += $column["untimed_instructions"] }
    END { for (k in c) print k, c[k], h[k], n[k], u[k] }' "$1/kernels.csv" | sort
}
# check FOLDER KERNEL PER_MILLE UNTIMED: checks that the error of the kernel's cycles is at most PER_MILLE, or within the stated
# interval if PER_MILLE is "interval", and the untimed share of its instructions is at least UNTIMED.
check() {
  join <(sums loose) <(sums "$1") | awk -v kernel="$2" -v bound="$3" -v least="$4" '
    $1 == kernel { error = ($6 - $2) / $2 * 1000; share = $9 / $8
      if (bound == "interval") bound = 1000 * $7 / $6
      printf "%s: %.1f per mille, interval %.1f, %.0f %% untimed\n", $1, error, $7 / $6 * 1000, 100 * share
      found = 1; bad = (error < 0 ? -error : error) > bound || share < least }
    END { exit !found || bad }' || fail "$1: $2"
}
for kernel in two_halves slow_last two_phases; do check one $kernel 30 0.15; done
# Chance determines which kinds of workgroups a sample contains: the estimate scatters by 2 %, which the interval must cover.
check one bimodal 60 0.15
check one bimodal interval 0.15
for kernel in slow_last two_phases; do check skipped $kernel 30 0.15; done
# If untimed workgroups are skipped, sampling cannot determine which of them take long: the expected errors are larger.
check skipped two_halves interval 0.15
check skipped bimodal 100 0.15
check one steady 20 0.5
check one sum_lines 30 0
# `chained` cannot be sampled, because its workgroups wait for each other.
check one chained 5 0
[[ $(sums one | awk '$1 == "chained" { print $5 }') == 0 ]] || fail 'chained is sampled'
# A launch whose wavefronts fault ends with an error and does not hang, even if its time is predicted from earlier launches of
# its class.
cat >fault.launch <<'END'
[code]
file = sampled_cases.co
[buffer x]
contents = zero:38400*8
[dispatch steady]
grid = 38400
block = 64
repeat = 8
arg = buf:x
arg = u32:25
[dispatch steady]
grid = 38400
block = 64
arg = null
arg = u32:25
END
time_limit=60
for mode in loose sampled; do
  expect 1 "$LACUNA" launch fault.launch --quiet --out fault "$@" --set gpu.timing=$mode
  [[ $(cat out.txt err.txt) == *fault* ]] || fail "$mode: no fault is reported"
done
# Without predictions across kernels, fewer instructions are untimed, since only parts of long launches run without timing.
[[ $(sums alone | awk '$1 == "steady" { print $5 }') -lt $(sums one | awk '$1 == "steady" { print $5 }') ]] || fail 'predictions'
