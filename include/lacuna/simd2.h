// SIMD2 for programs: matrix products with multiply and add, or with one of eight other pairs of operators. The interfaces are
//
//   HIP         lacuna/simd2/operators.h   the nine operators and their identities
//               lacuna/simd2/tiles.h       tiles in registers: matrix, fillmatrix, loadmatrix, mmo, storematrix
//               lacuna/simd2/multiply.h    matrices of any size: simd2_minplus(A, B, C, D, m, n, k) etc.
//               lacuna/simd2/sparse.h      a 2:4 sparse A
//   OpenCL C    lacuna/simd2/opencl.h      lacuna_simd2_mmo_minplus(a, b, c) etc.
//
// They require a gfx90a with `mfma.extensions = simd2` or `all`; on other GPUs the instructions are illegal.
#pragma once

#if defined(__OPENCL_C_VERSION__)
#include "lacuna/simd2/opencl.h"
#else
#include "lacuna/simd2/multiply.h"
#include "lacuna/simd2/operators.h"
#include "lacuna/simd2/sparse.h"
#include "lacuna/simd2/tiles.h"
#endif
