#include "models/sida/pipeline/lifetimes.h"

namespace lacuna::sida {
namespace {

LineLives none(std::uint64_t length, unsigned element_bytes, unsigned line_bytes) {
  const LineGeometry lines(length, element_bytes, line_bytes);
  return {lines, std::vector<std::uint32_t>(lines.lines(), StepLists::kNever), std::vector<std::uint32_t>(lines.lines())};
}

/// Extends the life of each element to the steps that use lines of `order` with the element's coordinate: a line is used `lag`
/// steps after OS uses its sub-tensor.
void use_by_coordinate(LineLives& lives, const LineOrder& order, std::uint64_t sub_tensor, std::uint64_t lag) {
  for (std::uint64_t line = 0; line < order.lines(); ++line) {
    const std::uint64_t step = line / sub_tensor + lag;
    for (const Index element : order.line(line)) lives.use(element, step, step);
  }
}

}  // namespace

StepLists::StepLists(std::span<const std::uint32_t> step_of, std::uint64_t steps) : offsets_(steps + 1) {
  for (const std::uint32_t step : step_of) {
    if (step != kNever) ++offsets_[step + 1];
  }
  for (std::uint64_t step = 0; step < steps; ++step) offsets_[step + 1] += offsets_[step];
  lines_.resize(offsets_[steps]);
  std::vector<Index> next(offsets_.begin(), offsets_.end());
  for (std::size_t line = 0; line < step_of.size(); ++line) {
    if (step_of[line] != kNever) lines_[next[step_of[line]]++] = static_cast<Index>(line);
  }
}

LineLives x_lives(const PassShape& shape, std::uint64_t sub_tensor, unsigned line_bytes) {
  LineLives lives = none(shape.has_os ? shape.x_length : 0, shape.x_bytes, line_bytes);
  if (!shape.has_os) return lives;
  const bool by_rows = !shape.same_lines && shape.is.lines() == shape.x_length && shape.is.entries() == shape.os.entries();
  if (!by_rows) {
    use_by_coordinate(lives, shape.os, sub_tensor, 0);
    return lives;
  }
  for (std::uint64_t row = 0; row < shape.is.lines(); ++row) {
    const auto columns = shape.is.line(row);
    if (!columns.empty()) lives.use(row, columns.front() / sub_tensor, columns.back() / sub_tensor);
  }
  return lives;
}

LineLives w_lives(const PassShape& shape, std::uint64_t sub_tensor, unsigned line_bytes) {
  LineLives lives = none(shape.has_is ? shape.y_length : 0, shape.w_bytes, line_bytes);
  if (!shape.has_is) return lives;
  const LineOrder& order = shape.is_order();
  for (std::uint64_t row = 0; row < order.lines(); ++row) {
    const auto columns = order.line(row);
    if (columns.empty()) continue;
    const std::uint64_t due = row / sub_tensor + 2;
    lives.use(row, due - 1, shape.same_lines ? due : std::max<std::uint64_t>(due, columns.back() / sub_tensor));
  }
  return lives;
}

LineLives z_lives(const PassShape& shape, std::uint64_t sub_tensor, unsigned line_bytes) {
  LineLives lives = none(shape.has_is ? shape.z_length : 0, shape.z_bytes, line_bytes);
  if (!shape.has_is) return lives;
  // Step in which a sum without entries is finished, no later than the step of the last line.
  const std::uint64_t sub_tensors = (shape.y_length + sub_tensor - 1) / sub_tensor;
  const auto without_entries = [&](std::uint64_t sum) {
    return sub_tensors == 0 ? 0 : std::min(sum / sub_tensor + 2, sub_tensors + 1);
  };
  if (shape.same_lines) {
    use_by_coordinate(lives, shape.os, sub_tensor, 2);
    for (Index line = 0; line < lives.lines.lines(); ++line) {
      if (lives.first[line] == StepLists::kNever)
        lives.use(lives.lines.first_of(line), without_entries(lives.lines.first_of(line)),
                  without_entries(lives.lines.first_of(line)));
    }
    return lives;
  }
  for (std::uint64_t column = 0; column < shape.os.lines(); ++column) {
    const auto rows = shape.os.line(column);
    const std::uint64_t comes = column / sub_tensor;
    if (rows.empty()) {
      lives.use(column, without_entries(column), without_entries(column));
    } else {
      lives.use(column, std::max<std::uint64_t>(comes, rows.front() / sub_tensor + 2),
                std::max<std::uint64_t>(comes, rows.back() / sub_tensor + 2));
    }
  }
  return lives;
}

}  // namespace lacuna::sida
