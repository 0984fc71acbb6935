// Tests typical programs against the host's results: tiled matrix product, scan over many workgroups, bitonic sort, stencil
// with ping-pong buffers, breadth-first search, sparse matrix times vector, Mandelbrot set.
#include <algorithm>
#include <numeric>

#include "../check.h"

namespace {

constexpr int kTile = 16;

__global__ void matrix_product(const float* a, const float* b, float* c, int size) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < size; k += kTile) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * size + k + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * size + column];
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    __syncthreads();
  }
  c[row * size + column] = sum;
}

void matrix_products() {
  constexpr int kSize = 64;
  std::vector<float> a(kSize * kSize), b(kSize * kSize);
  for (int i = 0; i < kSize * kSize; ++i)
    a[i] = static_cast<float>(check::scramble(i) % 10), b[i] = static_cast<float>(check::scramble(i + 99999) % 10);
  const check::DeviceArray<float> device_a(a), device_b(b), c(kSize * kSize);
  matrix_product<<<dim3(kSize / kTile, kSize / kTile), dim3(kTile, kTile)>>>(device_a.data(), device_b.data(), c.data(), kSize);
  EXPECT_EACH(c.download(), [&](size_t i) {
    float sum = 0;
    for (int k = 0; k < kSize; ++k) sum += a[i / kSize * kSize + k] * b[k * kSize + i % kSize];
    return sum;
  });
}

__global__ void scan_blocks(const uint32_t* in, uint32_t* out, uint32_t* totals) {
  __shared__ uint32_t sums[2][256];
  const int lane = threadIdx.x, i = blockIdx.x * 256 + lane;
  int current = 0;
  sums[0][lane] = in[i];
  for (int step = 1; step < 256; step *= 2) {
    __syncthreads();
    sums[1 - current][lane] = sums[current][lane] + (lane >= step ? sums[current][lane - step] : 0);
    current = 1 - current;
  }
  out[i] = sums[current][lane];
  if (lane == 255) totals[blockIdx.x] = sums[current][lane];
}

__global__ void add_totals(uint32_t* out, const uint32_t* totals) {
  if (blockIdx.x > 0) out[blockIdx.x * 256 + threadIdx.x] += totals[blockIdx.x - 1];
}

void scans() {
  constexpr int kCount = 256 * 256;
  const std::vector<uint32_t> values = check::scrambled<uint32_t>(kCount);
  const check::DeviceArray<uint32_t> in(values), out(kCount), totals(256), scanned(256), total(1);
  scan_blocks<<<256, 256>>>(in.data(), out.data(), totals.data());
  scan_blocks<<<1, 256>>>(totals.data(), scanned.data(), total.data());
  add_totals<<<256, 256>>>(out.data(), scanned.data());
  std::vector<uint32_t> expected(kCount);
  std::partial_sum(values.begin(), values.end(), expected.begin());
  EXPECT_EACH(out.download(), [&](size_t i) { return expected[i]; });
}

__global__ void bitonic_step(uint32_t* values, uint32_t distance, uint32_t length) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ distance;
  if (other <= i) return;
  const bool ascending = (i & length) == 0;
  const uint32_t a = values[i], b = values[other];
  if ((a > b) == ascending) values[i] = b, values[other] = a;
}

void sorts() {
  constexpr uint32_t kCount = 2048;
  std::vector<uint32_t> values = check::scrambled<uint32_t>(kCount);
  const check::DeviceArray<uint32_t> array(values);
  for (uint32_t length = 2; length <= kCount; length *= 2) {
    for (uint32_t distance = length / 2; distance > 0; distance /= 2)
      bitonic_step<<<kCount / 256, 256>>>(array.data(), distance, length);
  }
  std::sort(values.begin(), values.end());
  EXPECT_EACH(array.download(), [&](size_t i) { return values[i]; });
}

__global__ void life_step(const uint8_t* in, uint8_t* out, int size) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int alive = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx)
      alive += (dx != 0 || dy != 0) && in[(y + dy + size) % size * size + (x + dx + size) % size];
  }
  out[y * size + x] = alive == 3 || (alive == 2 && in[y * size + x]);
}

void stencil() {
  constexpr int kSize = 64;
  std::vector<uint8_t> board(kSize * kSize, 0);
  for (const int cell : {1, kSize + 2, 2 * kSize, 2 * kSize + 1, 2 * kSize + 2}) board[cell] = 1;  // a glider
  check::DeviceArray<uint8_t> first(board), second(kSize * kSize);
  for (int step = 0; step < 20; ++step) {
    life_step<<<dim3(kSize / 16, kSize / 16), dim3(16, 16)>>>(first.data(), second.data(), kSize);
    life_step<<<dim3(kSize / 16, kSize / 16), dim3(16, 16)>>>(second.data(), first.data(), kSize);
  }
  // After 40 steps the glider has moved by 10 cells to the right and down.
  EXPECT_EACH(first.download(), [&](size_t i) {
    const size_t x = (i % kSize + kSize - 10) % kSize, y = (i / kSize + kSize - 10) % kSize;
    return board[y * kSize + x];
  });
}

__global__ void visit(const int* first_edge, const int* edges, int* distance, int level, int* changed, int nodes) {
  const int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node >= nodes || distance[node] != level) return;
  for (int edge = first_edge[node]; edge < first_edge[node + 1]; ++edge) {
    if (atomicCAS(&distance[edges[edge]], -1, level + 1) == -1) *changed = 1;
  }
}

void breadth_first_search() {
  constexpr int kNodes = 1500;
  std::vector<int> first_edge(kNodes + 1, 0), edges, expected(kNodes, -1);
  for (int node = 0; node < kNodes; ++node) {
    for (uint32_t k = 0; k < 1 + check::scramble(node) % 4; ++k)
      edges.push_back(static_cast<int>(check::scramble(node * 8 + k) % kNodes));
    first_edge[node + 1] = static_cast<int>(edges.size());
  }
  std::vector<int> queue = {0};
  expected[0] = 0;
  for (size_t head = 0; head < queue.size(); ++head) {
    for (int edge = first_edge[queue[head]]; edge < first_edge[queue[head] + 1]; ++edge) {
      if (expected[edges[edge]] != -1) continue;
      expected[edges[edge]] = expected[queue[head]] + 1;
      queue.push_back(edges[edge]);
    }
  }
  std::vector<int> distance(kNodes, -1);
  distance[0] = 0;
  const check::DeviceArray<int> device_first(first_edge), device_edges(edges), device_distance(distance);
  int* changed = nullptr;
  HIP_CHECK(hipHostMalloc(reinterpret_cast<void**>(&changed), sizeof(int)));
  *changed = 1;
  for (int level = 0; *changed != 0; ++level) {
    *changed = 0;
    visit<<<(kNodes + 127) / 128, 128>>>(device_first.data(), device_edges.data(), device_distance.data(), level, changed,
                                         kNodes);
    HIP_CHECK(hipDeviceSynchronize());
  }
  HIP_CHECK(hipHostFree(changed));
  EXPECT_EACH(device_distance.download(), [&](size_t i) { return expected[i]; });
}

// One wavefront per row.
__global__ void sparse_product(const int* first, const int* columns, const double* values, const double* x, double* y) {
  const int row = blockIdx.x, lane = threadIdx.x;
  double sum = 0;
  for (int i = first[row] + lane; i < first[row + 1]; i += 64) sum += values[i] * x[columns[i]];
  for (int step = 32; step > 0; step /= 2) sum += __shfl_down(sum, step);
  if (lane == 0) y[row] = sum;
}

void sparse_products() {
  constexpr int kRows = 300;
  std::vector<int> first(kRows + 1, 0), columns;
  std::vector<double> values, x(kRows);
  for (int row = 0; row < kRows; ++row) {
    for (uint32_t k = 0; k < check::scramble(row) % 150; ++k) {
      columns.push_back(static_cast<int>(check::scramble(row * 200 + k) % kRows));
      values.push_back(static_cast<double>(check::scramble(row * 333 + k) % 64) - 32.0);
    }
    first[row + 1] = static_cast<int>(columns.size());
    x[row] = static_cast<double>(check::scramble(row + 5555) % 128);
  }
  const check::DeviceArray<int> device_first(first), device_columns(columns);
  const check::DeviceArray<double> device_values(values), device_x(x), y(kRows);
  sparse_product<<<kRows, 64>>>(device_first.data(), device_columns.data(), device_values.data(), device_x.data(), y.data());
  EXPECT_EACH(y.download(), [&](size_t row) {
    double sum = 0;
    for (int i = first[row]; i < first[row + 1]; ++i) sum += values[i] * x[columns[i]];
    return sum;
  });
}

__host__ __device__ int escape(int x, int y, int size) {
  const double real = -2.0 + 2.5 * x / size, imaginary = -1.25 + 2.5 * y / size;
  double a = 0, b = 0;
  int step = 0;
  for (; step < 50 && a * a + b * b < 4.0; ++step) {
    const double next = a * a - b * b + real;
    b = 2 * a * b + imaginary;
    a = next;
  }
  return step;
}

__global__ void mandelbrot(int* out, int size) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  out[y * size + x] = escape(x, y, size);
}

void mandelbrot_set() {
  constexpr int kSize = 64;
  const check::DeviceArray<int> out(kSize * kSize);
  mandelbrot<<<dim3(kSize / 8, kSize / 8), dim3(8, 8)>>>(out.data(), kSize);
  const std::vector<int> got = out.download();
  // Compilers may fuse multiplications and additions; only points at the border between two iteration counts may differ.
  int different = 0;
  for (int i = 0; i < kSize * kSize; ++i) different += got[i] != escape(i % kSize, i / kSize, kSize);
  EXPECT_BETWEEN(different, 0, 20);
}

}  // namespace

int main() {
  matrix_products();
  scans();
  sorts();
  stencil();
  breadth_first_search();
  sparse_products();
  mandelbrot_set();
  return check::result();
}
