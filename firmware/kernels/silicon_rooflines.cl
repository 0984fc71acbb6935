// Kernels of published rooflines and of a measurement of occupancy (tests/validation/silicon), as their sources describe them.

// Each workgroup reads the same data in every pass: 16 KiB, where pass n starts at element n, so that a wavefront's 256 bytes
// are rarely aligned; or 8 MiB.
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void roof_l1(global const float* data, global float* sums,
                                                                     uint passes) {
  const uint lane = get_local_id(0);
  float sum = 0;
  for (uint n = 0; n < passes; ++n) {
#pragma unroll
    for (uint i = 0; i < 4096; i += 256) sum += data[(lane + i + n) % 4096];
  }
  sums[lane] = sum;
}
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void roof_l2(global const float* data, global float* sums,
                                                                     uint passes) {
  const uint lane = get_local_id(0);
  float sum = 0;
  for (uint n = 0; n < passes; ++n) {
#pragma unroll 32
    for (uint i = 0; i < 2097152; i += 256) sum += data[lane + i];
  }
  sums[lane] = sum;
}

// A chain of byte loads from 64 bytes of LDS: each loaded value is the address of the next load.
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void roof_lds(global float* sums, uint loads) {
  local uchar next[64];
  const uint lane = get_local_id(0);
  if (lane < 64) next[lane] = (lane + 1) % 64;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint at = lane;
#pragma unroll 64
  for (uint n = 0; n < loads; ++n) at = next[at];
  sums[lane] = at;
}

// Workgroups that take the whole LDS; each wavefront executes 64 * `loops` instructions.
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void whole_lds(global uint* sums, uint loops) {
  local uint block[16384];
  const uint lane = get_local_id(0);
  block[lane] = lane;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint value = block[lane ^ 1];
  for (uint n = 0; n < loops; ++n) __asm__ volatile(".rept 64\nv_mov_b32 %0, %0\n.endr" : "+v"(value));
  if (value == 12345) sums[lane] = value;
}
