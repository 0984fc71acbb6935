#!/usr/bin/env bash
# Checks that the examples of docs/guide/m3xu.md compile and run as written.
source "$(dirname "$0")/common.sh"

examples_of guide/m3xu.md
block cpp >product.hip
block c >product.cl
after_exec() { grep -qx '0 wrong' out.txt || fail "the HIP example is wrong"; }
run_examples 6 < <(block sh)
# Row r of A has the elements 16 r to 16 r + 15; each element of D is half of a row's sum: 128 r + 60.
for row in 0 15; do
  got=$(od -An -tf4 -j $((row * 64)) -N 4 d.bin | xargs)
  [[ $got == $((128 * row + 60)) ]] || fail "row $row is $got"
done
# D is 5 x 7 and k is 9: each element of row r is half of the sum of 9 r to 9 r + 8.
awk 'BEGIN { for (i = 0; i < 35; ++i) print (81 * int(i / 7) + 36) / 2 }' >expected.txt
od -An -v -tf4 -w4 e.bin | tr -d ' ' | diff expected.txt - >&2 || fail "the product of any size is wrong"
