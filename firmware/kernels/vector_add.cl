// c[i] = a[i] + b[i] for i < count. One work-item per element.
kernel void vector_add(global const float* a, global const float* b, global float* c, uint count) {
  const size_t i = get_global_id(0);
  if (i < count) c[i] = a[i] + b[i];
}
