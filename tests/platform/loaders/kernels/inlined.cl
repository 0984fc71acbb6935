// Instructions of the kernel itself, of a function that is inlined through another function, and of a function whose
// instructions have no line. A call and its operands are on separate lines, so that each case has a different line.
static inline int quotient(int a, int b) { return a / b; }
static inline int outer(int a, int b) { return quotient(a, b); }
#line 0
static inline float root(float x) { return native_sqrt(x) * native_sin(x); }
#line 8
__kernel void inlined(__global int* data, __global float* roots) {
  const int i = get_global_id(0);
  data[i] = outer(  // line 10
      data[i], data[i + 64]);
  // clang-format off
  roots[i] =
      root(  // line 14
          roots[i]);
  // clang-format on
  data[i + 64] ^= data[i] * 77;
}
