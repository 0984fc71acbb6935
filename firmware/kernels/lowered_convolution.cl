// A lowered convolution in OpenCL C, described in its code object (docs/guide/duplo.md): 16 x 16 positions of 16 channels, 64
// filters of 3 x 3, a border of zeros.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#include "lacuna/duplo.h"

enum { SIDE = 16, CHANNELS = 16, FILTERS = 64, ROWS = SIDE * SIDE, COLUMNS = 9 * CHANNELS };

global half workspace[ROWS * COLUMNS];

// The loader relocates the workspace's address in the object.
LACUNA_DUPLO(convolve) = {.workspace = (ulong)workspace,
                          .pitch = COLUMNS,
                          .images = 1,
                          .height = SIDE,
                          .width = SIDE,
                          .channels = CHANNELS,
                          .filter_height = 3,
                          .filter_width = 3,
                          .stride_y = 1,
                          .stride_x = 1,
                          .padding_top = 1,
                          .padding_left = 1,
                          .padding_bottom = 1,
                          .padding_right = 1};

// The element of the input at a position of the workspace. Columns are (filter row, filter column, channel).
half element(global const half* x, int row, int column) {
  const int v = row / SIDE + column / (3 * CHANNELS) - 1, h = row % SIDE + column / CHANNELS % 3 - 1;
  const bool inside = v >= 0 && v < SIDE && h >= 0 && h < SIDE;
  return inside ? x[(v * SIDE + h) * CHANNELS + column % CHANNELS] : (half)0;
}

// One work-item per value.
kernel void to_half(global const short* from, global half* to) { to[get_global_id(0)] = from[get_global_id(0)]; }

// One work-item per element of the workspace.
kernel void lower(global const half* x) {
  const int at = get_global_id(0);
  workspace[at] = element(x, at / COLUMNS, at % COLUMNS);
}

// 256 work-items process 16 rows of the workspace; each of the four wavefronts applies 16 filters. Lane l of a wavefront
// processes row l % 16.
kernel void convolve(global const half* weights, global float* y) {
  const int lane = get_local_id(0) % 64, row = 16 * get_group_id(0), filter = get_local_id(0) / 64 * 16;
  float4 sums = 0;
  for (int k = 0; k < COLUMNS; k += 16) {
    const int at = lane % 16 * COLUMNS + k + lane / 16 * 4;
    const half4 a = *(global const half4*)(workspace + row * COLUMNS + at);
    const half4 b = *(global const half4*)(weights + filter * COLUMNS + at);
    sums = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, sums, 0, 0, 0);
  }
  for (int r = 0; r < 4; ++r) y[(row + lane / 16 * 4 + r) * FILTERS + filter + lane % 16] = sums[r];
}

// The convolution of convolve(), computed directly from its definition. One work-item per result.
kernel void direct(global const half* x, global const half* weights, global float* y) {
  const int row = get_global_id(0) / FILTERS, filter = get_global_id(0) % FILTERS;
  float sum = 0;
  for (int k = 0; k < COLUMNS; ++k) sum += (float)element(x, row, k) * (float)weights[filter * COLUMNS + k];
  y[get_global_id(0)] = sum;
}
