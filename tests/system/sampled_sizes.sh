#!/usr/bin/env bash
# Tests sampled timing of launches whose sizes change: their times are predicted from launches of other sizes, within the stated
# interval, also where the data outgrow the L2. Results are those of detailed timing, and the run hash does not depend on the
# number of threads.
# Usage: sampled_sizes.sh KERNELS OPTION...; KERNELS is the name of the code object.
. "$(dirname "$0")/sampled_common.sh"

run() {
  launch "$@"
  cat x.bin y.bin >"$1/results"
}
run loose "$@" --set gpu.timing=loose
run one "$@" --set gpu.timing=sampled --set sim.threads=1
run two "$@" --set gpu.timing=sampled --set sim.threads=2
cmp -s loose/results one/results || fail 'other results'
[[ $(hash_of one) == "$(hash_of two)" ]] || fail "threads: $(hash_of one), $(hash_of two)"

# check KERNEL UNTIMED PER_MILLE: at least UNTIMED launches are predicted, at least 93 % of them are within their interval, and the
# sum of all cycles is at most PER_MILLE off.
check() {
  paste -d' ' <(columns loose kernel cycles) <(columns one cycles half_width_cycles untimed_instructions) |
    awk -v kernel="$1" -v least="$2" -v bound="$3" '
      $1 == kernel { error = $3 < $2 ? $2 - $3 : $3 - $2; all += $2; sum += $3
        if ($5 > 0) { ++untimed; held += error <= $4 } }
      END { off = 1000 * (sum / all - 1)
        printf "%s: %d untimed, %d within their intervals, sum off by %.1f per mille\n", kernel, untimed, held, off
        exit untimed < least || held < 0.93 * untimed || off > bound || off < -bound }' || fail "$1"
}
check steady 8 10
check sum_lines 5 10
grep -A1 '"kernels_predicted_by_size"' one/statistics.json | grep -q '"value": [1-9]' || fail 'nothing is predicted by size'
