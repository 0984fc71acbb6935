#include "workloads/common/csr.h"

#include <algorithm>
#include <string>

#include "workloads/common/error.h"

namespace workload {
namespace {

// Returns a matrix with rows of the given lengths and distinct random columns.
Csr with_row_lengths(Random& random, const std::vector<unsigned>& lengths, std::size_t columns) {
  Csr matrix;
  matrix.offsets = {0};
  std::vector<unsigned> row;
  for (const unsigned length : lengths) {
    row.clear();
    while (row.size() < length) {
      for (std::size_t i = row.size(); i < length; ++i) row.push_back(static_cast<unsigned>(random.below(columns)));
      std::sort(row.begin(), row.end());
      row.erase(std::unique(row.begin(), row.end()), row.end());
    }
    matrix.columns.insert(matrix.columns.end(), row.begin(), row.end());
    matrix.offsets.push_back(static_cast<unsigned>(matrix.columns.size()));
  }
  return matrix;
}

}  // namespace

std::size_t Csr::longest_row() const {
  unsigned longest = 0;
  for (std::size_t row = 0; row < rows(); ++row) longest = std::max(longest, offsets[row + 1] - offsets[row]);
  return longest;
}

Csr random_csr(Random& random, std::size_t rows, std::size_t columns, std::size_t entries) {
  if (entries > rows * columns) {
    throw UsageError(std::to_string(rows) + " x " + std::to_string(columns) + " elements cannot have " +
                     std::to_string(entries) + " entries");
  }
  std::vector<unsigned> lengths(rows);
  for (std::size_t i = 0; i < entries;) {
    unsigned& length = lengths[random.below(rows)];
    if (length == columns) continue;
    ++length;
    ++i;
  }
  return with_row_lengths(random, lengths, columns);
}

Csr random_regular_csr(Random& random, std::size_t rows, std::size_t columns, std::size_t degree) {
  if (degree > columns) {
    throw UsageError("a row of " + std::to_string(columns) + " elements cannot have " + std::to_string(degree) + " entries");
  }
  return with_row_lengths(random, std::vector<unsigned>(rows, static_cast<unsigned>(degree)), columns);
}

unsigned lanes_for_rows(const Csr& matrix) {
  const std::size_t average = matrix.entries() / std::max<std::size_t>(1, matrix.rows());
  return average < 3 ? 1 : average < 12 ? 4 : average < 48 ? 16 : 64;
}

}  // namespace workload
