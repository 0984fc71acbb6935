// OpenCL C's built-in functions for the host, to the extent used by random programs, implemented from the definitions of the
// OpenCL C specification (sections 6.3 to 6.15 of version 3.0), independently of the device library.
#define LACUNA_HOST 1
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

#define BUILTIN static __attribute__((overloadable, unused))

// --- The machine, implemented by the program that loads this code.
enum { LOCAL_ID, LOCAL_SIZE, GROUP_ID, NUM_GROUPS, GLOBAL_ID, GLOBAL_SIZE };
extern ulong lacuna_work_item(uint what, uint dimension);
extern void lacuna_barrier(void);
/// Modes: 0 to nearest even, 1 toward zero, 2 up, 3 down.
extern double lacuna_round_to_float(double x, uint mode);
extern double lacuna_round_long(long x, uint mode, uint to_double);
extern double lacuna_round_ulong(ulong x, uint mode, uint to_double);
extern double lacuna_round_to_integer(double x, uint mode);

#define get_local_id(d) lacuna_work_item(LOCAL_ID, d)
#define get_local_size(d) lacuna_work_item(LOCAL_SIZE, d)
#define get_group_id(d) lacuna_work_item(GROUP_ID, d)
#define get_num_groups(d) lacuna_work_item(NUM_GROUPS, d)
#define get_global_id(d) lacuna_work_item(GLOBAL_ID, d)
#define get_global_size(d) lacuna_work_item(GLOBAL_SIZE, d)
#define barrier(flags) lacuna_barrier()

// --- From scalars to vectors
#define WIDEN1(F, R, A)                                                \
  BUILTIN R##2 F(A##2 a) { return (R##2)(F(a.s0), F(a.s1)); }          \
  BUILTIN R##3 F(A##3 a) { return (R##3)(F(a.s0), F(a.s1), F(a.s2)); } \
  BUILTIN R##4 F(A##4 a) { return (R##4)(F(a.lo), F(a.hi)); }          \
  BUILTIN R##8 F(A##8 a) { return (R##8)(F(a.lo), F(a.hi)); }          \
  BUILTIN R##16 F(A##16 a) { return (R##16)(F(a.lo), F(a.hi)); }
#define WIDEN2(F, R, A, B)                                                                       \
  BUILTIN R##2 F(A##2 a, B##2 b) { return (R##2)(F(a.s0, b.s0), F(a.s1, b.s1)); }                \
  BUILTIN R##3 F(A##3 a, B##3 b) { return (R##3)(F(a.s0, b.s0), F(a.s1, b.s1), F(a.s2, b.s2)); } \
  BUILTIN R##4 F(A##4 a, B##4 b) { return (R##4)(F(a.lo, b.lo), F(a.hi, b.hi)); }                \
  BUILTIN R##8 F(A##8 a, B##8 b) { return (R##8)(F(a.lo, b.lo), F(a.hi, b.hi)); }                \
  BUILTIN R##16 F(A##16 a, B##16 b) { return (R##16)(F(a.lo, b.lo), F(a.hi, b.hi)); }
#define WIDEN3(F, R, A, B, C)                                                                                              \
  BUILTIN R##2 F(A##2 a, B##2 b, C##2 c) { return (R##2)(F(a.s0, b.s0, c.s0), F(a.s1, b.s1, c.s1)); }                      \
  BUILTIN R##3 F(A##3 a, B##3 b, C##3 c) { return (R##3)(F(a.s0, b.s0, c.s0), F(a.s1, b.s1, c.s1), F(a.s2, b.s2, c.s2)); } \
  BUILTIN R##4 F(A##4 a, B##4 b, C##4 c) { return (R##4)(F(a.lo, b.lo, c.lo), F(a.hi, b.hi, c.hi)); }                      \
  BUILTIN R##8 F(A##8 a, B##8 b, C##8 c) { return (R##8)(F(a.lo, b.lo, c.lo), F(a.hi, b.hi, c.hi)); }                      \
  BUILTIN R##16 F(A##16 a, B##16 b, C##16 c) { return (R##16)(F(a.lo, b.lo, c.lo), F(a.hi, b.hi, c.hi)); }

// --- Integers. DO(T, S, U, BITS, LOW, HIGH): S and U are the signed and the unsigned type of T's size, LOW and HIGH the limits
// of T.
#define FOR_INTEGERS(DO)                           \
  DO(char, char, uchar, 8, CHAR_MIN, CHAR_MAX)     \
  DO(uchar, char, uchar, 8, 0, UCHAR_MAX)          \
  DO(short, short, ushort, 16, SHRT_MIN, SHRT_MAX) \
  DO(ushort, short, ushort, 16, 0, USHRT_MAX)      \
  DO(int, int, uint, 32, INT_MIN, INT_MAX)         \
  DO(uint, int, uint, 32, 0, UINT_MAX)             \
  DO(long, long, ulong, 64, LONG_MIN, LONG_MAX)    \
  DO(ulong, long, ulong, 64, 0, ULONG_MAX)

typedef __int128 wide_t;

#ifndef LACUNA_FAULT_HADD
#define LACUNA_FAULT_HADD 0
#endif

// __int128 holds every sum and difference of two 64 bit integers, and every product except those of two ulong values.
#define INTEGER_FUNCTIONS(T, S, U, BITS, LOW, HIGH)                                                                        \
  BUILTIN T lacuna_saturate_##T(wide_t x) { return x < (wide_t)(LOW) ? (T)(LOW) : x > (wide_t)(HIGH) ? (T)(HIGH) : (T)x; } \
  BUILTIN T add_sat(T a, T b) { return lacuna_saturate_##T((wide_t)a + b); }                                               \
  BUILTIN T sub_sat(T a, T b) { return lacuna_saturate_##T((wide_t)a - b); }                                               \
  BUILTIN T hadd(T a, T b) { return (T)(((wide_t)a + b + LACUNA_FAULT_HADD) >> 1); }                                       \
  BUILTIN T rhadd(T a, T b) { return (T)(((wide_t)a + b + 1) >> 1); }                                                      \
  BUILTIN T min(T a, T b) { return b < a ? b : a; }                                                                        \
  BUILTIN T max(T a, T b) { return a < b ? b : a; }                                                                        \
  BUILTIN T clamp(T x, T low, T high) { return min(max(x, low), high); }                                                   \
  BUILTIN U abs(T a) { return (U)((wide_t)a < 0 ? -(wide_t)a : (wide_t)a); }                                               \
  BUILTIN U abs_diff(T a, T b) { return (U)((wide_t)a > (wide_t)b ? (wide_t)a - b : (wide_t)b - a); }                      \
  BUILTIN T mul_hi(T a, T b) { return (T)(lacuna_product_##T(a, b) >> BITS); }                                             \
  BUILTIN T mad_hi(T a, T b, T c) { return (T)((U)mul_hi(a, b) + (U)c); }                                                  \
  BUILTIN T mad_sat(T a, T b, T c) { return lacuna_saturate_##T(lacuna_mad_##T(a, b, c)); }                                \
  BUILTIN T rotate(T a, T b) {                                                                                             \
    const uint by = (uint)b % BITS;                                                                                        \
    return by == 0 ? a : (T)((U)((U)a << by) | (U)((U)a >> (BITS - by)));                                                  \
  }                                                                                                                        \
  BUILTIN T popcount(T a) {                                                                                                \
    T n = 0;                                                                                                               \
    for (int i = 0; i < BITS; ++i) n += (T)(((U)a >> i) & 1);                                                              \
    return n;                                                                                                              \
  }                                                                                                                        \
  BUILTIN T clz(T a) {                                                                                                     \
    T n = 0;                                                                                                               \
    while (n < BITS && (((U)a >> (BITS - 1 - n)) & 1) == 0) ++n;                                                           \
    return n;                                                                                                              \
  }                                                                                                                        \
  BUILTIN T ctz(T a) {                                                                                                     \
    T n = 0;                                                                                                               \
    while (n < BITS && (((U)a >> n) & 1) == 0) ++n;                                                                        \
    return n;                                                                                                              \
  }                                                                                                                        \
  BUILTIN T bitselect(T a, T b, T c) { return (T)((a & ~c) | (b & c)); }                                                   \
  BUILTIN T select(T a, T b, S c) { return c ? b : a; }                                                                    \
  WIDEN2(add_sat, T, T, T)                                                                                                 \
  WIDEN2(sub_sat, T, T, T)                                                                                                 \
  WIDEN2(hadd, T, T, T)                                                                                                    \
  WIDEN2(rhadd, T, T, T)                                                                                                   \
  WIDEN2(min, T, T, T)                                                                                                     \
  WIDEN2(max, T, T, T)                                                                                                     \
  WIDEN3(clamp, T, T, T, T)                                                                                                \
  WIDEN1(abs, U, T)                                                                                                        \
  WIDEN2(abs_diff, U, T, T)                                                                                                \
  WIDEN2(mul_hi, T, T, T)                                                                                                  \
  WIDEN3(mad_hi, T, T, T, T)                                                                                               \
  WIDEN3(mad_sat, T, T, T, T)                                                                                              \
  WIDEN2(rotate, T, T, T)                                                                                                  \
  WIDEN1(popcount, T, T)                                                                                                   \
  WIDEN1(clz, T, T)                                                                                                        \
  WIDEN1(ctz, T, T)                                                                                                        \
  WIDEN3(bitselect, T, T, T, T)

// Products a * b, and sums a * b + c. A ulong product may exceed __int128: it is unsigned, and sums whose product exceeds ulong
// are replaced by 2^100, because mad_sat() saturates them anyway.
#define PRODUCTS(T)                                                     \
  BUILTIN wide_t lacuna_product_##T(T a, T b) { return (wide_t)a * b; } \
  BUILTIN wide_t lacuna_mad_##T(T a, T b, T c) { return (wide_t)a * b + c; }
PRODUCTS(char)
PRODUCTS(uchar)
PRODUCTS(short)
PRODUCTS(ushort)
PRODUCTS(int)
PRODUCTS(uint)
PRODUCTS(long)
BUILTIN unsigned __int128 lacuna_product_ulong(ulong a, ulong b) { return (unsigned __int128)a * b; }
BUILTIN wide_t lacuna_mad_ulong(ulong a, ulong b, ulong c) {
  const unsigned __int128 product = (unsigned __int128)a * b;
  return product > ULONG_MAX ? (wide_t)1 << 100 : (wide_t)product + c;
}
FOR_INTEGERS(INTEGER_FUNCTIONS)

// select() tests the sign bit of each element of a vector, but the whole value of a scalar.
#define VECTOR_SELECT(T, S)                                                     \
  BUILTIN T##2 select(T##2 a, T##2 b, S##2 c) { return c < (S##2)(0) ? b : a; } \
  BUILTIN T##3 select(T##3 a, T##3 b, S##3 c) { return c < (S##3)(0) ? b : a; } \
  BUILTIN T##4 select(T##4 a, T##4 b, S##4 c) { return c < (S##4)(0) ? b : a; } \
  BUILTIN T##8 select(T##8 a, T##8 b, S##8 c) { return c < (S##8)(0) ? b : a; } \
  BUILTIN T##16 select(T##16 a, T##16 b, S##16 c) { return c < (S##16)(0) ? b : a; }
#define INTEGER_SELECT(T, S, U, BITS, LOW, HIGH) VECTOR_SELECT(T, S)
FOR_INTEGERS(INTEGER_SELECT)
VECTOR_SELECT(float, int)
VECTOR_SELECT(double, long)
BUILTIN float select(float a, float b, int c) { return c ? b : a; }
BUILTIN double select(double a, double b, long c) { return c ? b : a; }

#define UPSAMPLE(R, H, L, BITS)                                                               \
  BUILTIN R upsample(H high, L low) { return (R)(((ulong)(long)high << BITS) | (ulong)low); } \
  WIDEN2(upsample, R, H, L)
UPSAMPLE(short, char, uchar, 8)
UPSAMPLE(ushort, uchar, uchar, 8)
UPSAMPLE(int, short, ushort, 16)
UPSAMPLE(uint, ushort, ushort, 16)
UPSAMPLE(long, int, uint, 32)
UPSAMPLE(ulong, uint, uint, 32)

BUILTIN int mul24(int a, int b) { return (int)((ulong)(long)a * (ulong)(long)b); }
BUILTIN uint mul24(uint a, uint b) { return (uint)((ulong)a * b); }
BUILTIN int mad24(int a, int b, int c) { return (int)((uint)mul24(a, b) + (uint)c); }
BUILTIN uint mad24(uint a, uint b, uint c) { return mul24(a, b) + c; }
WIDEN2(mul24, int, int, int)
WIDEN2(mul24, uint, uint, uint)
WIDEN3(mad24, int, int, int, int)
WIDEN3(mad24, uint, uint, uint, uint)

#define ANY_ALL(T)                                                     \
  BUILTIN int any(T##2 a) { return a.s0 < 0 || a.s1 < 0; }             \
  BUILTIN int any(T##3 a) { return a.s0 < 0 || a.s1 < 0 || a.s2 < 0; } \
  BUILTIN int any(T##4 a) { return any(a.lo) || any(a.hi); }           \
  BUILTIN int any(T##8 a) { return any(a.lo) || any(a.hi); }           \
  BUILTIN int any(T##16 a) { return any(a.lo) || any(a.hi); }          \
  BUILTIN int all(T##2 a) { return a.s0 < 0 && a.s1 < 0; }             \
  BUILTIN int all(T##3 a) { return a.s0 < 0 && a.s1 < 0 && a.s2 < 0; } \
  BUILTIN int all(T##4 a) { return all(a.lo) && all(a.hi); }           \
  BUILTIN int all(T##8 a) { return all(a.lo) && all(a.hi); }           \
  BUILTIN int all(T##16 a) { return all(a.lo) && all(a.hi); }
ANY_ALL(char)
ANY_ALL(short)
ANY_ALL(int)
ANY_ALL(long)

// --- Vectors in memory, and shuffles; elements of a shuffle's mask are taken modulo the number of elements.
#define SHUFFLE_WIDTH(T, U, N)                                              \
  BUILTIN T##N shuffle(T##N a, U##N mask) {                                 \
    T##N r;                                                                 \
    for (int i = 0; i < N; ++i) ((T*)&r)[i] = ((T*)&a)[((U*)&mask)[i] % N]; \
    return r;                                                               \
  }                                                                         \
  BUILTIN T##N shuffle2(T##N a, T##N b, U##N mask) {                        \
    T##N r;                                                                 \
    for (int i = 0; i < N; ++i) {                                           \
      const uint from = (uint)(((U*)&mask)[i] % (2 * N));                   \
      ((T*)&r)[i] = from < N ? ((T*)&a)[from] : ((T*)&b)[from - N];         \
    }                                                                       \
    return r;                                                               \
  }
#define VECTOR_MEMORY(T, U)                                                                                 \
  BUILTIN T##3 vload3(size_t n, const global T* p) { return (T##3)(p[3 * n], p[3 * n + 1], p[3 * n + 2]); } \
  BUILTIN void vstore3(T##3 v, size_t n, global T* p) {                                                     \
    p[3 * n] = v.s0;                                                                                        \
    p[3 * n + 1] = v.s1;                                                                                    \
    p[3 * n + 2] = v.s2;                                                                                    \
  }                                                                                                         \
  SHUFFLE_WIDTH(T, U, 2)                                                                                    \
  SHUFFLE_WIDTH(T, U, 4)                                                                                    \
  SHUFFLE_WIDTH(T, U, 8)                                                                                    \
  SHUFFLE_WIDTH(T, U, 16)
#define INTEGER_MEMORY(T, S, U, BITS, LOW, HIGH) VECTOR_MEMORY(T, U)
FOR_INTEGERS(INTEGER_MEMORY)
VECTOR_MEMORY(float, uint)
VECTOR_MEMORY(double, ulong)

// --- Floats. R: type of a comparison's result for scalars or vectors.
#define RELATION(F, T, R, TEST)                                    \
  BUILTIN int F(T a, T b) { return TEST; }                         \
  BUILTIN R lacuna_mask_##F(T a, T b) { return F(a, b) ? -1 : 0; } \
  WIDEN2(lacuna_mask_##F, R, T, T)                                 \
  RELATION_VECTORS(F, T, R)
#define RELATION_VECTORS(F, T, R)                                  \
  BUILTIN R##2 F(T##2 a, T##2 b) { return lacuna_mask_##F(a, b); } \
  BUILTIN R##3 F(T##3 a, T##3 b) { return lacuna_mask_##F(a, b); } \
  BUILTIN R##4 F(T##4 a, T##4 b) { return lacuna_mask_##F(a, b); } \
  BUILTIN R##8 F(T##8 a, T##8 b) { return lacuna_mask_##F(a, b); } \
  BUILTIN R##16 F(T##16 a, T##16 b) { return lacuna_mask_##F(a, b); }
#define CLASS(F, T, R, TEST)                               \
  BUILTIN int F(T a) { return TEST; }                      \
  BUILTIN R lacuna_mask_##F(T a) { return F(a) ? -1 : 0; } \
  WIDEN1(lacuna_mask_##F, R, T)                            \
  CLASS_VECTORS(F, T, R)
#define CLASS_VECTORS(F, T, R)                          \
  BUILTIN R##2 F(T##2 a) { return lacuna_mask_##F(a); } \
  BUILTIN R##3 F(T##3 a) { return lacuna_mask_##F(a); } \
  BUILTIN R##4 F(T##4 a) { return lacuna_mask_##F(a); } \
  BUILTIN R##8 F(T##8 a) { return lacuna_mask_##F(a); } \
  BUILTIN R##16 F(T##16 a) { return lacuna_mask_##F(a); }

#define FLOAT_FUNCTIONS(T, S, U, SUFFIX, SIGN, SMALLEST, INFINITE)                          \
  RELATION(isless, T, S, a < b)                                                             \
  RELATION(isgreaterequal, T, S, a >= b)                                                    \
  RELATION(islessgreater, T, S, a<b || a> b)                                                \
  RELATION(isunordered, T, S, a != a || b != b)                                             \
  CLASS(isnan, T, S, a != a)                                                                \
  CLASS(isinf, T, S, fabs(a) == INFINITE)                                                   \
  CLASS(isfinite, T, S, fabs(a) < INFINITE)                                                 \
  CLASS(isnormal, T, S, fabs(a) < INFINITE && fabs(a) >= SMALLEST)                          \
  CLASS(signbit, T, S, (as_##U(a) & SIGN) != 0)                                             \
  BUILTIN T fmin(T a, T b) { return a != a ? b : b != b ? a : b < a ? b : a; }              \
  BUILTIN T fmax(T a, T b) { return a != a ? b : b != b ? a : a < b ? b : a; }              \
  BUILTIN T fma(T a, T b, T c) { return __builtin_fma##SUFFIX(a, b, c); }                   \
  BUILTIN T sqrt(T a) { return __builtin_sqrt##SUFFIX(a); }                                 \
  BUILTIN T floor(T a) { return __builtin_floor##SUFFIX(a); }                               \
  BUILTIN T ceil(T a) { return __builtin_ceil##SUFFIX(a); }                                 \
  BUILTIN T trunc(T a) { return __builtin_trunc##SUFFIX(a); }                               \
  BUILTIN T rint(T a) { return __builtin_rint##SUFFIX(a); }                                 \
  BUILTIN T round(T a) { return __builtin_round##SUFFIX(a); }                               \
  BUILTIN T ldexp(T a, int n) { return __builtin_ldexp##SUFFIX(a, n); }                     \
  BUILTIN T copysign(T a, T b) { return as_##T((as_##U(a) & ~SIGN) | (as_##U(b) & SIGN)); } \
  WIDEN1(fabs, T, T)                                                                        \
  WIDEN2(fmin, T, T, T)                                                                     \
  WIDEN2(fmax, T, T, T)                                                                     \
  WIDEN3(fma, T, T, T, T)                                                                   \
  WIDEN1(sqrt, T, T)                                                                        \
  WIDEN1(floor, T, T)                                                                       \
  WIDEN1(ceil, T, T)                                                                        \
  WIDEN1(trunc, T, T)                                                                       \
  WIDEN1(rint, T, T)                                                                        \
  WIDEN1(round, T, T)                                                                       \
  WIDEN2(ldexp, T, T, int)                                                                  \
  WIDEN2(copysign, T, T, T)
BUILTIN float fabs(float a) { return as_float(as_uint(a) & 0x7fffffffu); }
BUILTIN double fabs(double a) { return as_double(as_ulong(a) & 0x7ffffffffffffffful); }
FLOAT_FUNCTIONS(float, int, uint, f, 0x80000000u, FLT_MIN, INFINITY)
FLOAT_FUNCTIONS(double, long, ulong, , 0x8000000000000000ul, DBL_MIN, (double)INFINITY)

// --- Conversions
#define CONVERT_INTEGER(TO, FROM)                                                   \
  BUILTIN TO convert_##TO(FROM a) { return (TO)a; }                                 \
  BUILTIN TO convert_##TO##_sat(FROM a) { return lacuna_saturate_##TO((wide_t)a); } \
  CONVERT_VECTORS(convert_##TO, , TO, FROM)                                         \
  CONVERT_VECTORS(convert_##TO, _sat, TO, FROM)
// The vector functions have the width in their names.
#define CONVERT_VECTORS(NAME, MODE, TO, FROM)                                                                      \
  BUILTIN TO##2 NAME##2##MODE(FROM##2 a) { return (TO##2)(NAME##MODE(a.s0), NAME##MODE(a.s1)); }                   \
  BUILTIN TO##3 NAME##3##MODE(FROM##3 a) { return (TO##3)(NAME##MODE(a.s0), NAME##MODE(a.s1), NAME##MODE(a.s2)); } \
  BUILTIN TO##4 NAME##4##MODE(FROM##4 a) { return (TO##4)(NAME##2##MODE(a.lo), NAME##2##MODE(a.hi)); }             \
  BUILTIN TO##8 NAME##8##MODE(FROM##8 a) { return (TO##8)(NAME##4##MODE(a.lo), NAME##4##MODE(a.hi)); }             \
  BUILTIN TO##16 NAME##16##MODE(FROM##16 a) { return (TO##16)(NAME##8##MODE(a.lo), NAME##8##MODE(a.hi)); }
// Rounds to an integer first; results beyond 64 bit integers saturate.
#define FROM_FLOAT_MODE(TO, FROM, MODE, NUMBER)                               \
  BUILTIN TO convert_##TO##_sat##MODE(FROM a) {                               \
    const double x = lacuna_round_to_integer((double)a, NUMBER);              \
    return x != x ? (TO)0                                                     \
                  : lacuna_saturate_##TO(x >= 0x1p+66    ? (wide_t)1 << 66    \
                                         : x <= -0x1p+66 ? -((wide_t)1 << 66) \
                                                         : (wide_t)x);        \
  }                                                                           \
  CONVERT_VECTORS(convert_##TO, _sat##MODE, TO, FROM)
#define TO_FLOAT_MODE(TO, FROM, MODE, NUMBER, IS_DOUBLE, FUNCTION)                     \
  BUILTIN TO convert_##TO##MODE(FROM a) { return (TO)FUNCTION(a, NUMBER, IS_DOUBLE); } \
  CONVERT_VECTORS(convert_##TO, MODE, TO, FROM)
#define lacuna_float_to_float(a, mode, to_double) ((to_double) ? (double)(a) : lacuna_round_to_float((double)(a), mode))
#define FROM_FLOAT(TO, FROM)         \
  FROM_FLOAT_MODE(TO, FROM, , 1)     \
  FROM_FLOAT_MODE(TO, FROM, _rte, 0) \
  FROM_FLOAT_MODE(TO, FROM, _rtz, 1) \
  FROM_FLOAT_MODE(TO, FROM, _rtp, 2) \
  FROM_FLOAT_MODE(TO, FROM, _rtn, 3)
#define TO_FLOAT(TO, FROM, IS_DOUBLE, FUNCTION)         \
  TO_FLOAT_MODE(TO, FROM, , 0, IS_DOUBLE, FUNCTION)     \
  TO_FLOAT_MODE(TO, FROM, _rte, 0, IS_DOUBLE, FUNCTION) \
  TO_FLOAT_MODE(TO, FROM, _rtz, 1, IS_DOUBLE, FUNCTION) \
  TO_FLOAT_MODE(TO, FROM, _rtp, 2, IS_DOUBLE, FUNCTION) \
  TO_FLOAT_MODE(TO, FROM, _rtn, 3, IS_DOUBLE, FUNCTION)
#define CONVERSIONS(T, S, U, BITS, LOW, HIGH) \
  CONVERT_INTEGER(T, char)                    \
  CONVERT_INTEGER(T, uchar)                   \
  CONVERT_INTEGER(T, short)                   \
  CONVERT_INTEGER(T, ushort)                  \
  CONVERT_INTEGER(T, int)                     \
  CONVERT_INTEGER(T, uint)                    \
  CONVERT_INTEGER(T, long)                    \
  CONVERT_INTEGER(T, ulong)                   \
  FROM_FLOAT(T, float)                        \
  FROM_FLOAT(T, double)
FOR_INTEGERS(CONVERSIONS)
#define CONVERSIONS_TO_FLOAT(T, IS_DOUBLE)             \
  TO_FLOAT(T, char, IS_DOUBLE, lacuna_round_long)      \
  TO_FLOAT(T, uchar, IS_DOUBLE, lacuna_round_long)     \
  TO_FLOAT(T, short, IS_DOUBLE, lacuna_round_long)     \
  TO_FLOAT(T, ushort, IS_DOUBLE, lacuna_round_long)    \
  TO_FLOAT(T, int, IS_DOUBLE, lacuna_round_long)       \
  TO_FLOAT(T, uint, IS_DOUBLE, lacuna_round_long)      \
  TO_FLOAT(T, long, IS_DOUBLE, lacuna_round_long)      \
  TO_FLOAT(T, ulong, IS_DOUBLE, lacuna_round_ulong)    \
  TO_FLOAT(T, float, IS_DOUBLE, lacuna_float_to_float) \
  TO_FLOAT(T, double, IS_DOUBLE, lacuna_float_to_float)
CONVERSIONS_TO_FLOAT(float, 0)
CONVERSIONS_TO_FLOAT(double, 1)

// --- Atomic operations: plain operations suffice, because work items run one after the other.
#define ATOMIC(F, T, SPACE, NEW)          \
  BUILTIN T F(volatile SPACE T* p, T x) { \
    const T old = *p;                     \
    *p = NEW;                             \
    return old;                           \
  }
#define ATOMIC_OF_SPACE(T, SPACE, PREFIX)           \
  ATOMIC(PREFIX##_or, T, SPACE, old | x)            \
  ATOMIC(PREFIX##_xor, T, SPACE, old ^ x)           \
  ATOMIC(PREFIX##_and, T, SPACE, old& x)            \
  ATOMIC(PREFIX##_min, T, SPACE, x < old ? x : old) \
  ATOMIC(PREFIX##_max, T, SPACE, x > old ? x : old)
#define ATOMIC_UNSIGNED(T, SPACE, PREFIX)                                       \
  ATOMIC(PREFIX##_add, T, SPACE, old + x)                                       \
  ATOMIC(PREFIX##_sub, T, SPACE, old - x)                                       \
  BUILTIN T PREFIX##_inc(volatile SPACE T* p) { return PREFIX##_add(p, (T)1); } \
  BUILTIN T PREFIX##_dec(volatile SPACE T* p) { return PREFIX##_sub(p, (T)1); } \
  BUILTIN T PREFIX##_cmpxchg(volatile SPACE T* p, T expected, T x) {            \
    const T old = *p;                                                           \
    if (old == expected) *p = x;                                                \
    return old;                                                                 \
  }
#define ATOMICS(SPACE)                 \
  ATOMIC_OF_SPACE(int, SPACE, atomic)  \
  ATOMIC_OF_SPACE(uint, SPACE, atomic) \
  ATOMIC_OF_SPACE(long, SPACE, atom)   \
  ATOMIC_OF_SPACE(ulong, SPACE, atom)  \
  ATOMIC_UNSIGNED(uint, SPACE, atomic) \
  ATOMIC_UNSIGNED(ulong, SPACE, atom)
ATOMICS(global)
ATOMICS(local)

// --- Tiles of the matrix unit, by their index in matrix_tiles() of matrix_tile.h.
extern void lacuna_matrix_tile(uint tile, private const void* a, private const void* b, private const void* c, private void* d);
#define MATRIX_TILE(TILE, NAME, AB, CD)        \
  BUILTIN CD matrix_##NAME(AB a, AB b, CD c) { \
    CD d;                                      \
    lacuna_matrix_tile(TILE, &a, &b, &c, &d);  \
    return d;                                  \
  }
MATRIX_TILE(0, mma, uint2, float4)
MATRIX_TILE(1, minplus, uint2, float4)
MATRIX_TILE(2, maxplus, uint2, float4)
MATRIX_TILE(3, minmul, uint2, float4)
MATRIX_TILE(4, maxmul, uint2, float4)
MATRIX_TILE(5, minmax, uint2, float4)
MATRIX_TILE(6, maxmin, uint2, float4)
MATRIX_TILE(7, orand, uint2, float4)
MATRIX_TILE(8, addnorm, uint2, float4)
MATRIX_TILE(9, sparse_mma, uint2, float4)
MATRIX_TILE(10, sparse_minplus, uint2, float4)
MATRIX_TILE(11, sparse_maxplus, uint2, float4)
MATRIX_TILE(12, sparse_minmul, uint2, float4)
MATRIX_TILE(13, sparse_maxmul, uint2, float4)
MATRIX_TILE(14, sparse_minmax, uint2, float4)
MATRIX_TILE(15, sparse_maxmin, uint2, float4)
MATRIX_TILE(16, sparse_orand, uint2, float4)
MATRIX_TILE(17, tf32, float2, float4)
MATRIX_TILE(18, fp32, float2, float4)
MATRIX_TILE(19, fp32c, float2, float8)
MATRIX_TILE(20, fp64, double, double4)
