#!/usr/bin/env bash
# More than one process at once, each with a GPU of its own.
source "$(dirname "$0")/common.sh"

touch out.txt err.txt
for i in 1 2 3; do
  on_gpu --config tiny --out "folder-$i" -- algorithms
  "${command[@]}" >"out-$i.txt" 2>"err-$i.txt" &
  processes[i]=$!
done
for i in 1 2 3; do
  wait "${processes[i]}" || { cat "err-$i.txt" >&2; fail "process $i of three failed"; }
  grep -q "checks passed" "out-$i.txt" || fail "process $i of three does not say that its checks passed"
  has_results "folder-$i"
  # Kernel, grid, workgroup, thread instructions. (The runtime's own copy kernels depend on where memory is.)
  cut -d, -f2,4,5,12 "folder-$i/kernels.csv" | grep -v '(HSA runtime)' >"kernels-$i.txt"
  cmp kernels-1.txt "kernels-$i.txt" || fail "process $i ran other kernels than the first"
done

# A program that starts programs: one folder for each that uses the GPU.
expect 0 "$LACUNA" exec --config tiny --out shared -- sh -c "'$PROGRAMS/vector_add' && '$PROGRAMS/lds'"
has_results shared
[[ $(find shared -name statistics.json | wc -l) == 2 ]] || fail "not two results: $(find shared)"
