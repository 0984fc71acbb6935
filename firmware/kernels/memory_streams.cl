// Kernels that measure memory (tests/validation, bench/streams_bench.sh): streams of one double per work-item for the bandwidth
// of DRAM, and a chain of loads (chase) for the latencies of caches and DRAM.

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

// Never stores: no element is -1.
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void read(global const double* restrict a, global double* restrict c) {
  const size_t i = get_global_id(0);
  if (a[i] == -1) c[i] = 0;
}

// The kernel of the HBM roofline in AMD's rocm-amdgpu-bench, and of the vcopy test of ROCm Compute Profiler.
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void copy(global const double* restrict a, global double* restrict c) {
  const size_t i = get_global_id(0);
  c[i] = a[i];
}

// The triad of STREAM.
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void triad(global const double* restrict a,
                                                                   global const double* restrict b, global double* restrict c,
                                                                   double s) {
  const size_t i = get_global_id(0);
  c[i] = a[i] + s * b[i];
}

// One work-item follows a chain of byte offsets.
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void chase(global const char* table, global uint* last, uint first,
                                                                  uint hops) {
  if (get_local_id(0) != 0) return;
  uint offset;
  __asm__("v_mov_b32 %0, %1" : "=v"(offset) : "s"(first));  // moves the offset to a VGPR: otherwise the loads are scalar
#pragma unroll 1
  for (uint n = 0; n < hops; n += 8) {
#pragma unroll
    for (uint i = 0; i < 8; ++i) offset = *(global const uint*)(table + offset);
  }
  *last = offset;
}
