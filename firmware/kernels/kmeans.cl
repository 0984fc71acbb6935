// K-means clustering (Lloyd): the host computes the centres, and the GPU finds the nearest centre of each point.

// point[i][f] becomes column[f][i], so that neighbouring work-items read neighbouring elements.
kernel void kmeans_transpose(global const float* point, global float* column, uint points, uint features) {
  const uint i = get_global_id(0);
  if (i >= points) return;
  for (uint f = 0; f < features; ++f) column[f * points + i] = point[i * features + f];
}

kernel void kmeans_assign(global const float* column, global const float* centre, global int* nearest, uint points,
                          uint clusters, uint features) {
  const uint i = get_global_id(0);
  if (i >= points) return;
  float shortest = INFINITY;
  int best = 0;
  for (uint c = 0; c < clusters; ++c) {
    float distance = 0.0f;
    for (uint f = 0; f < features; ++f) {
      const float difference = column[f * points + i] - centre[c * features + f];
      distance = fma(difference, difference, distance);
    }
    if (distance < shortest) {
      shortest = distance;
      best = (int)c;
    }
  }
  nearest[i] = best;
}
