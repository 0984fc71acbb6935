#!/usr/bin/env bash
# matrix_header_errors.sh COMPILER: checks that wrong uses of lacuna/m3xu.h are compile-time errors that name the mistake.
source "$(dirname "$0")/common.sh"

compiler=$1
# compile TARGET CODE: compiles the code as the body of a kernel
compile() {
  printf '%s\n' '#include "lacuna/m3xu.h"' 'using namespace m3xu;' "__attribute__((global)) void kernel(float* x, double* y) { $2 }" >kernel.hip
  "$compiler" -x hip -std=c++17 --cuda-device-only -nogpuinc -nogpulib "--offload-arch=$1" -fsyntax-only -I "$SOURCE/include" \
    kernel.hip >out.txt 2>&1
}
# refused TARGET MESSAGE CODE: checks that the compiler rejects the code with the message.
refused() {
  if compile "$1" "$3"; then fail "compiled: $3"; fi
  grep -qF "$2" out.txt || { cat out.txt >&2; fail "no message '$2' for: $3"; }
}
fragments='fragment<matrixa, fp32> a; fragment<matrixb, fp32> b; fragment<accum, fp32> c; fragment<matrixa, tf32> ta; fragment<accum, fp64> dc;'
compile gfx90a "$fragments load(a, x, 16); load<column_major>(b, x, 16); fill(c, 0); mma(c, a, b, c); store(x, c, 16); load(dc, y, 16); (void)ta;" ||
  { cat out.txt >&2; fail "a right program is refused"; }
refused gfx90a 'a is a fragment of use matrixa, b one of use matrixb' "$fragments mma(c, b, a, c);"
refused gfx90a 'c and d are fragments of use accum' "$fragments mma(a, a, b, c);"
refused gfx90a 'all four fragments have the same format' "$fragments mma(c, ta, b, c);"
refused gfx90a 'all four fragments have the same format' "$fragments mma(dc, a, b, dc);"
refused gfx90a "elements in memory are not of the fragment's type" "$fragments load(a, y, 16);"
refused gfx90a "elements in memory are not of the accumulator's type" "$fragments store(y, c, 16);"
refused gfx90a 'only accumulators are stored' "$fragments store(x, a, 16);"
refused gfx803 'only gfx90a has matrix units' "$fragments mma(c, a, b, c);"
# Valid and invalid types of the arguments of gemm, complex numbers included.
complex_types='struct pair { float re, im; }; pair* wrong = nullptr; using two = float __attribute__((ext_vector_type(2))); two* right = nullptr;'
compile gfx90a "$complex_types gemm<fp32c>(right, right, right, right, 1, 1, 1, 1, 1, 1); gemm<fp64>(y, y, y, nullptr, 1, 1, 1, 1, 1, 1);" ||
  { cat out.txt >&2; fail "a right product is refused"; }
refused gfx90a "elements of A and B are not of the format's type" "$complex_types gemm<fp32c>(right, wrong, right, right, 1, 1, 1, 1, 1, 1);"
refused gfx90a "elements of C and D are not of the format's type" "gemm<fp32>(y, x, x, x, 1, 1, 1, 1, 1, 1);"
refused gfx90a "elements of C and D are not of the format's type" "gemm<fp32>(x, x, x, y, 1, 1, 1, 1, 1, 1);"
refused gfx803 'only gfx90a has matrix units' "gemm<fp32>(x, x, x, x, 1, 1, 1, 1, 1, 1);"
