// SIMD2 for kernels in OpenCL C 2.0 with cl_khr_fp16: tiles of 16 x 16 x 16 in the registers of a wavefront. All 64 lanes must
// be active in every call.
//
//   float4 c = lacuna_simd2_identity_minplus();
//   const half4 a = lacuna_simd2_load_a(source_a, lda), b = lacuna_simd2_load_b(source_b, ldb);
//   c = lacuna_simd2_mmo_minplus(a, b, c);
//   lacuna_simd2_store(target, c, ldd);
//
// With i = l % 16 and g = l / 16, lane l holds the elements A[i][4g ... 4g + 3] of A, B[4g ... 4g + 3][i] of B, and [4g ... 4g
// + 3][i] of C and D. Matrices are row-major with lines `ld` elements apart; lines of A begin at
// multiples of 8 bytes. lacuna_simd2_load_b_columns loads a column-major B, whose columns begin at multiples of 8 bytes. The
// operators: lacuna/simd2/operators.h.
#pragma once

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#if !defined(__gfx90a__)
#error "lacuna/simd2.h: the matrix unit's instructions are those of gfx90a: compile with -mcpu=gfx90a"
#endif

static inline uint lacuna_simd2_lane(void) { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }

static inline half4 lacuna_simd2_load_a(const __global half* source, uint ld) {
  const uint lane = lacuna_simd2_lane();
  return *(const __global half4*)(source + (size_t)(lane % 16) * ld + lane / 16 * 4);
}
static inline half4 lacuna_simd2_load_b(const __global half* source, uint ld) {
  const uint lane = lacuna_simd2_lane();
  const __global half* from = source + (size_t)(lane / 16 * 4) * ld + lane % 16;
  return (half4)(from[0], from[ld], from[2 * (size_t)ld], from[3 * (size_t)ld]);
}
static inline half4 lacuna_simd2_load_b_columns(const __global half* source, uint ld) {
  return lacuna_simd2_load_a(source, ld);
}
static inline float4 lacuna_simd2_load_c(const __global float* source, uint ld) {
  const uint lane = lacuna_simd2_lane();
  const __global float* from = source + (size_t)(lane / 16 * 4) * ld + lane % 16;
  return (float4)(from[0], from[ld], from[2 * (size_t)ld], from[3 * (size_t)ld]);
}
static inline void lacuna_simd2_store(__global float* target, float4 d, uint ld) {
  const uint lane = lacuna_simd2_lane();
  __global float* to = target + (size_t)(lane / 16 * 4) * ld + lane % 16;
  to[0] = d.x, to[ld] = d.y, to[2 * (size_t)ld] = d.z, to[3 * (size_t)ld] = d.w;
}

// lacuna_simd2_mmo_OPERATOR(a, b, c) returns c (+) (a (x) b). For ..._sparse, `a` is a 2:4 sparse A (lacuna/simd2/sparse.h):
// the two kept elements, followed by their positions in place of the other two. lacuna_simd2_identity_OPERATOR() is the initial
// value of c.
#define LACUNA_SIMD2_OPERATOR(name, code, identity)                          \
  static inline float4 lacuna_simd2_mmo_##name(half4 a, half4 b, float4 c) { \
    return __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 7, code, 0);       \
  }                                                                          \
  static inline float4 lacuna_simd2_identity_##name(void) { return (float4)(identity); }
#define LACUNA_SIMD2_SPARSE_OPERATOR(name, code, identity)                            \
  LACUNA_SIMD2_OPERATOR(name, code, identity)                                         \
  static inline float4 lacuna_simd2_mmo_##name##_sparse(half4 a, half4 b, float4 c) { \
    return __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 7, code, 1);                \
  }
LACUNA_SIMD2_SPARSE_OPERATOR(mma, 0, 0.0f)
LACUNA_SIMD2_SPARSE_OPERATOR(minplus, 1, INFINITY)
LACUNA_SIMD2_SPARSE_OPERATOR(maxplus, 2, -INFINITY)
LACUNA_SIMD2_SPARSE_OPERATOR(minmul, 3, INFINITY)
LACUNA_SIMD2_SPARSE_OPERATOR(maxmul, 4, -INFINITY)
LACUNA_SIMD2_SPARSE_OPERATOR(minmax, 5, INFINITY)
LACUNA_SIMD2_SPARSE_OPERATOR(maxmin, 6, -INFINITY)
LACUNA_SIMD2_SPARSE_OPERATOR(orand, 7, 0.0f)
LACUNA_SIMD2_OPERATOR(addnorm, 8, 0.0f)
#undef LACUNA_SIMD2_OPERATOR
#undef LACUNA_SIMD2_SPARSE_OPERATOR
