// Measures the number of misses that a cache can have in flight, and bandwidths (tests/validation/micro).

typedef uint uint4_t __attribute__((ext_vector_type(4)));

// cycles[n - 1]: cycles of n concurrent loads, each of a separate line, `distance` bytes apart, that misses in L1. Four
// instructions load these lines; surplus lanes load the last line again, which is one more request for that line. Everything is
// done twice, the first time to fill the caches and TLBs with code, translations and the lines.
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void misses(global const uint* table, global uint* cycles, uint most,
                                                                   uint distance) {
  const uint lane = get_local_id(0);
  // A descriptor of untyped memory (GCN3 ISA manual, buffer resource).
  const uint4_t memory = {(uint)(ulong)table, (uint)((ulong)table >> 32), 0xffffffffu, 0x00027000u};
  for (uint pass = 0; pass < 2; ++pass) {
    for (uint n = 1; n <= most; ++n) {
      uint a = min(lane, n - 1) * distance;
      uint b = min(lane + 64, n - 1) * distance;
      uint c = min(lane + 128, n - 1) * distance;
      uint d = min(lane + 192, n - 1) * distance;
      ulong begin, end;
      __asm__ volatile(
          "s_waitcnt vmcnt(0)\n"
          "buffer_wbinvl1\n"
          "s_waitcnt vmcnt(0)\n"
          "s_memtime %[begin]\n"
          "s_waitcnt lgkmcnt(0)\n"
          "buffer_load_dword %[a], %[a], %[memory], 0 offen\n"
          "buffer_load_dword %[b], %[b], %[memory], 0 offen\n"
          "buffer_load_dword %[c], %[c], %[memory], 0 offen\n"
          "buffer_load_dword %[d], %[d], %[memory], 0 offen\n"
          "s_waitcnt vmcnt(0)\n"
          "s_memtime %[end]\n"
          "s_waitcnt lgkmcnt(0)\n"
          : [begin] "=&s"(begin), [end] "=&s"(end), [a] "+v"(a), [b] "+v"(b), [c] "+v"(c), [d] "+v"(d)
          : [memory] "s"(memory)
          : "memory");
      if (lane == 0) cycles[n - 1] = (uint)(end - begin);
    }
  }
}

// Each work-item loads `loads` (a multiple of 8) vectors, `step` vectors apart, of `vectors` (a power of two), cyclically; a
// workgroup begins `group_step` vectors after the previous one. Never stores: no sum of non-negative numbers is -1.
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void stream(global const float4* data, global float4* sums,
                                                                    uint vectors, uint group_step, uint step, uint loads) {
  uint at = get_group_id(0) * group_step + get_local_id(0);
  float4 sum = 0;
  for (uint n = 0; n < loads; n += 8) {
    float4 values[8];
#pragma unroll
    for (uint i = 0; i < 8; ++i) values[i] = data[(at + i * step) & (vectors - 1)];
#pragma unroll
    for (uint i = 0; i < 8; ++i) sum += values[i];
    at += 8 * step;
  }
  if (sum.x == -1) sums[get_global_id(0)] = sum;
}
