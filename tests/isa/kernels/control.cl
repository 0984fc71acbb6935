// Kernels for the disassembler test: divergence, loops, switches and calls.
__attribute__((noinline)) static int collatz(int n) {
  int steps = 0;
  while (n > 1 && steps < 1000) {
    n = (n & 1) != 0 ? 3 * n + 1 : n / 2;
    ++steps;
  }
  return steps;
}

__attribute__((noinline)) static float blend(float a, float b, int mode) {
  switch (mode) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a * b;
    case 3:
      return a / b;
    case 4:
      return fmin(a, b);
    case 7:
      return b;
    default:
      return a;
  }
}

kernel void branches(global const int* in, global int* out) {
  const int i = (int)get_global_id(0);
  int x = in[i];
  if (x > 10) {
    x = collatz(x);
  } else if (x < -5) {
    for (int k = 0; k < -x; ++k) {
      if ((k & 3) == 2) continue;
      if (k > 20) break;
      x += k;
    }
  }
  out[i] = x + collatz(i);
}

kernel void switches(global const float* a, global float* out, global const int* mode, int uniform_mode) {
  const int i = (int)get_global_id(0);
  out[i] = blend(a[i], a[i + 1], mode[i]) + blend(a[i], 2.0f, uniform_mode);
}

kernel void grid(global uint* out) {
  const size_t at =
      get_global_id(2) * get_global_size(1) * get_global_size(0) + get_global_id(1) * get_global_size(0) + get_global_id(0);
  out[at] = (uint)(get_group_id(1) + get_num_groups(0) * get_local_size(2) + get_work_dim());
}
