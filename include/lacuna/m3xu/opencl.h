// The matrix units' instructions for OpenCL C. lacuna/m3xu.h lists the formats.
#pragma once

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

// Items of lane l, with i = l % 16 and g = l / 16, are those of m3xu::fragment. fp32c: A and B hold (re, im); items 2j and 2j+1
// of C and D hold re and im of D[4j+g][i].
static inline float4 lacuna_m3xu_mma_fp16(half4 a, half4 b, float4 c) {
  return __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);
}
static inline float4 lacuna_m3xu_mma_bf16(ushort4 a, ushort4 b, float4 c) {  // a bfloat16 is the upper half of a float
  return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(as_short4(a), as_short4(b), c, 0, 0, 0);
}
static inline float4 lacuna_m3xu_mma_tf32(float2 a, float2 b, float4 c) {
  return __builtin_amdgcn_mfma_f32_16x16x16f16(as_half4(a), as_half4(b), c, 6, 0, 1);
}
static inline float4 lacuna_m3xu_mma_fp32(float2 a, float2 b, float4 c) {
  return __builtin_amdgcn_mfma_f32_16x16x16f16(as_half4(a), as_half4(b), c, 6, 0, 2);
}
static inline float8 lacuna_m3xu_mma_fp32c(float2 a, float2 b, float8 c) {
  return as_float8(__builtin_amdgcn_mfma_f64_16x16x4f64(as_double(a), as_double(b), as_double4(c), 6, 0, 3));
}
static inline double4 lacuna_m3xu_mma_fp64(double a, double b, double4 c) {
  return __builtin_amdgcn_mfma_f64_16x16x4f64(a, b, c, 6, 0, 4);
}

#include "lacuna/m3xu/opencl_gemm.h"
