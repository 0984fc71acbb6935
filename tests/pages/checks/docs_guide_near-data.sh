#!/usr/bin/env bash
# Checks the runs of docs/guide/near-data.md: the second run offloads the chains of its 2,048 wavefronts and takes less time
# than the first. The third run has the same chains, which are marked by tags in its code object.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

reports=("$(reported '*mesh56')" "$(reported '*vector_add.co --kernel *neardata/llc')")
if grep -q "packets" "${reports[0]}"; then fail "packets of the baseline"; fi
for report in "${reports[1]}" "$(reported '*tagged.co --kernel*')"; do
  grep -q "^vector_add *2,048 *100 *4,096 *100 " "$report" || fail "not a packet for each half of 2,048 wavefronts, all to the LLCs"
done
# cycles RUN: prints the cycles of the kernel in run number RUN.
cycles() { awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i } NR == 2 { print $column["cycles"] }' "lacuna-out/run-000$1/kernels.csv"; }
(($(cycles 2) < $(cycles 1))) || fail "$(cycles 2) cycles near the data, $(cycles 1) without"
