// C = alpha A B + beta C in single precision, on vector ALUs, CDNA2's MFMA, M3XU's FP32, and by FP32 emulation with narrower
// formats.
#include "workloads/common/gemm_host.h"
#include "workloads/common/gemm_products.h"

TILED_KERNEL(sgemm_simt, float, tiled::Simt<float, 8, 4>)
TILED_KERNEL(sgemm_simt_64, float, tiled::Simt<float, 4, 4>)
TILED_MATRIX_KERNEL(sgemm_mfma, float, tiled::Mfma<float, 4, 4>)
TILED_MATRIX_KERNEL(sgemm_mfma_64, float, tiled::Mfma<float, 2, 2>)
TILED_MATRIX_KERNEL(sgemm_tf32x3, float, tiled::Tf32x3<4, 2>)
TILED_MATRIX_KERNEL(sgemm_tf32x3_64, float, tiled::Tf32x3<2, 2>)
TILED_MATRIX_KERNEL(sgemm_bf16x3, float, tiled::Bf16x3<4, 2>)
TILED_MATRIX_KERNEL(sgemm_bf16x3_64, float, tiled::Bf16x3<2, 2>)
TILED_MATRIX_KERNEL(sgemm_eehc, float, tiled::Eehc<4, 2>)
TILED_MATRIX_KERNEL(sgemm_eehc_64, float, tiled::Eehc<2, 2>)
TILED_MATRIX_KERNEL(sgemm_unsplit, float, tiled::Unsplit<4, 2>)
TILED_MATRIX_KERNEL(sgemm_unsplit_64, float, tiled::Unsplit<2, 2>)
TILED_MATRIX_KERNEL(sgemm_m3xu, float, tiled::M3xu<m3xu::fp32, 4, 4>)
TILED_MATRIX_KERNEL(sgemm_m3xu_64, float, tiled::M3xu<m3xu::fp32, 2, 2>)

int main(int argc, char** argv) {
  workload::Program program("sgemm", "Matrix product in single precision, on vector ALUs or matrix units",
                            "M3XU (thesis, section 2.6.2, Table 2.5): SGEMM of CUTLASS");
  return tiled::run_gemm<float>(program, argc, argv,
                                {{"simt", sgemm_simt, 128, 64, 0, 0},
                                 {"simt", sgemm_simt_64, 64, 64, 0, 0},
                                 {"mfma", sgemm_mfma, 128, 128, 0, 0},
                                 {"mfma", sgemm_mfma_64, 64, 64, 0, 0},
                                 {"tf32x3", sgemm_tf32x3, 128, 64, 3, tiled::kTf32x3Error},
                                 {"tf32x3", sgemm_tf32x3_64, 64, 64, 3, tiled::kTf32x3Error},
                                 {"bf16x3", sgemm_bf16x3, 128, 64, 6, tiled::kBf16x3Error},
                                 {"bf16x3", sgemm_bf16x3_64, 64, 64, 6, tiled::kBf16x3Error},
                                 {"eehc", sgemm_eehc, 128, 64, 3, tiled::kEehcError},
                                 {"eehc", sgemm_eehc_64, 64, 64, 3, tiled::kEehcError},
                                 {"unsplit", sgemm_unsplit, 128, 64, 3, tiled::kUnsplitError},
                                 {"unsplit", sgemm_unsplit_64, 64, 64, 3, tiled::kUnsplitError},
                                 {"m3xu", sgemm_m3xu, 128, 128, 0, 0},
                                 {"m3xu", sgemm_m3xu_64, 64, 64, 0, 0}});
}
