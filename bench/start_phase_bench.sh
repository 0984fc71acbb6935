#!/usr/bin/env bash
# How far kernels' cycles depend on when they start: runs a command of lacuna with N values of gpu.start_phase and prints
# minimum, mean, maximum and spread ((maximum - minimum) / mean) of each kernel, all its dispatches together, as docs/timing.md
# has it. Usage: start_phase_bench.sh N LACUNA COMMAND [OPTION...]
#   bench/start_phase_bench.sh 16 build/release/bin/lacuna run build/release/firmware/demo.elf --config r9nano
# A phase is STEP cycles (environment variable, 251) longer than the one before: 16 of them go once through the time between two
# refreshes of DRAM (3,900 cycles of 1 ns), and 251 is prime, so that no period of the machine hides behind it.
set -euo pipefail
phases=$1 lacuna=$2
shift 2
step=${STEP:-251}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for ((phase = 0; phase < phases; ++phase)); do
  "$lacuna" "$@" --set "gpu.start_phase=$((phase * step))cycles" --out "$work/$phase" --quiet >"$work/log.txt" 2>&1 ||
    { cat "$work/log.txt" >&2; exit 1; }
  awk -F, -v phase="$phase" '
    NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
    { print phase, $column["kernel"], $column["cycles"] }' "$work/$phase/kernels.csv"
done | awk '
  !($2 in known) { known[$2] = 1; kernels[++k] = $2 }
  { cycles[$1, $2] += $3; cycles[$1, "all"] += $3; phases = $1 + 1 }
  END {
    kernels[++k] = "all"
    print "| kernel | minimum | mean | maximum | spread |\n|---|---|---|---|---|"
    for (i = 1; i <= k; ++i) {
      sum = 0
      for (p = 0; p < phases; ++p) {
        now = cycles[p, kernels[i]]
        if (p == 0 || now < least) least = now
        if (p == 0 || now > most) most = now
        sum += now
      }
      printf "| %s | %d | %d | %d | %.1f %% |\n", kernels[i], least, sum / phases, most, 100 * (most - least) / (sum / phases)
    }
  }'
