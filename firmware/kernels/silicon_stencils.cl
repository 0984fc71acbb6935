// Stencils, transposes and products with a matrix of published measurements of GPUs (tests/validation/silicon), as the sources
// of the measurements describe them. Pointers are `restrict` where the source has them so.

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
// The launch determines the size of the workgroup.
#define ANY_SIZE __attribute__((amdgpu_flat_work_group_size(1, 1024)))
#define SIZE(X, Y) __attribute__((reqd_work_group_size(X, Y, 1)))

// Loads a word every `step` bytes, so that later dispatches find the pages' translations.
kernel SIZE(64, 1) void touch(global const uint* data, global uint* sums, uint step, uint bytes) {
  const uint at = get_global_id(0) * step;
  if (at < bytes && data[at / 4] == 12345) sums[get_local_id(0)] = at;
}

// Seven-point Laplacians on grids of nx * ny * nz points.

// One point per work-item.
kernel SIZE(256, 1) void laplace_nt(global double* f, global const double* u, uint nx, uint ny, uint nz, double x, double y,
                                    double z, double centre) {
  const uint i = get_global_id(0), j = get_global_id(1), k = get_global_id(2);
  if (i == 0 || i >= nx - 1 || j == 0 || j >= ny - 1 || k == 0 || k >= nz - 1) return;
  const uint slice = nx * ny;
  const size_t at = i + nx * j + (size_t)slice * k;
  const double sum =
      u[at] * centre + (u[at - 1] + u[at + 1]) * x + (u[at - nx] + u[at + nx]) * y + (u[at - slice] + u[at + slice]) * z;
  __builtin_nontemporal_store(sum, &f[at]);
}

// Sums of ROWS points that follow each other in y from `u` on, point by point: centre, x, y, z. `pitch`, `slice`: distances of
// neighbours in y and z. A neighbour in y that is a point of the same work-item is not loaded again.
#define SUMS_BY_POINT(ROWS)                                              \
  _Pragma("unroll") for (int n = 0; n < ROWS; ++n) {                     \
    const double own = u[n * pitch];                                     \
    sums[n] += own * centre + (u[n * pitch - 1] + u[n * pitch + 1]) * x; \
    if (n == 0) sums[n] += u[-pitch] * y;                                \
    if (n > 0) sums[n - 1] += own * y;                                   \
    if (n < ROWS - 1) sums[n + 1] += own * y;                            \
    if (n == ROWS - 1) sums[n] += u[ROWS * pitch] * y;                   \
    sums[n] += (u[n * pitch - slice] + u[n * pitch + slice]) * z;        \
  }
// The same sums, with loads in ascending order of addresses. `first`: y of the first point.
#define SUMS_BY_ADDRESS(ROWS)                                                           \
  _Pragma("unroll") for (int n = 0; n < ROWS; ++n) sums[n] += u[n * pitch - slice] * z; \
  sums[0] += first > 0 ? u[-pitch] * y : 0;                                             \
  _Pragma("unroll") for (int n = 0; n < ROWS; ++n) {                                    \
    sums[n] += u[n * pitch - 1] * x;                                                    \
    const double own = u[n * pitch];                                                    \
    sums[n] += own * centre;                                                            \
    sums[n] += u[n * pitch + 1] * x;                                                    \
    if (n > 0) sums[n - 1] += own * y;                                                  \
    if (n < ROWS - 1) sums[n + 1] += own * y;                                           \
  }                                                                                     \
  sums[ROWS - 1] += first < (int)ny - ROWS ? u[ROWS * pitch] * y : 0;                   \
  _Pragma("unroll") for (int n = 0; n < ROWS; ++n) sums[n] += u[n * pitch + slice] * z;
#define STORE(value, place) place = value
#define STORE_NT(value, place) __builtin_nontemporal_store(value, &(place))
#define LAPLACE_ROWS(NAME, ATTRIBUTE, ROWS, SUMS, STORE)                                                              \
  kernel ATTRIBUTE void NAME(global double* f, global const double* u, uint nx, uint ny, uint nz, double x, double y, \
                             double z, double centre) {                                                               \
    const int i = get_global_id(0), first = ROWS * get_global_id(1), k = get_global_id(2);                            \
    if (i == 0 || i >= (int)nx - 1 || k == 0 || k >= (int)nz - 1) return;                                             \
    const int pitch = nx, slice = nx * ny;                                                                            \
    const size_t at = i + pitch * first + (size_t)slice * k;                                                          \
    u += at;                                                                                                          \
    f += at;                                                                                                          \
    double sums[ROWS] = {0};                                                                                          \
    SUMS(ROWS)                                                                                                        \
    _Pragma("unroll") for (int n = 0; n < ROWS; ++n) {                                                                \
      if (first + n > 0 && first + n < (int)ny - 1) STORE(sums[n], f[n * pitch]);                                     \
    }                                                                                                                 \
  }
// The number of a kernel is that of the source. 4 and 5 are compiled for workgroups of at most 256.
LAPLACE_ROWS(laplace2_m2, ANY_SIZE, 2, SUMS_BY_POINT, STORE)
LAPLACE_ROWS(laplace2_m4, ANY_SIZE, 4, SUMS_BY_POINT, STORE)
LAPLACE_ROWS(laplace2_m8, ANY_SIZE, 8, SUMS_BY_POINT, STORE)
LAPLACE_ROWS(laplace3_m1, ANY_SIZE, 1, SUMS_BY_ADDRESS, STORE)
LAPLACE_ROWS(laplace3_m2, ANY_SIZE, 2, SUMS_BY_ADDRESS, STORE)
LAPLACE_ROWS(laplace3_m4, ANY_SIZE, 4, SUMS_BY_ADDRESS, STORE)
LAPLACE_ROWS(laplace3_m8, ANY_SIZE, 8, SUMS_BY_ADDRESS, STORE)
LAPLACE_ROWS(laplace4_m8, SIZE(256, 1), 8, SUMS_BY_ADDRESS, STORE)
LAPLACE_ROWS(laplace4_m16, SIZE(256, 1), 16, SUMS_BY_ADDRESS, STORE)
LAPLACE_ROWS(laplace5_m8, SIZE(256, 1), 8, SUMS_BY_ADDRESS, STORE_NT)

// Stencils of 2 R + 1 points in one direction, on grids of floats with a halo of R points around nx * ny * nz inner points.
// `line`, `slice`: floats between neighbours in y and z.
#define GRID_PARAMETERS int line, int slice, int nx, int ny, int nz
// `at`: the first of the WIDTH neighbouring inner points of a work-item. Work-items outside of the grid return.
#define POINT(R, WIDTH)                                                                           \
  const int i = R + WIDTH * get_global_id(0), j = R + get_global_id(1), k = R + get_global_id(2); \
  if (i >= R + nx || j >= R + ny || k >= R + nz) return;                                          \
  const size_t at = i + line * j + (size_t)slice * k;

// One point per work-item.
#define LINE_STENCIL(NAME, R, STRIDE, X, Y)                                                                         \
  kernel SIZE(X, Y) void NAME(global float* restrict out, global const float* restrict in, constant float* factors, \
                              GRID_PARAMETERS) {                                                                    \
    POINT(R, 1)                                                                                                     \
    in += at - R * STRIDE;                                                                                          \
    float sum = 0;                                                                                                  \
    _Pragma("unroll") for (int r = 0; r <= 2 * R; ++r) {                                                            \
      sum += *in * factors[r];                                                                                      \
      in += STRIDE;                                                                                                 \
    }                                                                                                               \
    out[at] = sum;                                                                                                  \
  }
LINE_STENCIL(fd_x1, 1, 1, 256, 1)
LINE_STENCIL(fd_x2, 2, 1, 256, 1)
LINE_STENCIL(fd_x3, 3, 1, 256, 1)
LINE_STENCIL(fd_x4, 4, 1, 256, 1)
LINE_STENCIL(fd_y1, 1, line, 64, 4)
LINE_STENCIL(fd_y2, 2, line, 64, 4)
LINE_STENCIL(fd_y3, 3, line, 64, 4)
LINE_STENCIL(fd_y4, 4, line, 64, 4)
LINE_STENCIL(fd_z1, 1, slice, 64, 8)
LINE_STENCIL(fd_z2, 2, slice, 64, 8)
LINE_STENCIL(fd_z3, 3, slice, 64, 8)
LINE_STENCIL(fd_z4, 4, slice, 64, 8)

// The following kernels have radius 4 and workgroups of 64 x 4. T: vector of the WIDTH neighbouring points of a work-item.
#define R 4

// Loads the work-item's points, and R points before and after them, from `vectors` into `window`.
#define LOAD_WINDOW(T, WIDTH) \
  _Pragma("unroll") for (int n = 0; n < 2 * R / WIDTH + 1; ++n) { *(T*)&window[n * WIDTH] = vectors[n - R / WIDTH]; }
#define X_VECTORS(NAME, T, WIDTH)                                                                                    \
  kernel SIZE(64, 4) void NAME(global float* restrict out, global const float* restrict in, constant float* factors, \
                               GRID_PARAMETERS) {                                                                    \
    POINT(R, WIDTH)                                                                                                  \
    global const T* vectors = (global const T*)(in + at);                                                            \
    float window[2 * R + WIDTH] __attribute__((aligned(16)));                                                        \
    LOAD_WINDOW(T, WIDTH)                                                                                            \
    float sums[WIDTH] __attribute__((aligned(16))) = {0};                                                            \
    _Pragma("unroll") for (int r = 0; r <= 2 * R; ++r) {                                                             \
      _Pragma("unroll") for (int n = 0; n < WIDTH; ++n) sums[n] += window[r + n] * factors[r];                       \
    }                                                                                                                \
    *(global T*)(out + at) = *(T*)sums;                                                                              \
  }
X_VECTORS(fd_x4_vec1, float, 1)
X_VECTORS(fd_x4_vec2, float2, 2)
X_VECTORS(fd_x4_vec4, float4, 4)

#define Y_VECTORS(NAME, T, WIDTH)                                                                                    \
  kernel SIZE(64, 4) void NAME(global float* restrict out, global const float* restrict in, constant float* factors, \
                               GRID_PARAMETERS) {                                                                    \
    POINT(R, WIDTH)                                                                                                  \
    global const T* vectors = (global const T*)(in + at - R * line);                                                 \
    const size_t row = (size_t)(line / WIDTH);                                                                       \
    T sum = 0;                                                                                                       \
    _Pragma("unroll") for (int r = 0; r <= 2 * R; ++r) {                                                             \
      sum += *vectors * factors[r];                                                                                  \
      vectors += row;                                                                                                \
    }                                                                                                                \
    *(global T*)(out + at) = sum;                                                                                    \
  }
Y_VECTORS(fd_y4_vec1, float, 1)
Y_VECTORS(fd_y4_vec2, float2, 2)
Y_VECTORS(fd_y4_vec4, float4, 4)

// The LDS holds the four rows of a workgroup, and R rows before and after them.
#define ROWS_IN_LDS local float4 rows[64 * (4 + 2 * R)]
// The place of the work-item's vector in `rows`.
#define PLACE_IN_LDS (get_local_id(0) + 64 * (R + get_local_id(1)))

kernel SIZE(64, 4) void fd_y4_lds(global float* restrict out, global const float* restrict in, constant float* factors,
                                  GRID_PARAMETERS) {
  ROWS_IN_LDS;
  const int i = R + 4 * get_global_id(0), j = R + get_global_id(1), k = R + get_global_id(2);
  const size_t at = i + line * j + (size_t)slice * k;
  const size_t row = (size_t)(line / 4);
  global const float4* vectors = (global const float4*)(in + at);
  const uint place = PLACE_IN_LDS;
  rows[place - 64 * R] = *(vectors - R * row);
  rows[place] = *vectors;
  rows[place + 64 * 4] = vectors[4 * row];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i >= R + nx || j >= R + ny || k >= R + nz) return;
  float4 sum = 0;
#pragma unroll
  for (int r = 0; r <= 2 * R; ++r) sum += rows[place + 64 * (r - R)] * factors[r];
  *(global float4*)(out + at) = sum;
}

// Adds the stencils in x and y of the work-item's four points to SUM: `factors` of x, then of y.
#define ADD_XY(SUM)                                             \
  _Pragma("unroll") for (int r = 0; r <= 2 * R; ++r) {          \
    SUM += rows[place + 64 * (r - R)] * factors[2 * R + 1 + r]; \
    SUM.x += window[r] * factors[r];                            \
    SUM.y += window[r + 1] * factors[r];                        \
    SUM.z += window[r + 2] * factors[r];                        \
    SUM.w += window[r + 3] * factors[r];                        \
  }

kernel SIZE(64, 4) void fd_xy4_lds(global float* out, global const float* in, constant float* factors, GRID_PARAMETERS) {
  ROWS_IN_LDS;
  const int i = R + 4 * get_global_id(0), j = R + get_global_id(1), k = R + get_global_id(2);
  const size_t at = i + line * j + (size_t)slice * k;
  const size_t row = (size_t)(line / 4);
  global const float4* vectors = (global const float4*)(in + at);
  const uint place = PLACE_IN_LDS;
  float window[2 * R + 4] __attribute__((aligned(16)));
  LOAD_WINDOW(float4, 4)
  rows[place] = *(float4*)&window[R];
  rows[place - 64 * R] = *(vectors - R * row);
  rows[place + 64 * 4] = vectors[4 * row];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i >= R + nx || j >= R + ny || k >= R + nz) return;
  float4 sum = 0;
  ADD_XY(sum)
  __builtin_nontemporal_store(sum, (global float4*)(out + at));
}

// A work-item slides along `depth` points of z and holds the 2 R + 1 points around the current one in registers.
kernel SIZE(64, 4) void fd_z4_window(global float* out, global const float* in, constant float* factors, GRID_PARAMETERS,
                                     int depth) {
  const int i = R + get_global_id(0), j = R + get_global_id(1);
  if (i >= R + nx || j >= R + ny) return;
  const int begin = R + get_group_id(2) * depth;
  const int end = begin + depth > R + nz ? R + nz : begin + depth;
  const size_t at = i + line * j + (size_t)slice * begin;
  in += at - R * slice;
  out += at;
  float window[2 * R + 1];
#pragma unroll
  for (int r = 0; r < 2 * R; ++r) {
    window[r] = *in;
    in += slice;
  }
  for (int k = begin; k < end; ++k) {
    window[2 * R] = *in;
    float sum = 0;
#pragma unroll
    for (int r = 0; r <= 2 * R; ++r) sum += window[r] * factors[r];
    *out = sum;
#pragma unroll
    for (int r = 0; r < 2 * R; ++r) window[r] = window[r + 1];
    in += slice;
    out += slice;
  }
}

// The same with four points of x per work-item, for the sum of the stencils in x, y and z: `factors` of x, of y, of z. `sums`
// holds the sums in x and y of the last R planes that have been loaded, until those in z are added.
#define LOAD_PLANE                             \
  LOAD_WINDOW(float4, 4)                       \
  barrier(CLK_LOCAL_MEM_FENCE);                \
  rows[place - 64 * R] = *(vectors - R * row); \
  rows[place] = *(float4*)&window[R];          \
  rows[place + 64 * 4] = vectors[4 * row];     \
  barrier(CLK_LOCAL_MEM_FENCE);
kernel SIZE(64, 4) void fd_xyz4_window(global float* out, global const float* in, constant float* factors, GRID_PARAMETERS,
                                       int depth) {
  ROWS_IN_LDS;
  const size_t i = R + 4 * get_global_id(0), j = R + get_global_id(1);
  if (i >= (size_t)(R + nx)) return;
  const int begin = R + get_group_id(2) * depth;
  const int end = begin + depth > R + nz ? R + nz : begin + depth;
  const size_t at = i + line * j + (size_t)slice * begin;
  const size_t row = (size_t)(line / 4), plane = (size_t)(slice / 4);
  global const float4* vectors = (global const float4*)(in + at - R * slice);
  global float4* results = (global float4*)(out + at);
  const uint place = PLACE_IN_LDS;
  float window[2 * R + 4] __attribute__((aligned(16)));
  float4 planes[2 * R + 1], sums[R + 1];
#pragma unroll
  for (int r = 0; r < R; ++r) {
    planes[r] = *vectors;
    vectors += plane;
  }
#pragma unroll
  for (int s = 0; s < R; ++s) {
    LOAD_PLANE
    sums[s] = 0;
    ADD_XY(sums[s])
    planes[R + s] = *(float4*)&window[R];
    vectors += plane;
  }
  for (int k = begin; k < end; ++k) {
    LOAD_PLANE
    planes[2 * R] = *(float4*)&window[R];
    sums[R] = 0;
#pragma unroll
    for (int r = 0; r <= 2 * R; ++r) sums[0] += planes[r] * factors[2 * (2 * R + 1) + r];
    ADD_XY(sums[R])
    if (j < (size_t)(R + ny)) __builtin_nontemporal_store(sums[0], results);
#pragma unroll
    for (int r = 0; r < R; ++r) sums[r] = sums[r + 1];
#pragma unroll
    for (int r = 0; r < 2 * R; ++r) planes[r] = planes[r + 1];
    vectors += plane;
    results += plane;
  }
}

// Transposes of a matrix of `rows` rows of `columns` doubles: `out` has `columns` rows. One element per work-item.
kernel SIZE(32, 32) void transpose_read(global const double* restrict in, global double* restrict out, int rows, int columns) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x < columns && y < rows) out[x * rows + y] = in[y * columns + x];
}

kernel SIZE(32, 32) void transpose_write(global const double* restrict in, global double* restrict out, int rows, int columns) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x < rows && y < columns) out[y * rows + x] = in[x * columns + y];
}

kernel SIZE(32, 32) void transpose_lds(global const double* restrict in, global double* restrict out, int rows, int columns) {
  local double tile[32][33];
  const int x = get_local_id(0), y = get_local_id(1);
  const int column = 32 * get_group_id(0), row = 32 * get_group_id(1);
  tile[y][x] = row + y < rows && column + x < columns ? in[(row + y) * columns + column + x] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (column + y < columns && row + x < rows) out[(column + y) * rows + row + x] = tile[x][y];
}

#ifdef __gfx90a__
// Products y A x, as yax in silicon.cl. Atomics add the sums to `result`.

// One row per work-item; the first `inside` elements of x are read from the LDS, which holds LENGTH.
#define YAX_LDS(NAME, LENGTH)                                                                                                 \
  kernel SIZE(64, 1) void NAME(global const double* y, global const double* a, global const double* x, int rows, int columns, \
                               int pitch, int inside, global double* result) {                                                \
    local double held[LENGTH];                                                                                                \
    for (int n = get_local_id(0); n < LENGTH; n += 64) held[n] = x[n];                                                        \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                             \
    double sum = 0;                                                                                                           \
    for (int i = get_global_id(0); i < rows; i += (int)get_global_size(0)) {                                                  \
      double row = 0;                                                                                                         \
      for (int j = 0; j < columns; ++j) row += a[(size_t)i * pitch + j] * (j < inside ? held[j] : x[j]);                      \
      sum += y[i] * row;                                                                                                      \
    }                                                                                                                         \
    __builtin_amdgcn_global_atomic_fadd_f64(result, sum);                                                                     \
  }
YAX_LDS(yax_lds64, 8192)
YAX_LDS(yax_lds2, 256)

// One row per work-item; A is stored by columns.
kernel SIZE(64, 1) void yax_column(global const double* y, global const double* a, global const double* x, int rows,
                                   int columns, global double* result) {
  double sum = 0;
  for (int i = get_global_id(0); i < rows; i += (int)get_global_size(0)) {
    double row = 0;
    for (int j = 0; j < columns; ++j) row += a[(size_t)j * rows + i] * x[j];
    sum += y[i] * row;
  }
  __builtin_amdgcn_global_atomic_fadd_f64(result, sum);
}

// The products of every 64th row, one per workgroup. Lanes read neighbouring elements and add their sums in the LDS.
kernel SIZE(64, 1) void yax_wide(global const double* y, global const double* a, global const double* x, int rows, int columns,
                                 global double* result) {
  local double total;
  const int lane = get_local_id(0);
  for (int i = 64 * get_group_id(0); i < rows; i += (int)get_global_size(0)) {
    double sum = 0;
    for (int j = lane; j < columns; j += 64) sum += a[(size_t)i * columns + j] * x[j];
    __builtin_amdgcn_ds_atomic_fadd_f64(&total, sum);
    if (lane == 0) total *= y[i];
  }
  if (lane == 0) __builtin_amdgcn_global_atomic_fadd_f64(result, total);
}
#endif

// Dot product. Each work-item sums in its element of the LDS, then the workgroup adds the elements as a tree.
kernel SIZE(1024, 1) void dot(global const double* a, global const double* b, global double* sums, int elements) {
  local double held[1024];
  const int lane = get_local_id(0);
  held[lane] = 0;
  for (int i = get_global_id(0); i < elements; i += (int)get_global_size(0)) held[lane] += a[i] * b[i];
  for (int step = 512; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < step) held[lane] += held[lane + step];
  }
  if (lane == 0) sums[get_group_id(0)] = held[lane];
}
