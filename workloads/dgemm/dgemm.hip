// C = alpha A B + beta C in double precision, by vector ALUs, CDNA2's MFMA and M3XU's FP64.
#include "workloads/common/gemm_host.h"
#include "workloads/common/gemm_products.h"
#include "workloads/dgemm/interleaved.h"

TILED_KERNEL(dgemm_simt, double, tiled::Simt<double, 8, 8>)
TILED_KERNEL(dgemm_simt_64, double, tiled::Simt<double, 4, 4>)
INTERLEAVED_MATRIX_KERNEL(dgemm_mfma_128, tiled::MfmaWay<double>)
TILED_MATRIX_KERNEL(dgemm_mfma, double, tiled::Mfma<double, 4, 2>)
TILED_MATRIX_KERNEL(dgemm_mfma_64, double, tiled::Mfma<double, 2, 2>)
INTERLEAVED_MATRIX_KERNEL(dgemm_m3xu_128, tiled::M3xuWay<m3xu::fp64>)
TILED_MATRIX_KERNEL(dgemm_m3xu, double, tiled::M3xu<m3xu::fp64, 4, 2>)
TILED_MATRIX_KERNEL(dgemm_m3xu_64, double, tiled::M3xu<m3xu::fp64, 2, 2>)

int main(int argc, char** argv) {
  workload::Program program("dgemm", "Matrix product in double precision, on vector ALUs or matrix units",
                            "M3XU (thesis, section 2.6.4): FP64 GEMM");
  return tiled::run_gemm<double>(program, argc, argv,
                                 {{"simt", dgemm_simt, 128, 128, 0, 0},
                                  {"simt", dgemm_simt_64, 64, 64, 0, 0},
                                  {"mfma", dgemm_mfma_128, 128, 128, 0, 0},
                                  {"mfma", dgemm_mfma, 128, 64, 0, 0},
                                  {"mfma", dgemm_mfma_64, 64, 64, 0, 0},
                                  {"m3xu", dgemm_m3xu_128, 128, 128, 0, 0},
                                  {"m3xu", dgemm_m3xu, 128, 64, 0, 0},
                                  {"m3xu", dgemm_m3xu_64, 64, 64, 0, 0}});
}
