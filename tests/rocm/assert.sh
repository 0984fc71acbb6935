#!/usr/bin/env bash
# assert.sh TARGET: checks that a failing assertion in a kernel ends the program with a message that names the assertion, its
# file and its function.
source "$(dirname "$0")/common.sh"

on_gpu --config tiny --set gpu.target="$1" --out good -- device_assert
expect 0 "${command[@]}"
on_gpu --config tiny --set gpu.target="$1" --out bad -- device_assert 13
expect 134 "${command[@]}"
cat out.txt err.txt >all.txt
for part in "device_assert.hip:" "check_values" "values[threadIdx.x] != 13" "failed"; do
  grep -qF -- "$part" all.txt || fail "the assertion's message does not say: $part"
done
# With argument 14 the assertion holds, and the program continues.
on_gpu --config tiny --set gpu.target="$1" -- device_assert 14
expect 3 "${command[@]}"
has_results bad
