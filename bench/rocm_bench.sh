#!/usr/bin/env bash
# HIP programs on the virtual GPU: start-up, launches, copies, cost of an idle GPU, and speed of a kernel compared with the same
# kernel launched by firmware.
# Usage: rocm_bench.sh LACUNA PROGRAMS_FOLDER FIRMWARE_FOLDER
set -euo pipefail
lacuna=$(realpath "$1") programs=$(realpath "$2") firmware=$(realpath "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# seconds COMMAND...: prints the wall time of one run
seconds() {
  local begin=$EPOCHREALTIME
  "$@" >out.txt 2>&1 || { cat out.txt >&2; exit 1; }
  awk -v begin="$begin" -v end="$EPOCHREALTIME" 'BEGIN { printf "%.2f", end - begin }'
}
row() { printf '%-62s %18s   %s\n' "$1" "$2" "$3"; }
# kernel_seconds KERNELS_CSV NAME: prints the lowest wall time of the kernel's dispatches, in seconds
kernel_seconds() {
  awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
    $column["kernel"] == name && (least == 0 || $column["wall_seconds"] < least) { least = $column["wall_seconds"] }
    END { print least }' "$1"
}

row '' measured wanted
"$lacuna" exec --quiet --config r9nano -- "$programs/hsa_runtime" "$firmware/kernels/test_kernels.co" start >out.txt
row 'hsa_init to return' "$(sed -n 's/^hsa_init: //p' out.txt)" 'under 100 ms'
million=$(seconds "$lacuna" exec --quiet --config r9nano -- "$programs/vector_add" 1048576)
row 'vector add of 1 Mi floats, launch to exit, r9nano' "$million s" 'under 2 s'
row '100,000 empty launches, launch to exit, r9nano' "$(seconds "$lacuna" exec --quiet --config r9nano -- "$programs/many_launches") s" 'under 20 s'

# copy_speed SDMA DIRECTION BYTES: prints the GB/s of the fastest of four copies by wall time, and by processor time in
# parentheses. A copy before these four, whose timing is sampled for the later ones, does not count.
copy_speed() {
  HSA_ENABLE_SDMA=$1 "$lacuna" exec --quiet --config r9nano -- "$programs/copy_times" "$2" 0 0 "$3" "$3" "$3" "$3" "$3" >out.txt
  awk '/ us/ && ++copies > 1 {
      if (wall == 0 || $(NF - 4) < wall) wall = $(NF - 4)
      if (processors == 0 || $(NF - 1) < processors) processors = $(NF - 1)
      bytes = $2
    }
    END { printf "%.2f GB/s (%.2f)", bytes / wall / 1e9, bytes / processors / 1e9 }' out.txt
}
for direction in h2d d2h d2d fill; do
  row "$direction of 1 GiB by kernels, host, r9nano" "$(copy_speed 0 $direction 1073741824)" 'at least 2 GB/s'
  row "$direction of 1 GiB by copy engines, host, r9nano" "$(copy_speed 1 $direction 1073741824)" 'at least 2 GB/s'
done

"$lacuna" exec --quiet --config r9nano -- "$programs/exits" wait-for-signal nothing >idle.txt &
process=$!
until grep -q ending idle.txt; do sleep 0.1; done
sleep 1
read -ra before <"/proc/$process/stat"
sleep 5
read -ra after <"/proc/$process/stat"
kill "$process"
wait "$process" 2>/dev/null || true
ticks=$((after[13] + after[14] - before[13] - before[14]))
row 'processor time of an idle GPU' "$(awk -v t=$ticks -v hz="$(getconf CLK_TCK)" 'BEGIN { printf "%.1f %%", 100 * t / hz / 5 }')" 'at most 2 %'

for repeat in 1 2 3; do
  "$lacuna" run "$firmware/matmul.elf" --config r9nano --out "firmware-$repeat" --quiet >out.txt
done
"$lacuna" exec --quiet --config r9nano --out hip -- "$programs/matrix_product" "$firmware/kernels/matmul_tiled.co" 3 >out.txt
from_firmware=$(for repeat in 1 2 3; do kernel_seconds "firmware-$repeat/kernels.csv" matmul_tiled; done | sort -g | head -n 1)
from_hip=$(kernel_seconds hip/kernels.csv matmul_tiled)
row 'matmul_tiled 512, from firmware' "$from_firmware s" ''
row 'matmul_tiled 512, from HIP, while the host waits' "$from_hip s" "$(awk -v a="$from_firmware" 'BEGIN { printf "at most %.2f s", 1.1 * a }')"
