// y[i] = max(x[i], 0) for i < count, an element for each work-item.
kernel void relu_scalar(global const float* x, global float* y, uint count) {
  const uint i = get_global_id(0);
  if (i < count) y[i] = fmax(x[i], 0.0f);
}
