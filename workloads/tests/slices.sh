#!/usr/bin/env bash
# Tests --convergence host and --slices of the graph programs, and --sizes of spgemm.
source "$SOURCE/tests/rocm/common.sh"

# value NAME: the number NAME=... in the closing line
value() { sed -n "s/^result: .* $1=\([^ ]*\).*/\1/p" out.txt; }
# on CONFIG WORD...: runs a program without timing
on() {
  local config=$1
  shift
  on_gpu --quiet --config "$config" --set gpu.timing=functional --out results -- "$@"
}

# The host counts as many steps as the flag needs, and the results are right.
for program in "apsp leyzorek" "apsp bellman-ford" "aplp simt" "mcp leyzorek" "mst leyzorek" "gtc leyzorek"; do
  read -r name algorithm <<<"$program"
  on mi210-matrix "$name" --vertices 131 --algorithm "$algorithm" --check
  expect 0 "${command[@]}"
  steps=$(value iterations)
  [[ $(value whole) == 1 ]] || fail "$program: all steps are not the whole"
  on mi210-matrix "$name" --vertices 131 --algorithm "$algorithm" --check --convergence host
  expect 0 "${command[@]}"
  [[ $(value iterations) == "$steps" ]] || fail "$program: $(value iterations) steps instead of $steps"
done

# A part is one step over 64 of 131 vertices, or 3 of 9 rounds of 16 vertices.
on mi210-matrix apsp --vertices 131 --algorithm leyzorek --convergence host --slices 3
expect 0 "${command[@]}"
awk -v steps="$(value iterations)" -v whole="$(value whole)" 'BEGIN { exit !(whole / (steps * 131 / 64) < 1.001 && whole / (steps * 131 / 64) > 0.999) }' ||
  fail "a part of $(value iterations) steps is the whole divided by $(value whole)"
on r9nano mcp --vertices 131 --algorithm published --slices 3
expect 0 "${command[@]}"
[[ $(value whole) == 3 ]] || fail "3 of 9 rounds are the whole divided by $(value whole)"
on r9nano gtc --vertices 131 --slices 3
expect 0 "${command[@]}"
[[ $(value whole) == 3 ]] || fail "1 of 3 rounds is the whole divided by $(value whole)"
# Every fourth row of all products of sparse matrices, whose elements the host counts.
on r9nano gtc --vertices 131 --algorithm published --check
expect 0 "${command[@]}"
products=$(value iterations)
on r9nano gtc --vertices 131 --algorithm published --slices 4 --check
expect 0 "${command[@]}"
[[ $(value iterations) == "$products" ]] || fail "$(value iterations) products instead of $products"
awk -v whole="$(value whole)" 'BEGIN { exit !(whole / (131 / 33) < 1.001 && whole / (131 / 33) > 0.999) }' ||
  fail "33 of 131 rows are the whole divided by $(value whole)"

# Results that are not computed cannot be used.
on r9nano apsp --slices 2 --check
expect 2 "${command[@]}"
complains "apsp: error: --slices: results of a part are not computed, so --check has none"
on r9nano apsp --slices 2 --algorithm simt
expect 2 "${command[@]}"
complains "apsp: error: --slices: --convergence on depends on results; host counts the steps, off runs them all"
for program in "mst baseline" "mst published"; do
  read -r name algorithm <<<"$program"
  on r9nano "$name" --slices 2 --algorithm "$algorithm"
  expect 2 "${command[@]}"
  complains "$name: error: --slices: the work of --algorithm $algorithm depends on results, so it runs as a whole"
done

# --sizes allocates what a run reports; a buffer that does not fit is named.
on r9nano spgemm --preset small
expect 0 "${command[@]}"
memory=$(value memory_mb) entries=$(value entries)
on r9nano spgemm --preset small --sizes
expect 0 "${command[@]}"
[[ $(value memory_mb) == "$memory" && $(value entries) == "$entries" && $(value fits) == 1 ]] ||
  fail "$(value memory_mb) MB for $(value entries) elements instead of $memory for $entries"
on r9nano spgemm --m 4096 --n 4096 --k 4096 --density 0.1 --sizes
expect 0 "${command[@]}"
complains "spgemm: does not fit: the array of intermediate products takes"
[[ $(value fits) == 1 && $(value fits_with_products) == 0 ]] || fail "10 GB of products fit into 4 GiB"
on r9nano spgemm --preset small --sizes --check
expect 2 "${command[@]}"
complains "spgemm: error: --sizes: nothing is computed, so --check has no results"

# Kernels of a part do not branch on results, so workgroups may be skipped.
on_gpu --quiet --config "$SOURCE/workloads/tests/few_units.cfg" --set gpu.timing=sampled --set sampling.shortest=0cycles --results none --out results -- \
  mcp --vertices 512 --algorithm published --slices 8
expect 0 "${command[@]}"
[[ $(value whole) == 8 ]] || fail "4 of 32 rounds are the whole divided by $(value whole)"
grep -q 'results are not computed' results/log.txt || fail "nothing was skipped"
