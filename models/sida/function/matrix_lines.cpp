#include "models/sida/function/matrix_lines.h"

#include <algorithm>

namespace lacuna::sida {

MatrixLines::MatrixLines(const Memory& memory, const lacuna_sida_order& order, std::uint64_t lines, std::uint64_t entries,
                         unsigned offset_bytes, unsigned value_bytes, std::uint64_t coordinates_end, std::string name)
    : memory_(memory), order_(order), value_bytes_(value_bytes), coordinates_end_(coordinates_end), name_(std::move(name)) {
  std::vector<std::uint64_t> offsets(lines + 1);
  if (offset_bytes == sizeof(std::uint64_t)) {
    memory.read(order.offsets, std::as_writable_bytes(std::span(offsets)));
  } else {
    std::vector<std::uint32_t> narrow(lines + 1);
    memory.read(order.offsets, std::as_writable_bytes(std::span(narrow)));
    std::copy(narrow.begin(), narrow.end(), offsets.begin());
  }
  const auto wrong = [&](std::uint64_t line, const std::string& what) {
    throw ProgramError(LACUNA_SIDA_ERROR_OFFSETS, name_ + ": offset " + std::to_string(line) + " " + what,
                       order.offsets + line * offset_bytes);
  };
  if (offsets.front() != 0) wrong(0, "is " + std::to_string(offsets.front()) + ", not 0");
  for (std::uint64_t line = 0; line < lines; ++line) {
    if (offsets[line + 1] < offsets[line]) wrong(line + 1, "is less than the one before");
  }
  if (offsets.back() != entries) {
    wrong(lines, "is " + std::to_string(offsets.back()) + ", there are " + std::to_string(entries) + " entries");
  }
  offsets_ = std::make_shared<const std::vector<std::uint64_t>>(std::move(offsets));
}

MatrixLines::Entries MatrixLines::read(std::uint64_t first, std::uint64_t count) {
  const std::vector<std::uint64_t>& offsets = *offsets_;
  const std::uint64_t begin = offsets[first], entries = offsets[first + count] - begin;
  const std::uint32_t* const coordinates =
      array_in(memory_, order_.coordinates + begin * sizeof(std::uint32_t), entries, coordinates_);
  check(first, count, coordinates);
  const bool has_values = order_.values != 0 && value_bytes_ != 0 && entries != 0;
  return {{coordinates, entries},
          has_values ? array_in(memory_, order_.values + begin * value_bytes_, entries * value_bytes_, values_) : nullptr};
}

void MatrixLines::check(std::uint64_t first, std::uint64_t count, const std::uint32_t* coordinates) const {
  const std::vector<std::uint64_t>& offsets = *offsets_;
  for (std::uint64_t line = first; line < first + count; ++line) {
    const std::uint32_t* const begin = coordinates + (offsets[line] - offsets[first]);
    const std::uint64_t entries = offsets[line + 1] - offsets[line];
    bool right = entries == 0 || begin[entries - 1] < coordinates_end_;
    for (std::uint64_t e = 1; e < entries; ++e) right &= begin[e - 1] < begin[e];
    if (right) continue;
    std::uint64_t e = 0;
    while (begin[e] < coordinates_end_ && (e == 0 || begin[e - 1] < begin[e])) ++e;
    throw ProgramError(
        LACUNA_SIDA_ERROR_COORDINATE,
        name_ + ": entry " + std::to_string(e) + " of line " + std::to_string(line) + " has coordinate " +
            std::to_string(begin[e]) +
            (begin[e] < coordinates_end_ ? ", not above the one before" : ", there are " + std::to_string(coordinates_end_)),
        order_.coordinates + (offsets[line] + e) * sizeof(std::uint32_t));
  }
}

MatrixLines matrix_lines(const Memory& memory, const Program& program, std::uint16_t matrix, bool by_rows) {
  const lacuna_sida_matrix& m = program.matrices[matrix];
  const bool blocked = m.layout == LACUNA_SIDA_BLOCKED;
  const auto lines_of = [&](std::uint64_t n) { return blocked ? (n + m.block_side - 1) / m.block_side : n; };
  const unsigned value_bytes = blocked ? sizeof(std::uint32_t) : m.has_values == 1 ? lacuna_sida_element_bytes(m.element) : 0;
  return MatrixLines(memory, by_rows ? m.by_rows : m.by_columns, lines_of(by_rows ? m.rows : m.columns),
                     blocked ? m.blocks : m.entries, m.offset_bytes, value_bytes, lines_of(by_rows ? m.columns : m.rows),
                     "matrix " + std::to_string(matrix) + (by_rows ? " by rows" : " by columns"));
}

}  // namespace lacuna::sida
