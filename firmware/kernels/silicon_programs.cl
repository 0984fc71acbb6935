// Kernels of programs whose times others have published (tests/validation/silicon), as the sources describe them: products of
// matrices, steps of Jacobi's method, and forces between bodies.

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

// The launch determines the size of the workgroup.
#define ANY_SIZE __attribute__((amdgpu_flat_work_group_size(1, 1024)))
#define SIZE(X, Y) __attribute__((reqd_work_group_size(X, Y, 1)))

// Each work-item sums `inner` products. Rows of a and b begin at multiples of `pitch`, as in a product of square matrices.
#define PRODUCT(NAME, TYPE)                                                                                          \
  kernel SIZE(32, 32) void NAME(global TYPE* a, global TYPE* b, global TYPE* c, long rows, long inner, long columns, \
                                long pitch) {                                                                        \
    const int row = get_global_id(1), column = get_global_id(0);                                                     \
    if (column >= columns || row >= rows) return;                                                                    \
    TYPE sum = 0;                                                                                                    \
    for (int i = 0; i < inner; ++i) sum += a[row * pitch + i] * b[i * pitch + column];                               \
    c[row * pitch + column] = sum;                                                                                   \
  }

PRODUCT(product_f32, float)
PRODUCT(product_f64, double)

// A step of Jacobi's method in two dimensions on `width` points in a row: five-point Laplacian of the points that are not on
// the border, of those that are, residual and update, and the sum of the residual's squares.

#define STEP_LAPLACE(NAME, OPERATOR)                                                                                    \
  kernel SIZE(16, 16) void NAME(int columns, int rows, int width, double x, double y, global const double* restrict u,  \
                                global double* restrict au) {                                                           \
    const int i = get_global_id(0), j = get_global_id(1);                                                               \
    if (i >= columns || j >= rows) return;                                                                              \
    const int at = i + 1 + (j + 1) * width;                                                                             \
    au[at] = (2 * u[at] - u[at - 1] - u[at + 1]) OPERATOR(x) + (2 * u[at] - u[at - width] - u[at + width]) OPERATOR(y); \
  }
#define BY_SQUARE(D) / (D * D)
#define BY_FACTOR(F) *F

STEP_LAPLACE(step_laplace, BY_SQUARE)
STEP_LAPLACE(step_factors, BY_FACTOR)

// `outside`: the neighbours below, above, left and right of the border.
kernel SIZE(512, 1) void step_border(int width, int height, double x, double y, global const double* restrict u,
                                     global const double* restrict outside, global double* restrict au) {
  const int item = get_global_id(0);
  if (item >= 2 * width + 2 * height - 2) return;
  int i = width - 1, j = item - 2 * width - height + 2;
  if (item < width) {
    i = item;
    j = 0;
  } else if (item < 2 * width) {
    i = item - width;
    j = height - 1;
  } else if (item < 2 * width + height - 1) {
    i = 0;
    j = item - 2 * width + 1;
  }
  const int at = i + j * width;
  const double below = j == 0 ? outside[i] : u[at - width];
  const double above = j == height - 1 ? outside[i + width] : u[at + width];
  const double left = i == 0 ? outside[j + 2 * width] : u[at - 1];
  const double right = i == width - 1 ? outside[j + 2 * width + height] : u[at + 1];
  au[at] = (2 * u[at] - left - right) / (x * x) + (2 * u[at] - below - above) / (y * y);
}

kernel SIZE(512, 1) void step_update(int points, double x, double y, global const double* restrict right,
                                     global const double* restrict au, global double* restrict residual,
                                     global double* restrict u) {
  const int at = get_global_id(0);
  if (at >= points) return;
  const double difference = right[at] - au[at];
  residual[at] = difference;
  u[at] += difference / (2 / (x * x) + 2 / (y * y));
}

#define GROUP 128

// The sum is in held[0].
void group_sum(local double* held) {
  const int item = get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int width = GROUP / 2; width > 0; width /= 2) {
    if (item < width) held[item] += held[item + width];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

kernel SIZE(GROUP, 1) void step_norm(int points, double x, double y, global const double* restrict u,
                                     global double* restrict sums) {
  local double held[GROUP];
  const int item = get_local_id(0);
  held[item] = 0;
  for (int at = get_global_id(0); at < points; at += (int)get_global_size(0)) held[item] += u[at] * u[at] * x * y;
  group_sum(held);
  if (item == 0) sums[get_group_id(0)] = held[0];
}

kernel SIZE(GROUP, 1) void step_norm2(int points, global const double* restrict sums, global double* restrict norm) {
  local double held[GROUP];
  const int item = get_local_id(0);
  held[item] = 0;
  for (int at = get_global_id(0); at < points; at += GROUP) held[item] += sums[at];
  group_sum(held);
  if (item == 0) *norm = held[0];
}

typedef struct {
  float x, y, z, vx, vy, vz;
} body;

// Changes the velocities of all bodies by the forces of the first `others`.
kernel ANY_SIZE void forces(global body* bodies, float step, int count, int others) {
  const int own = get_global_id(0);
  if (own >= count) return;
  float x = 0, y = 0, z = 0;
  for (int other = 0; other < others; ++other) {
    const float dx = bodies[other].x - bodies[own].x;
    const float dy = bodies[other].y - bodies[own].y;
    const float dz = bodies[other].z - bodies[own].z;
    const float inverse = 1 / sqrt(dx * dx + dy * dy + dz * dz + 1e-9f);
    const float cube = inverse * inverse * inverse;
    x += dx * cube;
    y += dy * cube;
    z += dz * cube;
  }
  bodies[own].vx += step * x;
  bodies[own].vy += step * y;
  bodies[own].vz += step * z;
}
