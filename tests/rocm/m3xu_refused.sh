#!/usr/bin/env bash
# m3xu_refused.sh: m3xu::gemm ends with a trap in workgroups whose last wavefront is filled in part.
source "$(dirname "$0")/common.sh"

for work_items in 32 96; do
  on_gpu --config tiny --set gpu.target=gfx90a --set mfma.extensions=m3xu --out "results_$work_items" -- m3xu "$work_items"
  if "${command[@]}" >out.txt 2>err.txt; then fail "a workgroup of $work_items work-items is accepted"; fi
  grep -q "trap 2: kernel .*products" err.txt || { cat out.txt err.txt >&2; fail "nothing says that $work_items work-items end with a trap"; }
done
