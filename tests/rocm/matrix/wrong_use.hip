// All uses in this file are wrong. The compiler's expected message precedes each use.
#include <lacuna/matrix.h>

using namespace simd2;

template <typename T>
using dense_a = matrix<matrixa, 16, 16, 16, T>;

__device__ dense_a<_Float16> a;
__device__ matrix<matrixb, 16, 16, 16, _Float16> b;
__device__ matrix<accum, 16, 16, 16, float> c;
__device__ matrix<accum, 16, 16, 16, float, col_major> c_columns;
__device__ matrix<matrixa_sparse, 16, 16, 16, _Float16> a_sparse;

// simd2::matrix: the unit's only shape is 16, 16, 16; larger matrices are tiled
__device__ void shape() { matrix<accum, 32, 32, 8, float>(); }
// simd2::matrix: elements of A and B are half (_Float16)
__device__ void element() { dense_a<float>(); }
// simd2::matrix: elements of an accumulator are float
__device__ void accumulator() { matrix<accum, 16, 16, 16, _Float16>(); }
// simd2::matrix: the use is one of matrixa, matrixa_sparse, matrixb and accum
__device__ void use() { matrix<row_major, 16, 16, 16, _Float16>(); }
// simd2::matrix: the layout is row_major or col_major
__device__ void layout() { matrix<matrixb, 16, 16, 16, _Float16, int>(); }
// simd2::loadmatrix: A and B are loaded from half (_Float16); simd2::to_half converts
__device__ void source(const float* from) { loadmatrix(a, from, 16); }
// simd2: accumulators are loaded from float and stored to float
__device__ void accumulator_source(const _Float16* from) { loadmatrix(c, from, 16); }
// simd2: lines of A and B begin at multiples of 8 bytes: the leading dimension is a multiple of 4
__device__ void alignment(const _Float16* from) { loadmatrix<50>(a, from); }
// simd2: columns of an accumulator begin at multiples of 16 bytes: the leading dimension is a multiple of 4
__device__ void column_alignment(float* to) { storematrix<19>(to, c_columns); }
// simd2: lines of a tile have 16 elements: the leading dimension is at least 16
__device__ void overlap(const _Float16* from) { loadmatrix<8>(b, from); }
// simd2::storematrix: only accumulators can be stored
__device__ void target(float* to) { storematrix(to, b, 16); }
// simd2::fillmatrix: a sparse A has no element in every place
__device__ void fill() { fillmatrix(a_sparse, 0); }
// simd2::mmo: the second operand, A, is a matrixa or a matrixa_sparse
__device__ void order() { mmo<minplus>(c, b, b, c); }
// simd2::mmo: the third operand, B, is a matrixb
__device__ void both_left() { mmo<minplus>(c, a, a, c); }
// simd2::mmo: the first and the fourth operand, D and C, are accumulators
__device__ void no_accumulator() { mmo<minplus>(b, a, b, c); }
// simd2::mmo: there is no such operator
__device__ void code() { mmo<static_cast<opcode>(9)>(c, a, b, c); }
// simd2::mmo: addnorm has no sparse form: an element that is not there has a distance
__device__ void sparse() { mmo<addnorm>(c, a_sparse, b, c); }
// simd2::multiply: a workgroup makes tiles of 64 x 64 or 128 x 128
__global__ void tile(dense_factors x) {
  multiply<minplus, 32>(
      x, 0, 0, [](unsigned, unsigned, auto& values) { values = 0.0f; }, [](unsigned, unsigned, auto) {});
}
// simd2: elements of A and B are half (_Float16); simd2::to_half converts
void high_level(float* x) { simd2_minplus(x, x, x, x, 1, 1, 1); }
