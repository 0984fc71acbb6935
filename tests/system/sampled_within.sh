#!/usr/bin/env bash
# Tests sampled timing within workgroups (sampling.within_workgroups): estimates of times and energies contain those of detailed
# timing in their intervals, also where wavefronts change from one loop to another, and where fewer and fewer wavefronts are
# resident. Results are those of detailed timing, and the run hash does not depend on the number of threads.
# Usage: sampled_within.sh KERNELS OPTION...; KERNELS is the name of the code object.
. "$(dirname "$0")/sampled_common.sh"

options=("$@" --config energy/r9nano --set sampling.within_workgroups=true --set sampling.across_kernels=false)
run() {
  launch "$@"
  cp x.bin "$1/results"
}
run loose "${options[@]}" --set gpu.timing=loose
run one "${options[@]}" --set gpu.timing=sampled --set sim.threads=1
run two "${options[@]}" --set gpu.timing=sampled --set sim.threads=2
cmp -s loose/results one/results || fail 'other results'
[[ $(hash_of one) == "$(hash_of two)" ]] || fail "threads: $(hash_of one), $(hash_of two)"

# check KERNEL UNTIMED PER_MILLE: at least the share UNTIMED of the kernel's instructions is untimed, errors of its cycles and of its
# energy are at most PER_MILLE, and both are within their intervals.
check() {
  paste -d' ' <(columns loose kernel cycles energy_j) \
    <(columns one cycles half_width_cycles energy_j half_width_j untimed_instructions wavefront_instructions) |
    awk -v kernel="$1" -v least="$2" -v bound="$3" '
      function off(a, b) { return a > b ? a - b : b - a }
      $1 == kernel { found = 1; untimed = $8 / $9; cycles = off($4, $2); energy = off($6, $3)
        printf "%s: %.0f %% untimed, cycles off by %.1f per mille, energy by %.1f\n", kernel, 100 * untimed, 1000 * ($4 / $2 - 1), 1000 * ($6 / $3 - 1)
        bad = untimed < least || cycles > $5 || energy > $7 || 1000 * cycles > bound * $2 || 1000 * energy > bound * $3 }
      END { exit !found || bad }' || fail "$1"
}
check steady 0.6 20
check two_phases 0.4 40
check bimodal 0.5 40
check slow_last 0.3 40
check two_halves 0.3 40
