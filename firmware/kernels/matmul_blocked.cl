// c = a * b, row-major, in blocks: a work-item computes 4 x 4 elements of c, and a workgroup of 8 x 8 work-items computes
// 32 x 32. The block of a passes through LDS; b is read directly. Rows consist of four-element vectors: n4 per row of b and c,
// k4 per row of a. All sizes are multiples of 32.
#define SIDE 8
#define ROWS 4

kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1))) void matmul_blocked(global const float4* a, global const float4* b,
                                                                                global float4* c, uint n4, uint k4) {
  local float4 block[SIDE * ROWS][SIDE];
  const uint x = get_local_id(0);
  const uint y = get_local_id(1);
  const uint column = get_global_id(0);
  const uint row = get_global_id(1) * ROWS;
  float4 sum[ROWS] = {0.0f, 0.0f, 0.0f, 0.0f};
  for (uint start = 0; start < k4; start += SIDE) {
#pragma unroll
    for (uint r = 0; r < ROWS; ++r) block[y * ROWS + r][x] = a[(row + r) * k4 + start + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < SIDE; ++i) {
      global const float4* const rows_of_b = b + (start + i) * 4 * n4 + column;
      const float4 b0 = rows_of_b[0];
      const float4 b1 = rows_of_b[n4];
      const float4 b2 = rows_of_b[2 * n4];
      const float4 b3 = rows_of_b[3 * n4];
#pragma unroll
      for (uint r = 0; r < ROWS; ++r) {
        const float4 value = block[y * ROWS + r][i];
        sum[r] = fma(value.xxxx, b0, sum[r]);
        sum[r] = fma(value.yyyy, b1, sum[r]);
        sum[r] = fma(value.zzzz, b2, sum[r]);
        sum[r] = fma(value.wwww, b3, sum[r]);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) c[(row + r) * n4 + column] = sum[r];
}
