#!/usr/bin/env bash
# Host cost of Duplo: wavefront instructions per second of processor time with Duplo and its check of hits, relative to the same run
# without; peak memory; and the same with a history of unlimited size that grows with the batch. On one thread of the simulator. Runs with
# and without Duplo alternate, and ratios are medians over these pairs.
# Usage: [PAIRS=5] duplo_bench.sh LACUNA WORKLOADS_FOLDER
set -euo pipefail
lacuna=$(realpath "$1") programs=$(realpath "$2") pairs=${PAIRS:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

history=()
row() { printf '%-72s %16s   %s\n' "$1" "$2" "$3"; }
# run FOLDER OPTION... -- PROGRAM ARGUMENT...: prints processor seconds of a run, wavefront instructions, peak memory in bytes, and wall
# seconds of the product on matrix units
run() {
  local TIMEFORMAT='%U %S' folder=$1 options=() spent
  shift
  while [[ $1 != -- ]]; do options+=("$1"); shift; done
  rm -rf "$folder"
  spent=$({ time "$lacuna" exec --quiet --set sim.threads=1 "${options[@]}" --out "$folder" -- "$programs/$2" "${@:3}" \
    >out.txt 2>error.txt || { cat out.txt error.txt >&2; exit 1; }; } 2>&1 | tail -n 1)
  awk -v spent="$spent" -F, '
    FILENAME ~ /json$/ { if (/"peak_host_memory_bytes"/) { split($0, parts, /[: ,]+/); peak = parts[3] } next }
    FNR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i - NF; next }
    { instructions += $(NF + column["wavefront_instructions"]) }
    $2 ~ /^convolution_(explicit|implicit)/ { product += $(NF + column["wall_seconds"]) }
    END { split(spent, seconds, " "); print seconds[1] + seconds[2], instructions, peak, product + 0 }' \
    "$folder/statistics.json" "$folder/kernels.csv"
}
median() { sort -g | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'; }
# compare CONFIG PROGRAM ARGUMENT...: sets speed, growth and product: medians of the ratio of instructions per second of the whole run,
# of the growth of peak memory, and of the ratio of instructions per second of the product, each with Duplo relative to without.
# `history`: further options with Duplo
compare() {
  local config=$1 i off on
  shift
  : >ratios.txt
  for ((i = 0; i < pairs; ++i)); do
    if ((i % 2)); then
      on=$(run on --config "$config" --set duplo.mode=on "${history[@]}" -- "$@") off=$(run off --config "$config" --set duplo.mode=off -- "$@")
    else
      off=$(run off --config "$config" --set duplo.mode=off -- "$@") on=$(run on --config "$config" --set duplo.mode=on "${history[@]}" -- "$@")
    fi
    awk -v off="$off" -v on="$on" 'BEGIN {
      split(off, without, " "); split(on, with, " ")
      if (without[2] != with[2]) { print "other instructions with Duplo" > "/dev/stderr"; exit 1 }
      print without[1] / with[1], with[3] / without[3] - 1, with[4] ? without[4] / with[4] : 0 }' >>ratios.txt
  done
  speed=$(awk '{ print $1 }' ratios.txt | median)
  growth=$(awk '{ print $2 }' ratios.txt | median)
  product=$(awk '{ print $3 }' ratios.txt | median)
}
percent() { awk -v value="$1" 'BEGIN { printf "%.1f %%", 100 * value }'; }

row '' measured wanted
for layer in resnet_c2 yolo_c5; do
  compare titanv-like conv2d --layer $layer --batch 8 --method explicit
  row "$layer: instructions per second of the run, with / without" "$(percent "$speed")" 'at least 70 %'
  row "$layer: of its product, by wall time" "$(percent "$product")" ''
  row "$layer: growth of peak memory" "$(percent "$growth")" 'under 10 %'
done
# The product on vector ALUs has no parameter block.
compare duplo/eighth conv2d --layer resnet_c2 --batch 1 --method gemm
row 'without a parameter block: instructions per second' "$(percent "$speed")" 'no difference'
row 'without a parameter block: growth of peak memory' "$(percent "$growth")" 'no difference'

# Every tile that is not found gets an entry that is never released, so the history grows with the batch.
history=(--set duplo.entries=0 --set duplo.release=never)
for batch in 1 4 16; do
  compare duplo/eighth conv2d --layer resnet_c2 --batch $batch --method explicit
  row "unlimited entries that stay, batch $batch: of the product, by wall time" "$(percent "$product")" 'the same for each batch'
done
