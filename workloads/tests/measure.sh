#!/usr/bin/env bash
# measure.sh of this folder's parent: its tables for one program agree with what a run of that program leaves.
source "$SOURCE/tests/rocm/common.sh"

mkdir programs
ln -s "$PROGRAMS/bfs" programs/bfs
expect 0 "$SOURCE/workloads/measure.sh" "$LACUNA" programs small default
cp out.txt tables.md
grep -qE '^\| \[`bfs`\]\(bfs/bfs.hip\) \| Breadth-first search .* \| LazyGPU' tables.md || fail "the table of programs is another"

on_gpu --quiet --config r9nano --out results -- bfs --preset small
expect 0 "${command[@]}"
kernels=$(sed -n 's/^result: .* kernels=\([0-9]*\) .*/\1/p' out.txt)
# The search's kernels alone, not the copies and fills of the runtime.
instructions=$(awk -F, '$2 ~ /expand/ { sum += $11 } END { print sum }' results/kernels.csv)
[[ $kernels -gt 2 && $(wc -l <results/kernels.csv) -gt $((kernels + 1)) ]] || fail "the run has no kernels, or no copies beside them"
cp tables.md out.txt
says "| \`bfs\` | small | --nodes 4000 --degree 3 | $kernels | $instructions | "
says "| \`bfs\` | default | --nodes 64 --degree 3 | "
