#!/usr/bin/env bash
# The two runs of docs/near-data.md: the second one offloads the chains of its 2,048 wavefronts, and takes less time.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

reports=("$(reported '*mesh56')" "$(reported '*neardata/llc')")
if grep -q "packets" "${reports[0]}"; then fail "packets of the baseline"; fi
grep -q "^vector_add *2,048 *4,096 *100 " "${reports[1]}" || fail "not a packet for each half of 2,048 wavefronts, all to the LLCs"
# cycles RUN: of the kernel.
cycles() { awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i } NR == 2 { print $column["cycles"] }' "lacuna-out/run-000$1/kernels.csv"; }
(($(cycles 2) < $(cycles 1))) || fail "$(cycles 2) cycles near the data, $(cycles 1) without"
