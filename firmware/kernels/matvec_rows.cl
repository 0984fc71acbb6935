// y = a x, one work-item per row of the row-major n x n matrix: adjacent work-items are a row apart, and a wavefront reads
// along a column. The sums are kept in memory, as in direct translations of such loops.
kernel void matvec_rows(global const float* a, global const float* x, global float* y, uint n) {
  const uint i = get_global_id(0);
  if (i >= n) return;
  y[i] = 0.0f;
  for (uint j = 0; j < n; ++j) y[i] = fma(a[i * n + j], x[j], y[i]);
}
