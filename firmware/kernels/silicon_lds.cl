// Kernels of published measurements of GPUs (tests/validation/silicon): loads from the LDS whose lanes meet in a bank.

// Some lanes of each wavefront read dwords of the LDS, `stride` dwords apart, 64 * `loops` times.
kernel __attribute__((reqd_work_group_size(1024, 1, 1))) void lds_lanes(global uint* sums, uint lanes, uint stride,
                                                                        uint loops) {
  local uint block[4096];
  for (uint i = get_local_id(0); i < 4096; i += 1024) block[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint lane = get_local_id(0) % 64;
  if (lane >= lanes) return;
  const uint address = (uint)(local char*)&block[lane * stride % 4096];
  uint value;
  for (uint n = 0; n < loops; ++n) {
    __asm__ volatile(".rept 64\nds_read_b32 %0, %1\n.endr\ns_waitcnt lgkmcnt(0)" : "=&v"(value) : "v"(address) : "memory");
  }
  if (value == 1) sums[0] = value;
}
