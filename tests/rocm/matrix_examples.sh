#!/usr/bin/env bash
# matrix_examples.sh: checks that the programs of docs/guide/matrix-unit.md can be built and run by the commands on the page.
source "$SOURCE/tests/rocm/common.sh"

examples_of guide/matrix-unit.md
block cpp 'SIMD2 in HIP' >ring.hip
block c 'SIMD2 in OpenCL C' >widest.cl
after_exec() { says "$(sed -n 's/^It prints `\(.*\)`.$/\1/p' "$page")"; }
run_examples 5 < <(block sh 'SIMD2 in HIP' && block sh 'SIMD2 in OpenCL C')
# Elements of both factors count from 1: A[i][k] = 32 i + k + 1, B[k][j] = 16 k + j + 1.
awk 'BEGIN {
  for (i = 0; i < 16; ++i) {
    for (j = 0; j < 16; ++j) {
      widest = 0
      for (k = 0; k < 32; ++k) {
        a = 32 * i + k + 1
        b = 16 * k + j + 1
        least = a < b ? a : b
        if (least > widest) widest = least
      }
      print widest
    }
  }
}' >expected.txt
od -An -v -tf4 -w4 d.bin | tr -d ' ' | diff expected.txt - >&2 || fail "the widest paths are others"
