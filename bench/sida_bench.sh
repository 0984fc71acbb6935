#!/usr/bin/env bash
# Host cost of simulating the sparse dataflow accelerator in a GPU:
# - speed: products per second of PageRank on a power-law matrix with 12 entries per row and on a road network. Two iterations take two
#   products per entry. Each path to memory, with all passes simulated in detail, is compared with the run without timing; the fabric also
#   with repeated passes in bulk. Each result is the median of three differences between the times of 18 and of 4 iterations, which exclude
#   the preparation of the matrix.
# - threads: one thread of the simulator against two, in turn; medians of the ratios. Alone: the difference of 18 and 4 iterations; beside
#   kernels: the time of a job and of kernels that stream memory in another queue.
# - memory: peak of the process, GPU memory included, by entry and by row, and of a road network with the shape of europe_osm.
# Usage: [PARTS="speed threads memory"] [EUROPE=whole] sida_bench.sh LACUNA PROGRAMS_FOLDER FIRMWARE_FOLDER
set -euo pipefail
lacuna=$(realpath "$1") programs=$(realpath "$2") firmware=$(realpath "$3")
parts=${PARTS:-speed threads memory}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# seconds MATRIX ITERATIONS OPTION...: prints the wall time of a run, in seconds
seconds() {
  local TIMEFORMAT=%R
  { time "$lacuna" sida run pr --matrix "$1" --iterations "$2" --machine device --config sida --quiet "${@:3}" >/dev/null; } 2>&1
}
median() { sort -g | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'; }
# once MATRIX OPTION...: prints the time of 14 iterations, in seconds
once() { awk -v long="$(seconds "$1" 18 "${@:2}")" -v short="$(seconds "$1" 4 "${@:2}")" 'BEGIN { print long - short }'; }
# of_fourteen MATRIX OPTION...: the same, the median of three differences
of_fourteen() { for _ in 1 2 3; do once "$@"; done | median; }
# entries_of MATRIX: prints its number of entries
entries_of() { "$lacuna" sida info "$1" --order natural | sed -n 's/.* \([0-9,]*\) entries.*/\1/p' | head -n 1 | tr -d ,; }

speed() {
  local matrix entries alone path
  printf '%-36s %12s %24s %24s\n' 'matrix, way to memory' seconds 'million products/s' 'against function alone'
  for matrix in power:rows=300000,entries=3600000 road:rows=1000000; do
    entries=$(entries_of "$matrix")
    alone=$(of_fourteen "$matrix" --set gpu.timing=functional --set sim.threads=1)
    row() {
      local took=$2
      awk -v label="${matrix%%:*}, $1" -v took="$took" -v alone="$alone" -v entries="$entries" \
        'BEGIN { printf "%-36s %12.2f %24.1f %24.2f\n", label, took, 14 * entries / took / 1e6, took / alone }'
    }
    row functional "$alone"
    for path in fabric l2 dram; do
      row "$path" "$(of_fourteen "$matrix" --set sida.path=$path --set sida.passes=detailed --set sim.threads=1)"
    done
    row "fabric, in bulk" "$(of_fourteen "$matrix" --set sim.threads=1)"
  done
}

# beside THREADS: prints the host seconds of a job beside kernels that take about as long
beside() {
  "$lacuna" exec --quiet --config sida --set "sim.threads=$1" -- "$programs/sida_beside" "$firmware/kernels/test_kernels.co" \
    power:rows=300000,entries=3600000 8 8 8388608 | sed -n 's/^host seconds: //p'
}
# ratio COMMAND...: prints the median over three pairs of the command's seconds with 1 thread over those with 2; THREADS in the command is
# replaced by the number
ratio() {
  for _ in 1 2 3; do
    awk -v one="$("${@//THREADS/1}")" -v two="$("${@//THREADS/2}")" 'BEGIN { printf "%.2f\n", one / two }'
  done | median
}

threads() {
  local matrix=power:rows=300000,entries=3600000
  printf '\n%-52s %12s   %s\n' 'one thread over two' ratio wanted
  printf '%-52s %12s   %s\n' 'a job alone, passes in bulk' "$(ratio once $matrix --set sim.threads=THREADS)" 'at least 1.3'
  printf '%-52s %12s   %s\n' 'a job beside kernels' "$(ratio beside THREADS)" 'at least 1.3'
}

# peak MATRIX: prints the peak memory of PageRank, in bytes
peak() {
  "$lacuna" sida run pr --matrix "$1" --iterations 4 --machine device --config sida --set vram.size=12GiB --quiet --out out
  sed -n 's/^ *"peak_host_memory_bytes": \([0-9]*\).*/\1/p' out/statistics.json
}

memory() {
  local base few many rows scale=16 matrix
  [[ ${EUROPE-} != whole ]] || scale=1
  # sizes MATRIX: prints entries and peak
  sizes() { echo "$(entries_of "$1") $(peak "$1")"; }
  printf '\n%-52s %12s   %s\n' 'host memory, GPU memory included' bytes wanted
  base=$(peak road:rows=100)
  few=$(sizes power:rows=200000,entries=2400000)
  many=$(sizes power:rows=200000,entries=9600000)
  rows=$(sizes power:rows=2000000,entries=2400000)
  awk -v few="$few" -v many="$many" -v rows="$rows" 'BEGIN {
      split(few, a, " "); split(many, b, " "); split(rows, c, " ")
      entry = (b[2] - a[2]) / (b[1] - a[1])
      printf "%-52s %12.1f   %s\n", "an entry", entry, "at most 48"
      printf "%-52s %12.1f   %s\n", "a row", (c[2] - a[2] - entry * (c[1] - a[1])) / 1800000, "at most 128"
    }'
  matrix=road:rows=$((50912018 / scale)),kept=0.5309,tile=32,shuffled=0.047,reach=0.9
  awk -v base="$base" -v scale=$scale -v peak="$(peak $matrix)" 'BEGIN {
      label = scale == 1 ? "europe_osm in size, GB" : "europe_osm in size, GB, from 1/" scale " of it (EUROPE=whole)"
      printf "%-52s %12.1f   %s\n", label, (base + scale * (peak - base)) / 1e9, "at most 16"
    }'
}

for part in $parts; do
  case $part in
    speed | threads | memory) $part ;;
    *) echo "no part $part: speed, threads or memory" >&2; exit 2 ;;
  esac
done
