// bins[v] += number of occurrences of byte value v in count4 uchar4 values. Each workgroup counts in LDS and adds its counts to
// the global bins once; work-items step through the input with a stride of the grid's size.
#define BINS 256
#define WORKGROUP 256

kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1))) void histogram(global const uchar4* input, global uint* bins,
                                                                             uint count4) {
  local uint counts[BINS];
  const uint item = get_local_id(0);
  counts[item] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < count4; i += get_global_size(0)) {
    const uchar4 values = input[i];
    atomic_inc(&counts[values.x]);
    atomic_inc(&counts[values.y]);
    atomic_inc(&counts[values.z]);
    atomic_inc(&counts[values.w]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (counts[item] != 0) atomic_add(&bins[item], counts[item]);
}
