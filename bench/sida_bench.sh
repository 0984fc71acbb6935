#!/usr/bin/env bash
# Host speed of simulating the sparse dataflow accelerator in a GPU: products per second of PageRank on a power-law matrix with 12 entries
# per row and on a road network. Two iterations take two products per entry. Each path to memory, with all passes simulated in detail, is
# compared with the run without timing; the fabric also with repeated passes in bulk, on one and on two threads. Each result is the median
# of three differences between the times of 18 and of 4 iterations, which exclude the preparation of the matrix.
# Usage: sida_bench.sh LACUNA
set -euo pipefail
lacuna=$(realpath "$1")

# seconds MATRIX ITERATIONS OPTION...: prints the wall time of a run, in seconds
seconds() {
  local TIMEFORMAT=%R
  { time "$lacuna" sida run pr --matrix "$1" --iterations "$2" --machine device --config sida --quiet "${@:3}" >/dev/null; } 2>&1
}
# of_fourteen MATRIX OPTION...: prints the time of 14 iterations, in seconds: the median of three differences
of_fourteen() {
  local i
  for i in 1 2 3; do echo "$(seconds "$1" 18 "${@:2}") $(seconds "$1" 4 "${@:2}")"; done | awk '{ print $1 - $2 }' | sort -g | sed -n 2p
}

printf '%-36s %12s %24s %24s\n' 'matrix, way to memory' seconds 'million products/s' 'against function alone'
for matrix in power:rows=300000,entries=3600000 road:rows=1000000; do
  entries=$("$lacuna" sida info "$matrix" --order natural | sed -n 's/.* \([0-9,]*\) entries.*/\1/p' | head -n 1 | tr -d ,)
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
  row "fabric, in bulk, two threads" "$(of_fourteen "$matrix" --set sim.threads=2)"
done
