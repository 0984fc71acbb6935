// Kernels for the disassembler test: integers of all widths, floats, doubles and halves, vectors, conversions, bit operations.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void integers(global const long* a, global const int* b, global uint* out, short s, uchar c) {
  const size_t i = get_global_id(0);
  const long x = a[i];
  const int y = b[i];
  uint r = (uint)(x * y) + (uint)(x >> 7) + popcount(y) + clz(y) + rotate((uint)y, 11u) + mul_hi((uint)y, 77u);
  r += (uint)(x / (y | 1)) + (uint)(y % 13) + abs_diff(y, (int)x) + hadd((uint)y, 9u) + mad24(y, 3, 5);
  r ^= (uint)(short)(s * (short)y) + (uint)(uchar)(c + (uchar)y) + (uint)bitselect(y, (int)x, 0x0f0f0f0f);
  out[i] = min(max(r, 3u), 0xfffffff0u);
}

kernel void floats(global const float4* a, global const double* b, global float* out, global double* out2) {
  const size_t i = get_global_id(0);
  const float4 v = a[i];
  const double d = b[i];
  float f = dot(v, v.wzyx) + sqrt(v.x) + fma(v.y, v.z, v.w) + native_exp(v.x) + native_sin(v.y) + rsqrt(v.z);
  f += v.x / v.y + floor(v.z) + fmod(v.w, 3.0f) + (isnan(v.x) ? 1.0f : -1.0f) + clamp(v.y, 0.0f, 1.0f);
  out[i] = f + convert_float_rte(d) + (float)convert_int_sat(v.x);
  out2[i] = d / (double)v.x + fma(d, d, 0.5) + sqrt(fabs(d)) + rint(d) + (double)as_long(d);
}

kernel void halves(global const half* a, global half* out) {
  const size_t i = get_global_id(0);
  const half h = a[i];
  out[i] = h * h + (half)2 - fmax(h, (half)0.25) + (half)(short)h;
}

kernel void bytes(global const uchar* a, global short* out, global char* narrow) {
  const size_t i = get_global_id(0);
  const uchar4 v = vload4(i, a);
  out[i] = (short)(v.x * v.y - v.z + v.w);
  narrow[i] = (char)(v.x >> 1) - (char)v.y;
}
