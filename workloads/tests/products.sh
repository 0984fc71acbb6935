#!/usr/bin/env bash
# products.sh WORKLOAD SAME OTHERS OPTION...: the products of all listed implementations are correct with these options and large
# tiles. Implementations in the list SAME, which begins with simt, produce the same bits. OTHERS use narrower formats or sum in
# another order, or are `none`. m3xu is also run with timing and automatic tiles, and without the extension, where an error states
# what is missing.
source "$SOURCE/tests/rocm/common.sh"

program=$1 same=$2 others=$3
shift 3

# product IMPLEMENTATION SETTING OPTION...: sets `bits` to the hash of the product's result
product() {
  local implementation=$1 setting=$2
  shift 2
  on_gpu --quiet --config mi210 --set mfma.extensions=m3xu --set "$setting" --out results -- "$program" --preset small --check \
    --implementation "$implementation" "$@"
  expect 0 "${command[@]}"
  tail -n 1 out.txt | grep -q "^result: workload=$program gpu=gfx90a.* check=passed" || fail "no closing line that says so"
  bits=$(grep -o ' bits=[0-9]*' out.txt)
}

# Workloads with a choice of tiles also run with the large tile, which is not selected automatically at the tests' sizes.
tiles=()
expect 0 "$PROGRAMS/$program" --help
if grep -q -- --tile out.txt; then tiles=(--tile large); fi
expected=
for implementation in $same; do
  product "$implementation" gpu.timing=functional "${tiles[@]}" "$@"
  [[ -n $expected ]] || expected=$bits
  [[ $bits == "$expected" ]] || fail "$implementation has other bits than simt"
done
[[ $others != none ]] || others=
for implementation in $others; do
  product "$implementation" gpu.timing=functional "${tiles[@]}" "$@"
done
product m3xu gpu.timing=loose "$@"
[[ $bits == "$expected" ]] || fail "m3xu has other bits with small tiles or with timing"
on_gpu --quiet --config mi210 --set gpu.timing=functional --out results -- "$program" --preset small --implementation m3xu
if "${command[@]}" >out.txt 2>&1; then fail "m3xu without the extension"; fi
grep -q "needs mfma.extensions" out.txt || fail "nothing says that the extension is off"
