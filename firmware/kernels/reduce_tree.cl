// partial[g] = sum of the 2 * WORKGROUP inputs of workgroup g, by a tree in LDS. The input has 2 * WORKGROUP elements for each
// workgroup.
#define WORKGROUP 256

kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1))) void reduce_tree(global const float* input,
                                                                               global float* partial) {
  local float sums[WORKGROUP];
  const uint item = get_local_id(0);
  const size_t first = get_group_id(0) * (2 * WORKGROUP) + item;
  sums[item] = input[first] + input[first + WORKGROUP];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint stride = WORKGROUP / 2; stride > 0; stride /= 2) {
    if (item < stride) sums[item] += sums[item + stride];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (item == 0) partial[get_group_id(0)] = sums[0];
}
