#!/usr/bin/env bash
# Checks that the workload of workloads/README.md succeeds: one run checks its own results, the other ends with a result.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

grep -q '^result: workload=spmv gpu=gfx803 preset=default .* check=passed' "$(printed '*--check')" || fail "spmv was not checked"
grep -q '^result: workload=spmv gpu=gfx90a preset=paper ' "$(printed '*--sparsity 0.5')" || fail "spmv of the paper's size has no result"
