// Needleman-Wunsch global alignment of two sequences: score[i][j] = max(score[i-1][j-1] + match[i][j], score[i-1][j] - penalty,
// score[i][j-1] - penalty). As in Rodinia's NW, one kernel computes the independent tiles of a diagonal; within a tile, the
// wavefront proceeds from one anti-diagonal to the next. As in Rodinia, the match scores of all pairs are a matrix in memory,
// generated from a random symmetric table for 20 letters with the range of BLOSUM62. The default length is MGPUSim's; the
// penalty is Rodinia's.
//
//   tuned   tiles of 64, the size of a wavefront, so that all lanes are used
//   suite   Rodinia's tiles of 16, with a workgroup of 16 work-items each
#include <hip/hip_runtime.h>

#include <algorithm>

#include "workloads/common/program.h"

// One lane per column of a tile. `scores` is (length + 1) x (length + 1), with the first row and column given; `matches` is
// length x length. The workgroup's tile is (blockIdx.x + first, diagonal - blockIdx.x - first).
template <unsigned tile>
__global__ void __launch_bounds__(tile) align(int* __restrict__ scores, const int* __restrict__ matches, unsigned length,
                                              unsigned diagonal, unsigned first, int penalty) {
  // Lanes of an anti-diagonal are one column and one row apart: a pitch of tile + 2 words puts those of 64 into adjacent banks.
  __shared__ int cells[tile + 1][tile + 2];
  const unsigned lane = threadIdx.x, pitch = length + 1;
  const unsigned row = (blockIdx.x + first) * tile, column = (diagonal - blockIdx.x - first) * tile;
  const unsigned rows = min(tile, length - row), columns = min(tile, length - column);
  // `cells` first holds the match scores; each is overwritten by the cell's score.
  for (unsigned i = 0; i < rows; ++i) {
    if (lane < columns) cells[i + 1][lane + 1] = matches[size_t{row + i} * length + column + lane];
  }
  if (lane < rows) cells[lane + 1][0] = scores[size_t{row + lane + 1} * pitch + column];
  int above = 0, diagonally = 0;
  if (lane < columns) {
    above = scores[size_t{row} * pitch + column + lane + 1];
    diagonally = scores[size_t{row} * pitch + column + lane];
  }
  __syncthreads();
  for (unsigned step = 0; step < rows + columns - 1; ++step) {
    const unsigned i = step - lane;
    if (i < rows && lane < columns) {
      const int left = cells[i + 1][lane];
      above = max(diagonally + cells[i + 1][lane + 1], max(above, left) - penalty);
      cells[i + 1][lane + 1] = above;
      diagonally = left;
    }
    __syncthreads();
  }
  for (unsigned i = 0; i < rows; ++i) {
    if (lane < columns) scores[size_t{row + i + 1} * pitch + column + lane + 1] = cells[i + 1][lane + 1];
  }
}

int main(int argc, char** argv) {
  workload::Program program("nw", "Needleman-Wunsch alignment of two sequences", "LazyGPU (ISCA '25), Table 3: NW of Rodinia");
  int length = 0, penalty = 0;
  program.size(length, "length", "letters of each sequence", {192, 64, 1024}, 1, 30'000);
  program.size(penalty, "penalty", "of a gap", 10, 0, 1000);
  std::string form;
  program.choice(form, "form", "the kernels", {"tuned", "suite"}, std::string("tuned"));
  return program.run(argc, argv, [&] {
    constexpr size_t letters = 20;
    std::vector<int> table(letters * letters);
    for (size_t a = 0; a < letters; ++a) {
      for (size_t b = 0; b < a; ++b)
        table[a * letters + b] = table[b * letters + a] = static_cast<int>(program.random().below(8)) - 4;
      table[a * letters + a] = static_cast<int>(program.random().below(8)) + 4;
    }
    std::vector<size_t> first(length), second(length);
    for (size_t& letter : first) letter = program.random().below(letters);
    for (size_t& letter : second) letter = program.random().below(letters);
    const size_t size = length, pitch = size + 1;
    std::vector<int> matches(size * size), scores(pitch * pitch);
    for (size_t i = 0; i < matches.size(); ++i) matches[i] = table[first[i / size] * letters + second[i % size]];
    for (size_t i = 0; i < pitch; ++i) scores[i] = scores[i * pitch] = -static_cast<int>(i) * penalty;

    const workload::DeviceArray<int> device_matches("the match scores", matches), device_scores("the scores", scores);
    program.measure([&] {
      const unsigned tile = form == "suite" ? 16 : 64, tiles = workload::groups(size, tile);
      const auto kernel = form == "suite" ? align<16> : align<64>;
      for (unsigned diagonal = 0; diagonal < 2 * tiles - 1; ++diagonal) {
        const unsigned first_tile = diagonal < tiles ? 0 : diagonal - tiles + 1;
        const unsigned count = std::min(diagonal, tiles - 1) - first_tile + 1;
        kernel<<<count, tile>>>(device_scores.data(), device_matches.data(), length, diagonal, first_tile, penalty);
      }
    });
    if (!program.checks()) return;
    for (size_t i = 0; i < size; ++i) {
      for (size_t j = 0; j < size; ++j) {
        int* const cell = &scores[(i + 1) * pitch + j + 1];
        *cell = std::max(*(cell - pitch - 1) + matches[i * size + j], std::max(*(cell - pitch), *(cell - 1)) - penalty);
      }
    }
    program.check_equal("the score", device_scores.download(), scores);
  });
}
