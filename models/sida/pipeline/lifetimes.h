// Steps in which the lines of x, w (x' of the thesis) and the partial sums z must be in the buffer. T: columns of a sub-tensor.
//
//   x   from the step before that of its first column (fetched while the previous sub-tensor is used) to the step of its
//       last column; with `preload` from step 0
//   w   from the step of E-wise, i / T + 1, to the last use of an entry in its row; never if the row is empty
//   z   from the first to the last use of an entry in its column; a sum without entries is finished in step c / T + 2
//
// IS uses the entry (r, c) in step max(c / T, r / T + 2), or for a pair (A, A^T) line l in step l / T + 2. A line is in the
// buffer as long as any of its elements must be. The thesis does not count vectors in Table 4.1, but they occupy the buffer.
//
// Host time: O(rows + columns), as coordinates ascend; O(entries) for x and z of passes that have one order only. Host memory:
// 8 bytes per line, and 4 for each StepLists that has the line.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "models/sida/pipeline/parameters.h"

namespace lacuna::sida {

/// Lines by step, ascending within a step.
class StepLists {
 public:
  StepLists() = default;
  /// step_of[line]: step to whose list the line belongs, less than `steps`; kNever: the line is in no list.
  StepLists(std::span<const std::uint32_t> step_of, std::uint64_t steps);
  std::span<const Index> at(std::uint64_t step) const {
    if (step + 1 >= offsets_.size()) return {};
    return {lines_.data() + offsets_[step], lines_.data() + offsets_[step + 1]};
  }

  static constexpr std::uint32_t kNever = 0xffffffff;

 private:
  std::vector<Index> offsets_, lines_;
};

struct LineLives {
  LineGeometry lines;
  std::vector<std::uint32_t> first, last;  ///< first and last step of each line; `first` is kNever for unused lines

  void use(std::uint64_t element, std::uint64_t first_step, std::uint64_t last_step) {
    const Index line = lines.line_of(element);
    first[line] = std::min(first[line], static_cast<std::uint32_t>(first_step));
    last[line] = std::max(last[line], static_cast<std::uint32_t>(last_step));
  }
};

/// Lives of the lines of x: `first` is the step of the first column; the line is in the buffer from the previous step on.
LineLives x_lives(const PassShape& shape, std::uint64_t sub_tensor, unsigned line_bytes);
LineLives w_lives(const PassShape& shape, std::uint64_t sub_tensor, unsigned line_bytes);
LineLives z_lives(const PassShape& shape, std::uint64_t sub_tensor, unsigned line_bytes);

}  // namespace lacuna::sida
