// Kernels for the disassembler test: private arrays, LDS, constant memory, atomics of every kind, barriers, generic pointers.
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

constant int kTable[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};

kernel void private_array(global const int* in, global int* out, int n) {
  int stack[40];
  for (int k = 0; k < 40; ++k) stack[k] = in[k] * kTable[k & 15];
  int sum = 0;
  for (int k = 0; k < n; ++k) {
    stack[(k * 7) % 40] += sum;
    sum += stack[(k * 3 + n) % 40];
  }
  out[get_global_id(0)] = sum;
}

kernel void reduce(global const float* in, global float* out, local float* scratch) {
  const int l = (int)get_local_id(0);
  local int hits;
  if (l == 0) hits = 0;
  scratch[l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = (int)get_local_size(0) / 2; s > 0; s >>= 1) {
    if (l < s) scratch[l] += scratch[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  atomic_add(&hits, l);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) out[get_group_id(0)] = scratch[0] + (float)hits;
}

kernel void atomics(volatile global int* i, volatile global uint* u, volatile global long* w, local uint* shared) {
  const int x = (int)get_global_id(0);
  atomic_add(i, x);
  atomic_min(i + 1, x);
  atomic_max(u + 1, (uint)x);
  atomic_and(u + 2, (uint)x);
  u[3] = atomic_xchg(u + 4, (uint)x) + atomic_cmpxchg(u + 5, 3u, (uint)x) + atomic_inc(u + 6);
  atom_add(w, (long)x);
  w[2] = atom_cmpxchg(w + 1, 5L, (long)x);
  atomic_or(shared, (uint)x);
  barrier(CLK_LOCAL_MEM_FENCE);
  u[7] = atomic_xor(shared + 1, 1u) + atomic_dec(shared + 2);
}

kernel void generic_pointer(global int* g, local int* l, int which) {
  int p[4] = {1, 2, 3, 4};
  int* any = which == 0 ? (int*)g : which == 1 ? (int*)l : (int*)p;
  any[which & 3] += 7;
  g[get_global_id(0)] = any[1] + p[which & 3];
}
