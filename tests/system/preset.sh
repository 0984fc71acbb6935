#!/usr/bin/env bash
# Checks that a preset ($1) starts the firmware and runs a kernel for its target ($2: relu, relu_gfx90a) with the same results
# as another machine, and that its DRAM has the bandwidth ($3, GB/s) stated in the preset's source. Further arguments are
# options of Lacuna, such as further presets.
source "$(dirname "$0")/common.sh"
machine=(--config "$1" "${@:4}")

expect 0 "$LACUNA" run "$FIRMWARE/hello.elf" "${machine[@]}" --out hello
[[ $(run_value hello ended_by) == guest ]] || fail "the program did not end itself"

relu=(--kernel relu --grid 16384 --block 256 --arg 'fill:65536:f32:normal(0,1):7')
expect 0 "$LACUNA" launch "$FIRMWARE/kernels/relu.co" --config tiny "${relu[@]}" --arg out:256K:expected.bin --arg u32:16384
[[ $(od -An -v -td4 -w4 expected.bin | grep -c -- -) == 0 ]] || fail "relu gives negative numbers"
expect 0 "$LACUNA" launch "$FIRMWARE/kernels/$2.co" "${machine[@]}" "${relu[@]}" --arg zero:256K:name=y --arg u32:16384 \
  --compare y=expected.bin --out relu
grep -q '^0,relu,' relu/kernels.csv || fail "relu is not in kernels.csv"

bandwidth=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i }
                     NR == 2 { print 1000 * $column["dram_peak"] / ($column["end_ps"] - $column["start_ps"]) }' relu/kernels.csv)
awk -v is="$bandwidth" -v wanted="$3" 'BEGIN { exit !(is > 0.99 * wanted && is < 1.01 * wanted) }' ||
  fail "the DRAM has $bandwidth GB/s, not $3"
