// Definitions used by random programs on every target, in addition to OpenCL C.
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

// Works around a bug of clang-15 at -O0: in a function whose stack is realigned, the saved frame pointer overwrites a variable.
// Kernels need no realignment, so functions with variables aligned to more than the stack's 16 bytes are inlined into the
// kernel.
#ifdef __OPTIMIZE__
#define WIDE
#define WIDE_NOINLINE __attribute__((noinline))
#define OVERLOAD static inline __attribute__((overloadable, unused))
#else
#define WIDE __attribute__((always_inline))
#define WIDE_NOINLINE __attribute__((always_inline))
#define OVERLOAD static inline __attribute__((overloadable, unused, always_inline))
#endif

// divisor(x): x, or another value where dividing by x could be undefined: for 0, and for -1 of signed types.
#define SCALAR_DIVISOR(T, MINUS_ONE) \
  OVERLOAD T divisor(T x) { return x == 0 || x == (T)(MINUS_ONE) ? (T)3 : x; }
#define VECTOR_DIVISOR(T, MINUS_ONE) \
  OVERLOAD T divisor(T x) { return (x == (T)(0)) || (x == (T)(MINUS_ONE)) ? (T)(3) : x; }
#define DIVISORS(T, MINUS_ONE)    \
  SCALAR_DIVISOR(T, MINUS_ONE)    \
  VECTOR_DIVISOR(T##2, MINUS_ONE) \
  VECTOR_DIVISOR(T##3, MINUS_ONE) \
  VECTOR_DIVISOR(T##4, MINUS_ONE) \
  VECTOR_DIVISOR(T##8, MINUS_ONE) \
  VECTOR_DIVISOR(T##16, MINUS_ONE)
DIVISORS(char, -1)
DIVISORS(short, -1)
DIVISORS(int, -1)
DIVISORS(long, -1)
DIVISORS(uchar, 0)
DIVISORS(ushort, 0)
DIVISORS(uint, 0)
DIVISORS(ulong, 0)

// canonical(x): one bit pattern for all NaNs. number(x): x, or zero for a NaN.
#define CHOOSE_NAN(T, BITS)                                       \
  OVERLOAD T canonical(T x) { return x != x ? as_##T(BITS) : x; } \
  OVERLOAD T number(T x) { return x != x ? (T)(0) : x; }
#define CHOOSE_NANS(T, U, BITS)  \
  CHOOSE_NAN(T, (U)(BITS))       \
  CHOOSE_NAN(T##2, (U##2)(BITS)) \
  CHOOSE_NAN(T##3, (U##3)(BITS)) \
  CHOOSE_NAN(T##4, (U##4)(BITS)) \
  CHOOSE_NAN(T##8, (U##8)(BITS)) \
  CHOOSE_NAN(T##16, (U##16)(BITS))
CHOOSE_NANS(float, uint, 0x7fc00000u)
CHOOSE_NANS(double, ulong, 0x7ff8000000000000ul)

// held(x): x, hidden from clang-16's optimisation of loads. clang-16 replaces the load of a vector of 32-bit integers of which
// one element is used by a load of that element. Where all lanes load the same vector this becomes a scalar load, although each
// lane selects its own element: all lanes receive the element of the first active lane.
#ifdef __AMDGCN__
#define IN_REGISTERS(x) __asm__("" : "+v"(x))
#else
#define IN_REGISTERS(x)
#endif
#define HOLD(T, KEEP)    \
  OVERLOAD T held(T x) { \
    KEEP;                \
    return x;            \
  }
#define HOLDS(T, KEEP) \
  HOLD(T##2, KEEP)     \
  HOLD(T##4, KEEP)     \
  HOLD(T##8, KEEP)     \
  HOLD(T##16, KEEP)
HOLDS(char, )
HOLDS(short, )
HOLDS(int, IN_REGISTERS(x))
HOLDS(long, )
HOLDS(uchar, )
HOLDS(ushort, )
HOLDS(uint, IN_REGISTERS(x))
HOLDS(ulong, )
HOLDS(float, )
HOLDS(double, )

// Computed in 32 bits, because clang-16 assumes in some programs that the lower half of a sum of 64-bit products is 0 or -1.
OVERLOAD int global_item(void) {
  return (int)get_global_id(0) +
         (int)get_global_size(0) * ((int)get_global_id(1) + (int)get_global_size(1) * (int)get_global_id(2));
}
OVERLOAD int local_item(void) {
  return (int)get_local_id(0) + (int)get_local_size(0) * ((int)get_local_id(1) + (int)get_local_size(1) * (int)get_local_id(2));
}
OVERLOAD int items_of_group(void) { return (int)get_local_size(0) * (int)get_local_size(1) * (int)get_local_size(2); }
OVERLOAD int group_number(void) {
  return (int)get_group_id(0) + (int)get_num_groups(0) * ((int)get_group_id(1) + (int)get_num_groups(1) * (int)get_group_id(2));
}

// Tiles of the matrix unit's extensions: codes of models/isa/matrix/matrix_extensions.h. The host's tiles are in
// host_builtins.h.
#ifdef __gfx90a__
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define HALVES_TILE(NAME, CBSZ, ABID, BLGP, T)                                                   \
  OVERLOAD float4 matrix_##NAME(T a, T b, float4 c) {                                            \
    return __builtin_amdgcn_mfma_f32_16x16x16f16(as_half4(a), as_half4(b), c, CBSZ, ABID, BLGP); \
  }
HALVES_TILE(mma, 7, 0, 0, uint2)
HALVES_TILE(minplus, 7, 1, 0, uint2)
HALVES_TILE(maxplus, 7, 2, 0, uint2)
HALVES_TILE(minmul, 7, 3, 0, uint2)
HALVES_TILE(maxmul, 7, 4, 0, uint2)
HALVES_TILE(minmax, 7, 5, 0, uint2)
HALVES_TILE(maxmin, 7, 6, 0, uint2)
HALVES_TILE(orand, 7, 7, 0, uint2)
HALVES_TILE(addnorm, 7, 8, 0, uint2)
HALVES_TILE(sparse_mma, 7, 0, 1, uint2)
HALVES_TILE(sparse_minplus, 7, 1, 1, uint2)
HALVES_TILE(sparse_maxplus, 7, 2, 1, uint2)
HALVES_TILE(sparse_minmul, 7, 3, 1, uint2)
HALVES_TILE(sparse_maxmul, 7, 4, 1, uint2)
HALVES_TILE(sparse_minmax, 7, 5, 1, uint2)
HALVES_TILE(sparse_maxmin, 7, 6, 1, uint2)
HALVES_TILE(sparse_orand, 7, 7, 1, uint2)
HALVES_TILE(tf32, 6, 0, 1, float2)
HALVES_TILE(fp32, 6, 0, 2, float2)
OVERLOAD float8 matrix_fp32c(float2 a, float2 b, float8 c) {
  return as_float8(__builtin_amdgcn_mfma_f64_16x16x4f64(as_double(a), as_double(b), as_double4(c), 6, 0, 3));
}
OVERLOAD double4 matrix_fp64(double a, double b, double4 c) { return __builtin_amdgcn_mfma_f64_16x16x4f64(a, b, c, 6, 0, 4); }
#endif
