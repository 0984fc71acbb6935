// M3XU: matrix products on the matrix units of gfx90a in more formats than CDNA2 has, for HIP and OpenCL C kernels that stock
// clang compiles. Except for fp16 and bf16, needs `mfma.extensions = m3xu` or `all`; otherwise the instructions are illegal.
// docs/guide/m3xu.md has examples.
//
//   format  elements of A and B       of C and D  a product is   passes  arithmetic
//   fp16    _Float16                  float       16 x 16 x 16    8      CDNA2's own: v_mfma_f32_16x16x16f16
//   bf16    m3xu::bfloat16            float       16 x 16 x 16    8      CDNA2's own: v_mfma_f32_16x16x16bf16_1k
//   tf32    float, low 13 bits unread float       16 x 16 x 8     8      chain of fused multiply-adds in f32 over ascending k
//   fp32    float                     float       16 x 16 x 8    16      likewise: bit-identical to fmaf()
//   fp32c   m3xu::complex             complex     16 x 16 x 4    32      per k: re += ar br, re -= ai bi, im += ar bi,
//                                                                        im += ai br, each a fused multiply-add
//   fp64    double                    double      16 x 16 x 4    32      chain of fused multiply-adds in f64
//
// A fragment is the A, B, C or D of such a product, spread over the 64 lanes of a wavefront, all of which must be active. Each
// lane holds `size` items; `row(t)` and `column(t)` return the position in the matrix of this lane's item t.
//
//   HIP         lacuna/m3xu/fragments.h   matrices in registers: load, fill, mma, store
//               lacuna/m3xu/gemm.h        D = A B + C of any size, in a kernel
//               lacuna/m3xu/tiled.h       tiled products by a workgroup, for kernels with custom operands or results
//   OpenCL C    lacuna/m3xu/opencl.h      lacuna_m3xu_mma_fp32(a, b, c) etc.
//               lacuna/m3xu/opencl_gemm.h lacuna_m3xu_gemm_fp32(...) etc.: D = A B + C of any size
#pragma once

#if defined(__OPENCL_C_VERSION__)
#include "lacuna/m3xu/opencl.h"
#elif defined(__HIP__)
#include "lacuna/m3xu/fragments.h"
#include "lacuna/m3xu/gemm.h"
#undef LACUNA_M3XU_DEVICE
#undef LACUNA_M3XU_MEMBER
#undef LACUNA_M3XU_REFUSE
#else
#error "lacuna/m3xu.h is for HIP and OpenCL C"
#endif
