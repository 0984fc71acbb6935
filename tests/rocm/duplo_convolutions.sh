#!/usr/bin/env bash
# Checks that two kernels with convolutions that run at the same time use separate entries. If only one convolution is allowed,
# one of the kernels runs without Duplo and is counted. A third kernel uses the workspace of the second. Runs with one and with
# two host threads are equal.
source "$(dirname "$0")/common.sh"

# convolve FOLDER UNITS OPTION...: runs the program with unlimited entries on UNITS compute units.
convolve() {
  on_gpu --config tiny --set gpu.target=gfx90a --set gpu.shader_arrays="$2" --set gpu.cus_per_shader_array=1 --set duplo.mode=on \
    --set duplo.release=never --set duplo.entries=0 --out "$1" "${@:3}" -- convolutions
  expect 0 "${command[@]}"
  grep -q "passed$" out.txt || fail "$1: results are wrong"
}
# column FOLDER NAME: prints column NAME of kernels.csv for each kernel convolve_*.
column() {
  awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) at = NF - i } NR > 1 && /convolve_/ { print $(NF - at) }' "$1/kernels.csv"
}
unserved() { sed -n '/"unserved": {/,/}/s/^ *"value": \([0-9]*\),$/\1/p' "$1/statistics.json"; }

# Look-ups of each kernel: 20 rounds of 9 fragments for each of four wavefronts.
convolve both 1
[[ $(column both duplo_look_ups | paste -sd " ") == "720 720 720" ]] || fail "look-ups: $(column both duplo_look_ups)"
[[ $(column both duplo_hits_wrong | paste -sd " ") == "0 0 0" ]] || fail "hits on data of the other convolution"
[[ $(column both duplo_compulsory | sort -u | wc -l) == 1 ]] || fail "tiles of one convolution were found by the other"
[[ $(unserved both) == 0 ]] || fail "a kernel ran without Duplo"

convolve one 1 --set duplo.convolutions=1
[[ $(column one duplo_look_ups | sort -n | paste -sd " ") == "0 720 720" ]] || fail "look-ups: $(column one duplo_look_ups)"
[[ $(unserved one) == 1 ]] || fail "$(unserved one) kernels ran without Duplo"

convolve thread 2 --set sim.threads=1
convolve threads 2 --set sim.threads=2
[[ $(run_value threads run_hash) == "$(run_value thread run_hash)" ]] || fail "the run depends on the number of threads"
