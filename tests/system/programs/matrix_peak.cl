// Kernels that execute matrix instructions of one kind only, with four independent accumulators, which keep the matrix units at
// their peak rate.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define PEAK(NAME, CBSZ, ABID, BLGP)                                                                   \
  kernel __attribute__((reqd_work_group_size(256, 1, 1))) void NAME(global float4* out, uint rounds) { \
    const half4 x = (half4)(get_local_id(0));                                                          \
    float4 a = 0, b = 1, c = 2, d = 3;                                                                 \
    for (uint i = 0; i < rounds; ++i) {                                                                \
      a = __builtin_amdgcn_mfma_f32_16x16x16f16(x, x, a, CBSZ, ABID, BLGP);                            \
      b = __builtin_amdgcn_mfma_f32_16x16x16f16(x, x, b, CBSZ, ABID, BLGP);                            \
      c = __builtin_amdgcn_mfma_f32_16x16x16f16(x, x, c, CBSZ, ABID, BLGP);                            \
      d = __builtin_amdgcn_mfma_f32_16x16x16f16(x, x, d, CBSZ, ABID, BLGP);                            \
    }                                                                                                  \
    out[get_global_id(0)] = a + b + c + d;                                                             \
  }
// The codes are those of models/isa/matrix/matrix_extensions.cpp.
PEAK(peak_f16, 0, 0, 0)
PEAK(peak_tf32, 6, 0, 1)
PEAK(peak_fp32, 6, 0, 2)
PEAK(peak_minplus, 7, 1, 0)
PEAK(peak_minplus_sparse, 7, 1, 1)

// A vector instruction reads each result. The compiler inserts s_nop for a latency of 8 passes.
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void use_fp32(global float4* out, uint rounds) {
  const half4 x = (half4)(get_local_id(0));
  float4 a = 0;
  for (uint i = 0; i < rounds; ++i) a = __builtin_amdgcn_mfma_f32_16x16x16f16(x, x, a, 6, 0, 2) + 1.0f;
  out[get_global_id(0)] = a;
}
