// The nine operators of the SIMD2 matrix unit (Zhang, Tsai, Tseng, "SIMD2: A Generalized Matrix Instruction Set for
// Accelerating Tensor Computation beyond GEMM", ISCA 2022), for device and host: D = C (+) (A (x) B), where (+) sums over k
// and (x) multiplies elements:
//
//   operator  (+)  (x)          solves
//   mma        +    *           matrix product
//   minplus   min   +           all-pairs shortest paths
//   maxplus   max   +           critical paths
//   minmul    min   *           paths of least reliability
//   maxmul    max   *           paths of most reliability
//   minmax    min  max          minimum spanning tree
//   maxmin    max  min          paths of most capacity
//   orand     or   and          transitive closure
//   addnorm    +   (a - b)^2    squared distances
//
// A and B are half, which is _Float16, or __half in HIP; C and D are float. Products and sums are those of single precision.
// For the six operators with min or max in (+), a product that is NaN, or has a NaN factor, contributes nothing. orand treats
// nonzero values as true and returns 1 or 0.
#pragma once

#include <hip/hip_runtime.h>

#include <limits>
#include <type_traits>

// HIP's half, which has the bits of _Float16; declared here so that hip_fp16.h need not be included.
struct __half;

namespace simd2 {

/// The values are the unit's operation codes.
enum opcode : int { mma = 0, minplus = 1, maxplus = 2, minmul = 3, maxmul = 4, minmax = 5, maxmin = 6, orand = 7, addnorm = 8 };

constexpr bool takes_minimum(opcode op) { return op == minplus || op == minmul || op == minmax; }
constexpr bool takes_maximum(opcode op) { return op == maxplus || op == maxmul || op == maxmin; }

/// Initial value of an accumulator: the identity of (+).
__host__ __device__ constexpr float identity(opcode op) {
  return takes_minimum(op)   ? std::numeric_limits<float>::infinity()
         : takes_maximum(op) ? -std::numeric_limits<float>::infinity()
                             : 0.0f;
}
template <opcode op>
__host__ __device__ constexpr float identity() {
  return identity(op);
}

struct matrixa;
struct matrixb;

/// Padding of A and B along k: the product of the two paddings does not change the sum of other products, not even the sign of
/// a zero. For the operators with min or max in (+), the padding is NaN, which contributes nothing, regardless of the other
/// factor.
template <opcode op, typename Use>
__host__ __device__ constexpr _Float16 padding() {
  static_assert(std::is_same_v<Use, matrixa> || std::is_same_v<Use, matrixb>, "simd2::padding: the use is matrixa or matrixb");
  if constexpr (takes_minimum(op) || takes_maximum(op)) return static_cast<_Float16>(std::numeric_limits<float>::quiet_NaN());
  return static_cast<_Float16>(op == mma && std::is_same_v<Use, matrixb> ? -0.0f : 0.0f);
}

template <typename T>
inline constexpr bool is_half = std::is_same_v<std::remove_cv_t<T>, _Float16> || std::is_same_v<std::remove_cv_t<T>, __half>;

}  // namespace simd2
