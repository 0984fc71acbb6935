// Kernels of published measurements of GPUs (tests/validation/silicon) whose workgroups exchange data, as the sources describe
// them: passes with a barrier of all workgroups, maxima, and a transpose.

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

// The launch determines the size of the workgroup.
#define ANY_SIZE __attribute__((amdgpu_flat_work_group_size(1, 1024)))
#define SIZE(X, Y) __attribute__((reqd_work_group_size(X, Y, 1)))

// Scales b into a in each pass. Then one work-item of each workgroup counts its workgroup and waits until all have been
// counted. All workgroups must be resident. `counters` are 0.
kernel ANY_SIZE void passes(global volatile int* counters, global double* restrict a, global const double* restrict b, int size,
                            int passes) {
  const int groups = get_num_groups(0);
  for (int pass = 0; pass < passes; ++pass) {
    for (int i = get_global_id(0); i < size; i += (int)get_global_size(0)) a[i] = b[i] * 0.25;
    barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
    if (get_local_id(0) == 0) {
      atomic_inc(&counters[pass]);
      while (counters[pass] != groups) {
      }
    }
    barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
  }
}

// Maxima by 1024 work-items: of each wavefront by shuffles, of the workgroup by the LDS.

#define WAVEFRONTS 16

double of_lane(double value, int lane) {
  const int2 halves = as_int2(value);
  return as_double((int2)(__builtin_amdgcn_ds_bpermute(4 * lane, halves.x), __builtin_amdgcn_ds_bpermute(4 * lane, halves.y)));
}

double wavefront_max(double value) {
  const int lane = get_local_id(0) % 64;
  for (int offset = 32; offset > 0; offset /= 2) value = fmax(value, of_lane(value, lane + offset < 64 ? lane + offset : lane));
  return value;
}

// The result is valid in the first work-item.
double workgroup_max(double value, local double* held) {
  const int item = get_local_id(0), lane = item % 64;
  value = wavefront_max(value);
  if (lane == 0) held[item / 64] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  value = item < WAVEFRONTS ? held[lane] : 0;
  return item < 64 ? wavefront_max(value) : value;
}

void memory_max(global double* result, double value) {
  global volatile ulong* bits = (global volatile ulong*)result;
  ulong old = as_ulong(*result), assumed;
  do {
    assumed = old;
    old = atom_cmpxchg(bits, assumed, as_ulong(fmax(value, as_double(assumed))));
  } while (old != assumed);
}

double max_of(global const double* in, int elements) {
  double value = -DBL_MAX;
  for (int i = get_global_id(0); i < elements; i += (int)get_global_size(0)) value = fmax(value, in[i]);
  return value;
}

kernel SIZE(1024, 1) void max_atomic(global const double* in, global double* result, int elements) {
  local double held[WAVEFRONTS];
  const double value = workgroup_max(max_of(in, elements), held);
  if (get_local_id(0) == 0) memory_max(result, value);
}

kernel SIZE(1024, 1) void max_two(global const double* in, global double* results, int elements) {
  local double held[WAVEFRONTS];
  const double value = workgroup_max(max_of(in, elements), held);
  if (get_local_id(0) == 0) results[get_group_id(0)] = value;
}

// The largest inverse of the time in which sound and flow cross a cell, of a grid with `ghosts` cells on each side. The fields
// are density, momenta and energy, one after another.
kernel SIZE(1024, 1) void max_dti(global const double* fields, int nx, int ny, int nz, int ghosts, double dx, double dy,
                                  double dz, double gamma, global double* result) {
  local double held[WAVEFRONTS];
  const int cells = nx * ny * nz;
  double largest = -DBL_MAX;
  for (int id = get_global_id(0); id < cells; id += (int)get_global_size(0)) {
    const int z = id / (nx * ny), y = (id - z * nx * ny) / nx, x = id - z * nx * ny - y * nx;
    if (x < ghosts || x >= nx - ghosts || y < ghosts || y >= ny - ghosts || z < ghosts || z >= nz - ghosts) continue;
    const double density = fields[id], inverse = 1 / density;
    const double vx = fields[cells + id] * inverse, vy = fields[2 * cells + id] * inverse,
                 vz = fields[3 * cells + id] * inverse;
    const double energy = fields[4 * cells + id];
    const double pressure = (energy - 0.5 * density * (vx * vx + vy * vy + vz * vz)) * (gamma - 1);
    const double sound = sqrt(inverse * gamma * pressure);
    const double of_cell = fmax(fmax((fabs(vx) + sound) / dx, (fabs(vy) + sound) / dy), (fabs(vz) + sound) / dz);
    largest = fmax(largest, fmax(of_cell, 0.0));
  }
  const double value = workgroup_max(largest, held);
  if (get_local_id(0) == 0) memory_max(result, value);
}

// A tile without padding: work-items of a wavefront that read a column of it use few banks.
kernel SIZE(16, 16) void transpose16(global float* out, global const float* in, int width, int height) {
  local float tile[16][16];
  const int x = get_local_id(0), y = get_local_id(1), column = 16 * get_group_id(0), row = 16 * get_group_id(1);
  if (column + x < width && row + y < height) tile[y][x] = in[(row + y) * width + column + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (row + x < height && column + y < width) out[(column + y) * height + row + x] = tile[x][y];
}
