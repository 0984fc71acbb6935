#!/usr/bin/env bash
# A preset ($1) starts the firmware and runs a kernel of its target ($2: relu, relu_gfx90a) that gives what another machine gives.
source "$(dirname "$0")/common.sh"

expect 0 "$LACUNA" run "$FIRMWARE/hello.elf" --config "$1" --out hello
[[ $(run_value hello ended_by) == guest ]] || fail "the program did not end itself"

relu=(--kernel relu --grid 16384 --block 256 --arg 'fill:65536:f32:normal(0,1):7')
expect 0 "$LACUNA" launch "$FIRMWARE/kernels/relu.co" --config tiny "${relu[@]}" --arg out:256K:expected.bin --arg u32:16384
[[ $(od -An -v -td4 -w4 expected.bin | grep -c -- -) == 0 ]] || fail "relu gives negative numbers"
expect 0 "$LACUNA" launch "$FIRMWARE/kernels/$2.co" --config "$1" "${relu[@]}" --arg zero:256K:name=y --arg u32:16384 \
  --compare y=expected.bin --out relu
grep -q '^0,relu,' relu/kernels.csv || fail "relu is not in kernels.csv"
