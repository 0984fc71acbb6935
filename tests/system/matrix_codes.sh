#!/usr/bin/env bash
# Tests instructions of matrix extensions in code from an unmodified compiler: their listings, and which devices execute them.
source "$(dirname "$0")/common.sh"

cat >codes.cl <<'EOF'
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef half half4_t __attribute__((ext_vector_type(4)));
typedef float float4_t __attribute__((ext_vector_type(4)));
// D[4g + r][i] = min(C, A[i][k] + B[k][i]) of A = 1, B = lane / 16.
kernel void shortest(global float* d) {
  const int lane = (int)__builtin_amdgcn_workitem_id_x();
  const half4_t a = (half4_t)(1.0h);
  const half4_t b = (half4_t)((half)(lane / 16 + 1));
  const float4_t c = (float4_t)(100.0f);
  const float4_t least = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 7, 1, 0);
  for (int r = 0; r < 4; ++r) d[4 * lane + r] = least[r];
}
kernel void undefined_code(global float* d) {
  const half4_t a = (half4_t)(1.0h);
  const float4_t c = (float4_t)(0.0f);
  d[__builtin_amdgcn_workitem_id_x()] = __builtin_amdgcn_mfma_f32_16x16x16f16(a, a, c, 7, 15, 0)[0];
}
EOF
clang-16 -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -O2 -c codes.cl -o codes.o
ld.lld-16 -shared codes.o -o codes.co

expect 0 "$LACUNA" disasm codes.co
grep -qE "cbsz:7 abid:1 *// .* simd2[.]minplus$" out.txt || fail "the listing does not name the code"
expect 0 "$LACUNA" isa check codes.co
says "simd2.minplus 1"
says "runs with --set mfma.extensions=simd2 alone"
expect 0 "$LACUNA" isa check --json codes.co
says '"mfma_extensions": "simd2"'
says '"mfma_extensions": "none"'

# Without the extension the kernel is refused before it starts; with the extension, the kernel runs.
for extensions in none m3xu; do
  expect 1 "$LACUNA" launch codes.co -k shortest --grid 64 -a out:1024:d.bin --config mi210 --set mfma.extensions=$extensions --out refused
  complains "kernel shortest cannot run: PC 0x"
  complains "simd2.minplus needs mfma.extensions = simd2 (or all)"
done
for extensions in simd2 all; do
  expect 0 "$LACUNA" launch codes.co -k shortest --grid 64 -a out:1024:d.bin --config mi210 --set mfma.extensions=$extensions --out ran
  [[ $(od -An -v -tf4 -w4 d.bin | sort -u | tr -d ' ') == 2 ]] || fail "the least sum is not 2: $(od -An -tf4 d.bin | head -n 1)"
done
expect 1 "$LACUNA" launch codes.co -k undefined_code --grid 64 -a out:256:d.bin --config mi210 --set mfma.extensions=all --out undefined
grep -qE "PC 0x[0-9a-f]+ .* \(v_mfma_f32_16x16x16f16 .*cbsz:7 abid:15\)" err.txt || fail "the fault does not name the instruction"

# Refuses the extensions on a device without matrix units, and unknown names of extensions.
expect 2 "$LACUNA" launch codes.co -k shortest --grid 64 -a out:1024:d.bin --config r9nano --set mfma.extensions=all
complains "mfma.extensions: gpu.target = gfx803 has no matrix units"
expect 2 "$LACUNA" launch codes.co -k shortest --grid 64 -a out:1024:d.bin --config mi210 --set mfma.extensions=simd
complains "simd2"
