// The operator of a spectral-element solver for the Poisson equation, as Nekbone's and hipBone's "ax": on each hexahedral
// element, derivatives of the unknown along the three reference directions (small dense matrices), the element's geometric
// factors applied at each node, and the transposed derivatives of the result.
//
// A workgroup processes an element of NODES x NODES x NODES nodes, and a work-item processes the column of NODES nodes above
// its (i, j), which is kept in registers. A node's geometric factors are contiguous, so each work-item loads many dwords from
// separate lines.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define NODES 8
#define FACTORS 8  // factors of a node: six of the symmetric 3 x 3 matrix, and two of padding

kernel __attribute__((reqd_work_group_size(NODES, NODES, 1))) void spectral_element_ax(global const double* unknown,
                                                                                       global const double4* geometry,
                                                                                       global const double* derivative,
                                                                                       global double* result) {
  local double d[NODES][NODES];
  local double plane[NODES][NODES];
  local double along_r[NODES][NODES];
  local double along_s[NODES][NODES];
  const uint i = get_local_id(0);
  const uint j = get_local_id(1);
  const size_t first = get_group_id(0) * NODES * NODES * NODES + j * NODES + i;
  double column[NODES];
  double out[NODES];
  d[j][i] = derivative[j * NODES + i];
  for (uint k = 0; k < NODES; ++k) {
    column[k] = unknown[first + k * NODES * NODES];
    out[k] = 0.0;
  }
#pragma unroll
  for (uint k = 0; k < NODES; ++k) {
    const size_t node = first + k * NODES * NODES;
    const double4 low = geometry[node * 2];       // rr, rs, rt, ss
    const double4 high = geometry[node * 2 + 1];  // st, tt
    barrier(CLK_LOCAL_MEM_FENCE);
    plane[j][i] = column[k];
    double ut = 0.0;
#pragma unroll
    for (uint m = 0; m < NODES; ++m) ut = fma(d[k][m], column[m], ut);
    barrier(CLK_LOCAL_MEM_FENCE);
    double ur = 0.0;
    double us = 0.0;
#pragma unroll
    for (uint m = 0; m < NODES; ++m) {
      ur = fma(d[i][m], plane[j][m], ur);
      us = fma(d[j][m], plane[m][i], us);
    }
    along_r[j][i] = low.x * ur + low.y * us + low.z * ut;
    along_s[j][i] = low.y * ur + low.w * us + high.x * ut;
    const double wt = low.z * ur + high.x * us + high.y * ut;
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint m = 0; m < NODES; ++m) {
      out[k] = fma(d[m][i], along_r[j][m], out[k]);
      out[k] = fma(d[m][j], along_s[m][i], out[k]);
      out[m] = fma(d[k][m], wt, out[m]);
    }
  }
#pragma unroll
  for (uint k = 0; k < NODES; ++k) result[first + k * NODES * NODES] = out[k];
}

// One element of 4 x 4 x 4 nodes per work-item, entirely in registers: a load reads 16 bytes from each of 64 elements.
#define FEW 4

kernel void spectral_element_small(global const float4* unknown, global const float4* geometry, global const float* derivative,
                                   global float4* result, uint elements) {
  const size_t element = get_global_id(0);
  if (element >= elements) return;
  float u[FEW][FEW][FEW];
  float out[FEW][FEW][FEW];
  float d[FEW][FEW];
#pragma unroll
  for (uint m = 0; m < FEW * FEW; ++m) d[m / FEW][m % FEW] = derivative[m];
#pragma unroll
  for (uint k = 0; k < FEW; ++k) {
#pragma unroll
    for (uint j = 0; j < FEW; ++j) {
      const float4 row = unknown[(element * FEW + k) * FEW + j];
      u[k][j][0] = row.x;
      u[k][j][1] = row.y;
      u[k][j][2] = row.z;
      u[k][j][3] = row.w;
#pragma unroll
      for (uint i = 0; i < FEW; ++i) out[k][j][i] = 0.0f;
    }
  }
#pragma unroll
  for (uint k = 0; k < FEW; ++k) {
#pragma unroll
    for (uint j = 0; j < FEW; ++j) {
      const float4 g = geometry[(element * FEW + k) * FEW + j];  // factors of a row of an affine element: rr, ss, tt, weight
#pragma unroll
      for (uint i = 0; i < FEW; ++i) {
        float ur = 0.0f;
        float us = 0.0f;
        float ut = 0.0f;
#pragma unroll
        for (uint m = 0; m < FEW; ++m) {
          ur = fma(d[i][m], u[k][j][m], ur);
          us = fma(d[j][m], u[k][m][i], us);
          ut = fma(d[k][m], u[m][j][i], ut);
        }
        ur *= g.x * g.w;
        us *= g.y * g.w;
        ut *= g.z * g.w;
#pragma unroll
        for (uint m = 0; m < FEW; ++m) {
          out[k][j][m] = fma(d[i][m], ur, out[k][j][m]);
          out[k][m][i] = fma(d[j][m], us, out[k][m][i]);
          out[m][j][i] = fma(d[k][m], ut, out[m][j][i]);
        }
      }
    }
  }
#pragma unroll
  for (uint k = 0; k < FEW; ++k) {
#pragma unroll
    for (uint j = 0; j < FEW; ++j) {
      result[(element * FEW + k) * FEW + j] = (float4)(out[k][j][0], out[k][j][1], out[k][j][2], out[k][j][3]);
    }
  }
}
