// A level of the fast Walsh-Hadamard transform in place: each work-item adds and subtracts two elements that are `step` apart.
// The compiler knows the workgroup's size, so that the kernel reads its arguments but not its packet.
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void walsh(global float* a, uint step) {
  const uint i = get_global_id(0);
  const uint low = i + i / step * step;
  const uint high = low + step;
  const float x = a[low];
  const float y = a[high];
  a[low] = x + y;
  a[high] = x - y;
}
