#!/usr/bin/env bash
# Speed of whole kernels through the firmware door: tiled matrix multiply 512 x 512 x 512 on the R9 Nano configuration, one run for
# each timing mode, side by side. Usage: kernel_bench.sh LACUNA FIRMWARE_FOLDER CONFIGS_FOLDER
set -euo pipefail
lacuna=$1 firmware=$2 configs=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

printf '%-12s %14s %12s %10s %22s %20s %14s\n' timing wavefront core wall 'million wavefront' 'million thread' 'peak host'
printf '%-12s %14s %12s %10s %22s %20s %14s\n' '' instructions cycles seconds instructions/s instructions/s 'memory, MiB'
for timing in functional loose reference; do
  "$lacuna" run "$firmware/matmul.elf" --config "$configs/r9nano.cfg" --set gpu.timing=$timing --out "$work/$timing" --quiet \
    >"$work/$timing.txt" 2>&1 || { cat "$work/$timing.txt" >&2; exit 1; }
  peak=$(sed -n 's/^ *"peak_host_memory_bytes": \([0-9]*\).*/\1/p' "$work/$timing/statistics.json")
  # columns of kernels.csv by name, so that new ones do not break this
  awk -F, -v timing=$timing -v peak="$peak" '
    NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
    { printf "%-12s %14d %12d %10.3f %22.2f %20.1f %14.0f\n", timing, $column["wavefront_instructions"], $column["cycles"],
        $column["wall_seconds"], $column["wavefront_instructions"] / $column["wall_seconds"] / 1e6,
        $column["thread_instructions"] / $column["wall_seconds"] / 1e6, peak / 1048576 }' "$work/$timing/kernels.csv"
done
