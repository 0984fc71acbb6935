// lacuna_m3xu_gemm_*: OpenCL C versions of the kernels of m3xu.hip, with A row-major and B column-major, or vice versa.
#include "lacuna/m3xu.h"

#define PRODUCTS(format, Element, Sum)                                                                          \
  kernel void products_##format(global Sum* d, global Sum* e, const global Element* a, const global Element* b, \
                                const global Sum* c, uint m, uint n, uint k) {                                  \
    lacuna_m3xu_gemm_##format(lacuna_m3xu_row_major, lacuna_m3xu_column_major, d, a, b, c, m, n, k, k, k, n);   \
    lacuna_m3xu_gemm_##format(lacuna_m3xu_column_major, lacuna_m3xu_row_major, e, a, b, 0, m, n, k, m, n, n);   \
  }
PRODUCTS(fp16, half, float)
PRODUCTS(bf16, ushort, float)
PRODUCTS(tf32, float, float)
PRODUCTS(fp32, float, float)
PRODUCTS(fp32c, float2, float2)
PRODUCTS(fp64, double, double)
