// Executes only multiply-adds, in eight independent chains, which keep the vector ALUs at their peak rate.
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void fma_peak(global float* out, uint rounds) {
  const float x = (float)get_local_id(0);
  float a = x, b = x + 1, c = x + 2, d = x + 3, e = x + 4, f = x + 5, g = x + 6, h = x + 7;
  for (uint i = 0; i < rounds; ++i) {
#pragma unroll
    for (uint k = 0; k < 16; ++k) {
      a = fma(a, x, a);
      b = fma(b, x, b);
      c = fma(c, x, c);
      d = fma(d, x, d);
      e = fma(e, x, e);
      f = fma(f, x, f);
      g = fma(g, x, g);
      h = fma(h, x, h);
    }
  }
  out[get_global_id(0)] = a + b + c + d + e + f + g + h;
}
