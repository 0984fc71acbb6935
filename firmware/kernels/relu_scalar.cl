// y[i] = max(x[i], 0) for i < count, one element per work-item.
kernel void relu_scalar(global const float* x, global float* y, uint count) {
  const uint i = get_global_id(0);
  if (i < count) y[i] = fmax(x[i], 0.0f);
}
