// Kernels for the disassembler test, with vector instructions of gfx90a that ordinary code does not use: packed halves and
// floats, dot products, matrix cores, indexed registers.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x16 __attribute__((ext_vector_type(16)));
typedef float f32x32 __attribute__((ext_vector_type(32)));
typedef int i32x4 __attribute__((ext_vector_type(4)));
typedef int i32x16 __attribute__((ext_vector_type(16)));
typedef double f64x4 __attribute__((ext_vector_type(4)));
typedef half f16x4 __attribute__((ext_vector_type(4)));
typedef half f16x2 __attribute__((ext_vector_type(2)));
typedef short i16x2 __attribute__((ext_vector_type(2)));
typedef short i16x4 __attribute__((ext_vector_type(4)));

kernel void packed_halves(global half2* out, global const half2* a, global const half2* b, half2 scale) {
  const size_t i = get_global_id(0);
  half2 x = a[i], y = b[i];
  half2 sum = fma(x, y, scale) + x * (half2)(0.5h, -2.0h) - y.yx;
  sum = fmax(fmin(sum, (half2)(1.0h)), -x);
  out[i] = sum * (half2)(x.y, y.x) + fabs(y);
}

kernel void packed_shorts(global short2* out, global const short2* a, global const short2* b, global const ushort2* c) {
  const size_t i = get_global_id(0);
  short2 x = a[i], y = b[i];
  ushort2 u = c[i];
  short2 r = x * y + (short2)(3, -3);
  r = max(min(r, y), x.yx) - (short2)(17);
  u = (u << (ushort2)(3)) + add_sat(u, (ushort2)(5)) - sub_sat(u, (ushort2)(60000, 7));
  out[i] = (r >> (short2)(2)) + as_short2(max(u, (ushort2)(9)) >> (ushort2)(1)) + add_sat(x, y);
}

kernel void packed_floats(global float2* out, global const float2* a, global const float2* b, float2 s) {
  const size_t i = get_global_id(0);
  float2 x = a[i], y = b[i];
  out[i] = fma(x, y, s) * (x + y) + fma(-x.yx, s.xx, y) * 0.5f;
}

kernel void scalar_halves(global half* out, global const half* a, global const ushort* b, global const short* c) {
  const size_t i = get_global_id(0);
  half x = a[i], y = a[i + 1];
  ushort u = b[i], v = b[i + 1];
  short s = c[i], t = c[i + 1];
  half r = fma(x, y, x) + sqrt(x) / y + fmax(fmin(x, y), 0.25h) + (half)u + (half)s;
  u = (ushort)(u * v + 7);
  s = (short)(s * t - max(min(s, t), (short)3));
  out[i] = r + (half)(ushort)(u >> 3) + (half)(short)(s << 1) + ldexp(x, s & 3) + rint(y);
}

kernel void mixed(global float* out, global half* half_out, global const half* a, global const float* b) {
  const size_t i = get_global_id(0);
  float x = fma((float)a[i], (float)a[i + 1], b[i]);
  out[i] = x;
  half_out[i] = (half)fma((float)a[i], b[i], (float)a[i + 2]);
}

kernel void dots(global float* out, global int* iout, global const f16x2* a, global const i16x2* b, global const int* c) {
  const size_t i = get_global_id(0);
  out[i] = __builtin_amdgcn_fdot2(a[i], a[i + 1], out[i], false);
  int r = __builtin_amdgcn_sdot2(b[i], b[i + 1], c[i], true);
  r = __builtin_amdgcn_sdot4(c[i], c[i + 1], r, false);
  r = __builtin_amdgcn_sdot8(c[i], c[i + 2], r, true);
  unsigned u = __builtin_amdgcn_udot4(c[i], c[i + 1], r, false);
  u = __builtin_amdgcn_udot8(c[i], c[i + 2], u, true);
  iout[i] = (int)__builtin_amdgcn_udot2(as_ushort2(c[i]), as_ushort2(c[i + 1]), u, false);
}

kernel void matrices(global f32x4* out, global f32x16* wide, global f32x32* widest, global i32x4* iout, global f64x4* dout,
                     global const f16x4* a, global const float* b, global const int* c, global const double* d,
                     global const i16x4* e) {
  const size_t i = get_global_id(0);
  f32x4 r = {0, 0, 0, 0};
  r = __builtin_amdgcn_mfma_f32_16x16x16f16(a[i], a[i + 64], r, 0, 0, 0);
  r = __builtin_amdgcn_mfma_f32_16x16x4f32(b[i], b[i + 64], r, 0, 0, 0);
  r = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(e[i], e[i + 64], r, 0, 0, 0);
  r = __builtin_amdgcn_mfma_f32_4x4x4f16(a[i], a[i + 1], r, 2, 1, 3);
  out[i] = r;
  wide[i] = __builtin_amdgcn_mfma_f32_32x32x8f16(a[i], a[i + 64], wide[i], 0, 0, 0);
  widest[i] = __builtin_amdgcn_mfma_f32_32x32x1f32(b[i], b[i + 64], widest[i], 1, 1, 2);
  iout[i] = __builtin_amdgcn_mfma_i32_16x16x16i8(c[i], c[i + 64], iout[i], 0, 0, 0);
  dout[i] = __builtin_amdgcn_mfma_f64_16x16x4f64(d[i], d[i + 64], dout[i], 0, 0, 0);
}

kernel void indexed(global int* out, global const int* a, int which) {
  const size_t i = get_global_id(0);
  int16 v = vload16(i, a);
  union {
    int16 all;
    int each[16];
  } u = {v};
  u.each[(which + 3) & 15] = (int)i;
  out[i] = u.each[which & 15] + u.each[(which * 7) & 15];
}

kernel void doubles(global double* out, global const double* a, global const int* b) {
  const size_t i = get_global_id(0);
  double x = a[i], y = a[i + 1];
  for (int k = 0; k < b[i]; ++k) x = fma(x, y, 0.5) + rint(x) * ldexp(y, k);
  out[i] = x / y + sqrt(y) + (double)b[i] + fmin(x, y);
}
