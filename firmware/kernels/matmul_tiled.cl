// c = a * b for row-major a (m x k), b (k x n), c (m x n). One work-item per element of c, workgroups of TILE x TILE; the tiles
// of a and b pass through LDS. m, n and k must be multiples of TILE.
#define TILE 16

kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void matmul_tiled(global const float* a, global const float* b,
                                                                              global float* c, uint n, uint k) {
  local float tile_a[TILE][TILE];
  local float tile_b[TILE][TILE];
  const uint x = get_local_id(0);
  const uint y = get_local_id(1);
  const uint column = get_group_id(0) * TILE + x;
  const uint row = get_group_id(1) * TILE + y;
  float sum = 0.0f;
  for (uint start = 0; start < k; start += TILE) {
    tile_a[y][x] = a[row * k + start + x];
    tile_b[y][x] = b[(start + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint i = 0; i < TILE; ++i) sum = fma(tile_a[y][i], tile_b[i][x], sum);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}
