// C = alpha A B + beta C of complex numbers in single precision, by vector ALUs, CDNA2's MFMA, M3XU's FP32C, or four real
// products, each of which consists of three TF32 products. alpha and beta are real.
#include "workloads/common/gemm_host.h"
#include "workloads/common/gemm_products.h"

TILED_KERNEL(cgemm_simt, tiled::Complex, tiled::Simt<tiled::Complex, 4, 4>)
TILED_MATRIX_KERNEL(cgemm_mfma, tiled::Complex, tiled::Mfma<tiled::Complex, 2, 2>)
TILED_MATRIX_KERNEL(cgemm_gemm4, tiled::Complex, tiled::Gemm4<2, 2>)
TILED_MATRIX_KERNEL(cgemm_m3xu, tiled::Complex, tiled::M3xu<m3xu::fp32c, 2, 2>)

int main(int argc, char** argv) {
  workload::Program program("cgemm", "Complex matrix product in single precision, on vector ALUs or matrix units",
                            "M3XU (thesis, section 2.6.2, Table 2.5): CGEMM of CUTLASS");
  return tiled::run_gemm<tiled::Complex>(program, argc, argv,
                                         {{"simt", cgemm_simt, 64, 64, 0, 0},
                                          {"mfma", cgemm_mfma, 64, 64, 2, 0},
                                          {"gemm4", cgemm_gemm4, 64, 64, 6, tiled::kTf32x3Error},
                                          {"m3xu", cgemm_m3xu, 64, 64, 0, 0}});
}
