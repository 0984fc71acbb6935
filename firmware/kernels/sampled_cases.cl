// Kernels for tests of sampled timing (gpu.timing = sampled): one is steady; in the others, workgroups, phases or launches
// differ.

// Multiply-adds; after every 16 steps, a load of a line that no other wavefront loads at this step.
void work(__global float* x, uint steps) {
  const uint id = get_global_id(0);
  float sum = x[id];
  float factor = 1.0f + id;
  for (uint i = 0; i < steps; ++i) {
    sum += factor * sum;
    factor = 0.5f * factor + 0.25f;
    if (i % 16 == 15) sum += x[(id + i * 64) % get_global_size(0)] * 1e-9f;
  }
  x[id + get_global_size(0)] = sum;
}

__kernel void steady(__global float* x, uint steps) { work(x, steps); }

// The second half of the workgroups execute six times as many steps.
__kernel void two_halves(__global float* x, uint steps) {
  work(x, get_group_id(0) < get_num_groups(0) / 2 ? steps : 6 * steps);
}

// Every third workgroup executes eight times as many steps.
__kernel void bimodal(__global float* x, uint steps) { work(x, get_group_id(0) % 3 == 0 ? 8 * steps : steps); }

// The last workgroup executes forty times as many steps.
__kernel void slow_last(__global float* x, uint steps) {
  work(x, get_group_id(0) + 1 == get_num_groups(0) ? 40 * steps : steps);
}

// Each wavefront computes first, then streams through memory.
__kernel void two_phases(__global float* x, uint steps) {
  const uint id = get_global_id(0);
  const uint size = get_global_size(0);
  float sum = x[id];
  for (uint i = 0; i < 16 * steps; ++i) sum = 0.5f * sum + 0.25f;
  for (uint i = 0; i < steps; ++i) sum += x[(id + i * 8192) % (2 * size)];
  x[id] = sum;
}

// Sums of a buffer. Successive launches share cached data if they read the same buffer.
__kernel void sum_lines(__global const float* x, __global float* y, uint steps) {
  const uint id = get_global_id(0);
  float sum = 0;
  for (uint i = 0; i < steps; ++i) sum += x[id + i * get_global_size(0)];
  y[id] = sum;
}

// Counts in 64 bins, by atomic operations that return nothing.
__kernel void count_bins(__global const float* x, __global uint* bins, uint steps) {
  const uint id = get_global_id(0);
  for (uint i = 0; i < steps; ++i) atomic_inc(bins + (uint)(63.5f * x[(id + i * 64) % get_global_size(0)]) % 64);
}

// Workgroups race for 64 words: which value remains depends on the order of their stores.
__kernel void last_writer(__global const float* x, __global uint* race, uint steps) {
  const uint id = get_global_id(0);
  float sum = x[id % (get_global_size(0) / 4)];
  for (uint i = 0; i < steps; ++i) sum = 0.5f * sum + 0.25f;
  race[id % 64] = sum < 2 ? id : 0;
}

// Each workgroup waits for the previous one.
__kernel void chained(__global volatile uint* turn, __global float* x, uint steps) {
  const uint group = get_group_id(0);
  work(x, steps);
  if (get_local_id(0) == 0) {
    while (atomic_add(turn, 0) != group) {
    }
    atomic_inc(turn);
  }
}
