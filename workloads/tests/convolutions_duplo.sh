#!/usr/bin/env bash
# convolutions_duplo.sh: conv2d --method implicit on a machine with Duplo: LDS reads of the workspace are looked up, and many of
# them hit; results are correct, and result bits and instructions are the same as without Duplo. With sampled timing of explicit
# products of layers of each kind, estimated cycles are those of detailed timing, within the interval, and counts within 5 %.
source "$SOURCE/tests/rocm/common.sh"

# convolve FOLDER MODE OPTION...: runs conv2d with duplo.mode = MODE, and writes the hash of its result to FOLDER.bits.
convolve() {
  on_gpu --quiet --config titanv-like --set gpu.shader_arrays=2 --set "duplo.mode=$2" --out "$1" -- conv2d --check --method implicit \
    --layer yolo_c3 --shape height=16,width=16,filters=64 --batch 1 "${@:3}"
  expect 0 "${command[@]}"
  tail -n 1 out.txt | grep -q " check=passed" || fail "$1: no closing line that says so"
  grep -o ' bits=[0-9]*' out.txt >"$1.bits" || fail "$1: no bits"
}
# column FOLDER NAME: prints the sum of a column of kernels.csv over the kernels on matrix units.
column() {
  awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) at = NF - i }
                        NR > 1 && $2 ~ /^convolution_implicit/ { sum += $(NF - at) } END { printf "%d", sum }' "$1/kernels.csv"
}

for fragments in 2 4; do
  convolve off-$fragments off --fragments $fragments
  convolve on-$fragments on --fragments $fragments
  on=on-$fragments
  cmp -s $on.bits off-$fragments.bits || fail "other bits with Duplo"
  [[ $(column $on wavefront_instructions) == "$(column off-$fragments wavefront_instructions)" ]] || fail "instructions differ"
  # The workspace has 256 rows and 576 columns; each fragment of 16 rows and 8 * fragments columns is read by two wavefronts.
  look_ups=$((2 * 256 / 16 * 576 / (8 * fragments)))
  [[ $(column $on duplo_look_ups) == "$look_ups" ]] || fail "$(column $on duplo_look_ups) look-ups, not $look_ups"
  # The second wavefront that reads a fragment hits if the two read it at about the same time.
  (($(column $on duplo_hits) > look_ups / 8)) || fail "$(column $on duplo_hits) hits"
  (($(column $on duplo_lds_cycles) > 0)) || fail "hits save no cycles of the LDS"
  (($(column $on duplo_hits_wrong) == 0)) || fail "wrong hits"
  (($(column off-$fragments duplo_look_ups) == 0)) || fail "look-ups without Duplo"
done

# sampled FOLDER TIMING LAYER SHAPE: runs a product of 98 or 200 workgroups on two compute units, which hold six.
sampled() {
  on_gpu --quiet --config titanv-like --set gpu.shader_arrays=2 --set duplo.mode=on --set "gpu.timing=$2" --out "$1" -- conv2d \
    --check --method explicit --layer "$3" --shape "$4" --batch 1
  expect 0 "${command[@]}"
  grep -o ' bits=[0-9]*' out.txt >"$1.bits" || fail "$1: no bits"
}
# product FOLDER NAME: prints a column of the product in kernels.csv.
product() {
  awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) at = NF - i }
                        NR > 1 && $2 ~ /^convolution_explicit/ { print $(NF - at) }' "$1/kernels.csv"
}
# Stride 1; stride 2; inserted zeros; stride 2 with filters of 5 x 5.
while read -r layer shape; do
  sampled detailed loose "$layer" "$shape"
  sampled estimated sampled "$layer" "$shape"
  cmp -s estimated.bits detailed.bits || fail "$layer: other bits with sampled timing"
  (($(product estimated untimed_instructions) > 0)) || fail "$layer: nothing was sampled"
  error=$(($(product estimated cycles) - $(product detailed cycles)))
  ((${error#-} <= $(product estimated half_width_cycles))) || fail "$layer: the estimate is off by $error cycles"
  for count in look_ups hits; do
    is=$(product estimated duplo_$count) was=$(product detailed duplo_$count)
    ((was > 0 && 20 * is > 19 * was && 20 * is < 21 * was)) || fail "$layer: $is estimated $count, $was counted"
  done
done <<'LAYERS'
yolo_c1 height=112,width=112,channels=16,filters=32
resnet_c3 height=321,width=321,channels=16,filters=64
gan_tc3 height=80,width=80,channels=16,filters=64
gan_c1 height=320,width=320,channels=16,filters=64
LAYERS
