// Loops and statements of the paper's applications (Opportunistic Computing in GPU Architectures, ISCA '19, Table 3) in which
// the workloads' kernels of --form suite have fewer patterns than the table: each statement with every operand in memory, as in
// an unoptimised program. chain_inventory_test checks which chains the finalizer finds in them, and why the other loads are in
// none.
//
// unknown() hides that an index is the same in all lanes, so that its element is loaded by a vector load.

static uint unknown(uint index) {
  __asm__ volatile("" : "+v"(index));
  return index;
}

// FDTD-2D of PolyBench: each statement subtracts a scaled difference of two elements, or of two pairs, from an element.
kernel void fdtd_electric(global float* field, global const float* magnetic, uint columns) {
  const uint at = get_global_id(0) + columns;
  field[at] = field[at] - 0.5f * (magnetic[at] - magnetic[at - columns]);
}

kernel void fdtd_magnetic(global float* field, global const float* along_x, global const float* along_y, uint columns) {
  const uint at = get_global_id(0);
  field[at] = field[at] - 0.7f * (along_x[unknown(at + 1)] - along_x[at] + along_y[at + columns] - along_y[at]);
}

// Keeps elements of arrays in memory from one step of a loop to the next.
static void memory_changes(void) { __asm__ volatile("" ::: "memory"); }

// MVT of PolyBench: an element of x is loaded and stored for each product.
kernel void mvt_in_memory(global const float* matrix, global const float* y, global float* x, uint size) {
  const uint i = get_global_id(0);
  for (uint j = 0; j < size; ++j) {
    x[i] = x[i] + matrix[i * size + j] * y[unknown(j)];
    memory_changes();
  }
}

// STREAM cluster of Rodinia: the distance to a candidate, and the two sums to which a point adds the change of its cost.
kernel void stream_distance(global const float* coordinates, global float* distance, uint points, uint dimensions,
                            uint candidate) {
  const uint point = get_global_id(0);
  for (uint d = 0; d < dimensions; ++d) {
    const float difference = coordinates[d * points + point] - coordinates[unknown(d * points + candidate)];
    distance[point] = distance[point] + difference * difference;
    memory_changes();
  }
}

kernel void stream_gain(global const float* distance, global const float* weight, global const float* cost,
                        global float* gain) {
  const uint point = get_global_id(0);
  gain[point] = gain[point] + (distance[point] * weight[point] - cost[point]);
}

kernel void stream_saving(global const float* distance, global const float* weight, global const float* cost,
                          global const uint* centre, global float* saving) {
  const uint point = get_global_id(0);
  saving[centre[point]] = saving[centre[point]] + (cost[point] - distance[point] * weight[point]);
}

// SRAD of Rodinia: the image's values are converted to exponentials before the first step, and back after the last.
kernel void srad_extract(global float* image) {
  const uint i = get_global_id(0);
  image[i] = exp(image[i] / 255);
}

kernel void srad_compress(global float* image) {
  const uint i = get_global_id(0);
  image[i] = log(image[i]) * 255;
}
