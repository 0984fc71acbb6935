// Convolution of an image of integers with a mask of size x size floats, rounded to the nearest integer. The image has
// size - 1 more columns and rows than the result. There is a work-item for each element of the result.
kernel void convolution(global const uint* image, global const float* mask, global uint* result, uint width, uint height,
                        uint size) {
  const uint image_width = width + size - 1;
  const uint at = get_global_id(0);
  const uint x = at % image_width;
  const uint y = at / image_width;
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  for (uint j = 0; j < size; ++j) {
    for (uint i = 0; i < size; ++i) {
      sum = fma((float)image[(y + j) * image_width + x + i], mask[j * size + i], sum);
    }
  }
  result[y * width + x] = (uint)(sum + 0.5f);
}
