#include "models/sida/matrix/occupancy.h"

#include <algorithm>
#include <numeric>

namespace lacuna::sida {
namespace {

double share(double part, std::uint64_t all) { return all == 0 ? 0 : 100 * part / static_cast<double>(all); }

}  // namespace

std::uint64_t Occupancy::peak() const { return steps.empty() ? 0 : *std::max_element(steps.begin(), steps.end()); }

double Occupancy::mean() const {
  if (steps.empty()) return 0;
  return std::accumulate(steps.begin(), steps.end(), 0.0) / static_cast<double>(steps.size());
}

double Occupancy::peak_share() const { return share(static_cast<double>(peak()), entries); }
double Occupancy::mean_share() const { return share(mean(), entries); }

Occupancy occupancy(const SparseMatrix& matrix, Index width) {
  if (!matrix.is_square()) throw MatrixError("only a square matrix can be used by two products of one pass");
  if (width == 0) throw MatrixError("a sub-tensor has at least one column");
  const std::size_t steps = (std::size_t{matrix.columns} + width - 1) / width;
  // Change in each step: an entry is added in the step of its column's sub-tensor, and removed two steps after that of its
  // row's sub-tensor.
  std::vector<std::int64_t> change(steps + 2);
  for (Index c = 0; c < matrix.columns; ++c) {
    const std::size_t comes = c / width;
    for (const Index r : matrix.column(c)) {
      const std::size_t goes = r / width + std::size_t{2};
      if (goes <= comes) continue;
      ++change[comes];
      --change[goes];
    }
  }
  Occupancy result{.steps = std::vector<std::uint64_t>(steps), .entries = matrix.entries()};
  std::int64_t kept = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    kept += change[step];
    result.steps[step] = static_cast<std::uint64_t>(kept);
  }
  return result;
}

double share_below_diagonal(const SparseMatrix& matrix) {
  std::uint64_t below = 0;
  for (Index c = 0; c < matrix.columns; ++c) {
    const auto rows = matrix.column(c);
    below += static_cast<std::uint64_t>(rows.end() - std::upper_bound(rows.begin(), rows.end(), c));
  }
  return share(static_cast<double>(below), matrix.entries());
}

std::uint64_t dual_bytes(const SparseMatrix& matrix, unsigned value_bytes) {
  const unsigned offset_bytes = matrix.entries() >> 32 != 0 ? 8 : 4;
  return (std::uint64_t{matrix.rows} + matrix.columns + 2) * offset_bytes +
         2 * matrix.entries() * (sizeof(Index) + value_bytes);
}

Blocks blocks(const SparseMatrix& matrix, Index side, unsigned value_bytes) {
  if (side == 0 || side > 256) throw MatrixError("the side of a block is 1 to 256, as coordinates within it have one byte");
  const auto in_blocks = [side](Index n) { return (std::uint64_t{n} + side - 1) / side; };
  Blocks result{.side = side, .count = 0, .bytes = 0};
  // 1 + the last column of blocks that had an entry, for each row of blocks.
  std::vector<std::uint64_t> seen(in_blocks(matrix.rows));
  for (Index c = 0; c < matrix.columns; ++c) {
    const std::uint64_t number = c / side + std::uint64_t{1};
    for (const Index r : matrix.column(c)) {
      std::uint64_t& last = seen[r / side];
      result.count += last != number ? 1 : 0;
      last = number;
    }
  }
  constexpr unsigned kListed = 2 * (4 + 4);
  result.bytes = matrix.entries() * (2 + value_bytes) + result.count * kListed +
                 4 * (in_blocks(matrix.rows) + in_blocks(matrix.columns) + 2);
  return result;
}

}  // namespace lacuna::sida
