#!/usr/bin/env bash
# m3xu_refused.sh MODULE: checks that m3xu::gemm, and lacuna_m3xu_gemm_* of the module, trap in workgroups with a partial last
# wavefront.
source "$(dirname "$0")/common.sh"

module=$1
for language in hip opencl; do
  for work_items in 32 96; do
    on_gpu --config tiny --set gpu.target=gfx90a --set mfma.extensions=m3xu --out "results_$language$work_items" -- \
      m3xu "$module" "$language" "$work_items"
    if "${command[@]}" >out.txt 2>err.txt; then fail "$language: a workgroup of $work_items work-items is accepted"; fi
    grep -q "trap 2, .*lane.*: kernel .*products" err.txt ||
      { cat out.txt err.txt >&2; fail "$language: nothing says that $work_items work-items end with a trap"; }
  done
done
