// y[i] = max(x[i], 0) for i < count4, four elements per work-item.
kernel void relu(global const float4* x, global float4* y, uint count4) {
  const size_t i = get_global_id(0);
  if (i < count4) y[i] = fmax(x[i], (float4)(0.0f));
}
