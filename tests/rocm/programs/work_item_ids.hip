// Tests one kernel for each subset of a work-item's six ids; the kernel uses only the ids of its subset. The fields that the
// kernel descriptor enables, and the code that extracts an id from its register, differ between subsets. Each kernel runs with
// blocks and grids of one, two and three dimensions.
#include <array>
#include <utility>

#include "../check.h"

namespace {

constexpr unsigned kIds = 6;
constexpr unsigned kSubsets = 1u << kIds;

struct Strides {
  uint32_t of[kIds];
};

// Bit d of the subset: threadIdx in dimension d; bit 3 + d: blockIdx. A work-item increments the cell that its ids select, or
// the one after all cells if they select none.
template <unsigned kSubset>
__global__ void count(uint32_t* counts, uint32_t cells, Strides strides) {
  uint32_t cell = 0;
  if constexpr ((kSubset & 1) != 0) cell += threadIdx.x * strides.of[0];
  if constexpr ((kSubset & 2) != 0) cell += threadIdx.y * strides.of[1];
  if constexpr ((kSubset & 4) != 0) cell += threadIdx.z * strides.of[2];
  if constexpr ((kSubset & 8) != 0) cell += blockIdx.x * strides.of[3];
  if constexpr ((kSubset & 16) != 0) cell += blockIdx.y * strides.of[4];
  if constexpr ((kSubset & 32) != 0) cell += blockIdx.z * strides.of[5];
  atomicAdd(counts + (cell < cells ? cell : cells), 1u);
}

using Kernel = void (*)(uint32_t*, uint32_t, Strides);

template <size_t... kSubset>
constexpr std::array<Kernel, kSubsets> kernels(std::index_sequence<kSubset...>) {
  return {count<kSubset>...};
}
constexpr std::array<Kernel, kSubsets> kKernels = kernels(std::make_index_sequence<kSubsets>());

// The cells of one subset, in the shared array.
struct Cells {
  Strides strides{};
  uint32_t count = 1;
  size_t first = 0;
};

void check_shape(dim3 grid, dim3 block) {
  const std::array<uint32_t, kIds> values = {block.x, block.y, block.z, grid.x, grid.y, grid.z};
  std::array<Cells, kSubsets> cells;
  size_t all = 0;
  for (unsigned subset = 0; subset < kSubsets; ++subset) {
    Cells& c = cells[subset];
    for (unsigned id = 0; id < kIds; ++id) {
      if ((subset >> id & 1) == 0) continue;
      c.strides.of[id] = c.count;
      c.count *= values[id];
    }
    c.first = all;
    all += c.count + 1;
  }
  check::DeviceArray<uint32_t> counts(all);
  counts.clear();
  for (unsigned subset = 0; subset < kSubsets; ++subset) {
    const Cells& c = cells[subset];
    kKernels[subset]<<<grid, block>>>(counts.data() + c.first, c.count, c.strides);
  }
  HIP_CHECK(hipDeviceSynchronize());
  const std::vector<uint32_t> got = counts.download();
  const uint32_t items = grid.x * grid.y * grid.z * block.x * block.y * block.z;
  for (unsigned subset = 0; subset < kSubsets; ++subset) {
    const Cells& c = cells[subset];
    const std::vector<uint32_t> mine(got.begin() + static_cast<long>(c.first),
                                     got.begin() + static_cast<long>(c.first + c.count));
    // Every cell is incremented once for each combination of the other ids.
    if (!EXPECT_EQ(got[c.first + c.count], 0u)) std::fprintf(stderr, "  subset %u counts beyond its cells\n", subset);
    EXPECT_EACH(mine, [&](size_t) { return items / c.count; });
  }
}

}  // namespace

int main() {
  for (const dim3 block : {dim3(96), dim3(24, 5), dim3(7, 4, 5)}) {
    for (const dim3 grid : {dim3(5), dim3(3, 2), dim3(2, 3, 2)}) check_shape(grid, block);
  }
  // Rows of several wavefronts, and the largest ids.
  check_shape(dim3(2), dim3(128, 2, 4));
  for (const dim3 block : {dim3(1024), dim3(1, 1024), dim3(1, 1, 1024), dim3(2, 1, 512)}) check_shape(dim3(1), block);
  return check::result();
}
