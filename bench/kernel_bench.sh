#!/usr/bin/env bash
# Speed of whole kernels. On the R9 Nano: tiled matrix multiply 512 x 512 x 512, launched by firmware, in functional and in loose
# timing, and two memory-bound kernels. Then, on the R9 Nano and the MI210, the kinds of kernels that take the most host time:
# scattered loads, many registers and many dwords per lane. Usage: kernel_bench.sh LACUNA FIRMWARE_FOLDER CONFIGS_FOLDER
set -euo pipefail
lacuna=$(realpath "$1") firmware=$(realpath "$2") configs=$(realpath "$3")
launches=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

printf '%-32s %14s %12s %10s %22s %20s %14s\n' '' wavefront core wall 'million wavefront' 'million thread' 'peak host'
printf '%-32s %14s %12s %10s %22s %20s %14s\n' 'kernel, timing' instructions cycles seconds instructions/s instructions/s \
  'memory, MiB'

# run CONFIG COMMAND...: runs the command and stores its results in $work/out
run() {
  local config=$1
  shift
  rm -rf "$work/out"
  "$@" --config "$configs/$config.cfg" --out "$work/out" --quiet >"$work/log.txt" 2>&1 || { cat "$work/log.txt" >&2; exit 1; }
}
# report LABEL [KERNEL]: prints totals over all dispatches of the last run, or over the dispatches of KERNEL
report() {
  local label=$1 kernel=${2-} peak
  peak=$(sed -n 's/^ *"peak_host_memory_bytes": \([0-9]*\).*/\1/p' "$work/out/statistics.json")
  # Finds columns of kernels.csv by name, so that new columns do not break the script.
  awk -F, -v label="$label" -v kernel="$kernel" -v peak="$peak" '
    NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
    kernel != "" && $column["kernel"] != kernel { next }
    { wavefront += $column["wavefront_instructions"]; thread += $column["thread_instructions"]
      cycles += $column["cycles"]; seconds += $column["wall_seconds"] }
    END { printf "%-32s %14d %12d %10.3f %22.2f %20.1f %14.0f\n", label, wavefront, cycles, seconds, wavefront / seconds / 1e6,
        thread / seconds / 1e6, peak / 1048576 }' "$work/out/kernels.csv"
}
# row LABEL COMMAND...: runs the command on the R9 Nano and reports all its dispatches
row() {
  local label=$1
  shift
  run r9nano "$@"
  report "$label"
}

for timing in functional loose; do
  row "matmul 512, $timing" "$lacuna" run "$firmware/matmul.elf" --set gpu.timing=$timing
done
for kernel in relu bfs; do
  cp "$launches/$kernel.launch" "$work"
done
cp "$firmware/kernels/relu_scalar.co" "$firmware/kernels/bfs.co" "$work"
row 'ReLU 4 M floats, loose' "$lacuna" launch "$work/relu.launch"
row 'BFS 256 K vertices, loose' "$lacuna" launch "$work/bfs.launch"

# A launch file names its code object without the target, so the code objects of each configuration are in a separate folder.
for config in r9nano mi210; do
  suffix=
  [[ $config == r9nano ]] || suffix=_gfx90a
  mkdir "$work/$config"
  for program in spmv spectral_element; do
    cp "$launches/$program.launch" "$work/$config"
    cp "$firmware/kernels/$program$suffix.co" "$work/$config/$program.co"
    run "$config" "$lacuna" launch "$work/$config/$program.launch"
    # Report the kernels of the launch file in order.
    for kernel in $(sed -n 's/^\[dispatch \(.*\)\]$/\1/p' "$launches/$program.launch"); do
      report "$kernel, $config" "$kernel"
    done
  done
done
