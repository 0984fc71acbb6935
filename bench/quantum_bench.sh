#!/usr/bin/env bash
# Error and speed of gpu.quantum over the demo's kernels on the R9 Nano configuration, as docs/timing.md has it: cycles at quantum
# 1, the difference to them in per cent, and the speed of all together. Usage: quantum_bench.sh LACUNA FIRMWARE_FOLDER [QUANTUM...]
set -euo pipefail
lacuna=$1 firmware=$2
shift 2
[[ $# -gt 0 ]] || set -- 1 2 3 10 25 50 100 200 1000
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for quantum in "$@"; do
  "$lacuna" run "$firmware/demo.elf" --config r9nano --set "gpu.quantum=$quantum" --out "$work/$quantum" --quiet >"$work/log.txt" 2>&1 ||
    { cat "$work/log.txt" >&2; exit 1; }
  awk -F, -v quantum="$quantum" '
    NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
    { print quantum, $column["kernel"], $column["cycles"], $column["wavefront_instructions"], $column["wall_seconds"] }' \
    "$work/$quantum/kernels.csv"
done | awk '
  !($1 in seen) { seen[$1] = 1; quanta[++n] = $1 }
  !($2 in known) { known[$2] = 1; kernels[++k] = $2 }
  { cycles[$1, $2] += $3; cycles[$1, "all"] += $3; instructions[$1] += $4; seconds[$1] += $5 }
  END {
    kernels[++k] = "all"
    printf "| kernel | cycles, quantum %s |", quanta[1]
    for (q = 2; q <= n; ++q) printf " %s |", quanta[q]
    printf "\n|---|---|"
    for (q = 2; q <= n; ++q) printf "---|"
    printf "\n"
    for (i = 1; i <= k; ++i) {
      first = cycles[quanta[1], kernels[i]]
      printf "| %s | %d |", kernels[i], first
      for (q = 2; q <= n; ++q) printf " %+.1f |", 100 * (cycles[quanta[q], kernels[i]] / first - 1)
      printf "\n"
    }
    printf "| million wavefront instructions/s | %.2f |", instructions[quanta[1]] / seconds[quanta[1]] / 1e6
    for (q = 2; q <= n; ++q) printf " %.2f |", instructions[quanta[q]] / seconds[quanta[q]] / 1e6
    printf "\n"
  }'
