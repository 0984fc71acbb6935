// y = A x with A in compressed sparse rows: row r has the elements from row_start[r] to row_start[r + 1] - 1.

// One row per work-item. The work-items of a wavefront read elements of 64 rows concurrently, each from a separate cache line.
kernel void spmv_scalar(global const uint* row_start, global const uint* column, global const float* value,
                        global const float* x, global float* y, uint rows) {
  const uint row = get_global_id(0);
  if (row >= rows) return;
  float sum = 0.0f;
  for (uint i = row_start[row]; i < row_start[row + 1]; ++i) sum = fma(value[i], x[column[i]], sum);
  y[row] = sum;
}

// LANES work-items per row. They read adjacent elements; only their accesses to x are scattered.
#define LANES 32
#define BLOCK 256

kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1))) void spmv_vector(global const uint* row_start,
                                                                           global const uint* column, global const float* value,
                                                                           global const float* x, global float* y, uint rows) {
  local float partial[BLOCK];
  const uint item = get_local_id(0);
  const uint lane = item % LANES;
  const uint row = get_global_id(0) / LANES;
  float sum = 0.0f;
  if (row < rows) {
    for (uint i = row_start[row] + lane; i < row_start[row + 1]; i += LANES) sum = fma(value[i], x[column[i]], sum);
  }
  partial[item] = sum;
  for (uint distance = LANES / 2; distance > 0; distance /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < distance) partial[item] += partial[item + distance];
  }
  if (lane == 0 && row < rows) y[row] = partial[item];
}
