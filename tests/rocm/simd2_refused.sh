#!/usr/bin/env bash
# simd2_refused.sh: checks that simd2::multiply traps in all workgroups except one-dimensional workgroups of 256 work-items.
source "$(dirname "$0")/common.sh"

for workgroup in '256 1' '32 1' '96 1' '128 1' '16 16' '256 2'; do
  read -ra size <<<"$workgroup"
  on_gpu --config tiny --set gpu.target=gfx90a --set mfma.extensions=simd2 --out "results_${size[0]}_${size[1]}" -- \
    simd2_empty "${size[@]}"
  if [[ $workgroup == '256 1' ]]; then
    expect 0 "${command[@]}"
    continue
  fi
  if "${command[@]}" >out.txt 2>err.txt; then fail "a workgroup of $workgroup is accepted"; fi
  grep -q "trap 2, .*lane.*: kernel .*product_in_kernel" err.txt ||
    { cat out.txt err.txt >&2; fail "nothing says that a workgroup of $workgroup ends with a trap"; }
done
