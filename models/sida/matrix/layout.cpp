#include "models/sida/matrix/layout.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

namespace lacuna::sida {
namespace {

template <class T>
std::uint64_t put(const PlaceArray& place, const std::vector<T>& array) {
  return place(std::as_bytes(std::span(array)));
}

std::uint64_t put_offsets(const PlaceArray& place, const std::vector<std::uint64_t>& offsets, unsigned bytes) {
  if (bytes == sizeof(std::uint64_t)) return put(place, offsets);
  return put(place, std::vector<std::uint32_t>(offsets.begin(), offsets.end()));
}

template <class T>
T element_value(double value) {
  if constexpr (std::is_integral_v<T>) {
    if (value != std::trunc(value) || value < static_cast<double>(std::numeric_limits<T>::min()) ||
        value > static_cast<double>(std::numeric_limits<T>::max())) {
      throw MatrixError("the value " + std::to_string(value) + " is not an integer of " + std::to_string(8 * sizeof(T)) +
                        " bits");
    }
  }
  return static_cast<T>(value);
}

/// Values of a matrix in the order of its entries by columns, or by rows, which begin at `row_offsets`. Of host memory, takes
/// that of one array.
template <class T>
std::uint64_t put_as(const PlaceArray& place, const SparseMatrix& matrix, const std::vector<std::uint64_t>* row_offsets,
                     T (*convert)(double)) {
  std::vector<T> out(matrix.indices.size(), T{1});
  if (!matrix.values.empty() && row_offsets == nullptr)
    std::transform(matrix.values.begin(), matrix.values.end(), out.begin(), convert);
  if (!matrix.values.empty() && row_offsets != nullptr) {
    std::vector<std::uint64_t> next(row_offsets->begin(), row_offsets->end() - 1);
    for (std::size_t i = 0; i < out.size(); ++i) out[next[matrix.indices[i]]++] = convert(matrix.values[i]);
  }
  return put(place, out);
}

std::uint64_t put_values(const PlaceArray& place, const SparseMatrix& matrix, const std::vector<std::uint64_t>* row_offsets,
                         const MatrixLayout& layout) {
  if (!layout.values) return 0;
  switch (layout.element) {
    case LACUNA_SIDA_F32:
      return put_as<float>(place, matrix, row_offsets, element_value<float>);
    case LACUNA_SIDA_I64:
      return put_as<std::int64_t>(place, matrix, row_offsets, element_value<std::int64_t>);
    case LACUNA_SIDA_I32:
      return put_as<std::int32_t>(place, matrix, row_offsets, element_value<std::int32_t>);
    case LACUNA_SIDA_I8:
      return put_as<std::int8_t>(place, matrix, row_offsets, element_value<std::int8_t>);
    case LACUNA_SIDA_BOOL:
      return put_as<std::uint8_t>(place, matrix, row_offsets,
                                  [](double value) { return static_cast<std::uint8_t>(value != 0); });
    default:
      if (row_offsets == nullptr && !matrix.values.empty()) return put(place, matrix.values);
      return put_as<double>(place, matrix, row_offsets, element_value<double>);
  }
}

/// Entries ordered by blocks, with their indices in the matrix.
struct BlockedEntries {
  std::vector<std::uint64_t> entries;          ///< indices of the matrix's entries, ordered by block, column and row
  std::vector<std::uint64_t> offsets{0};       ///< first entry of each block
  std::vector<Index> block_row, block_column;  ///< position of each block, ascending by column and then by row
  std::vector<std::uint8_t> row, column;       ///< position of each entry within its block
};

BlockedEntries in_blocks(const SparseMatrix& matrix, Index side) {
  BlockedEntries blocked;
  const std::uint64_t block_rows = (std::uint64_t{matrix.rows} + side - 1) / side;
  std::vector<std::vector<std::uint64_t>> line(block_rows);  // entries of each block in the current column of blocks
  std::vector<std::vector<std::uint8_t>> columns(block_rows);
  std::vector<Index> touched;
  for (std::uint64_t begin = 0; begin < matrix.columns; begin += side) {
    const std::uint64_t end = std::min<std::uint64_t>(begin + side, matrix.columns);
    for (std::uint64_t c = begin; c < end; ++c) {
      for (std::uint64_t e = matrix.offsets[c]; e < matrix.offsets[c + 1]; ++e) {
        const Index block = matrix.indices[e] / side;
        if (line[block].empty()) touched.push_back(block);
        line[block].push_back(e);
        columns[block].push_back(static_cast<std::uint8_t>(c - begin));
      }
    }
    std::sort(touched.begin(), touched.end());
    for (const Index block : touched) {
      for (std::size_t i = 0; i < line[block].size(); ++i) {
        blocked.entries.push_back(line[block][i]);
        blocked.row.push_back(static_cast<std::uint8_t>(matrix.indices[line[block][i]] % side));
        blocked.column.push_back(columns[block][i]);
      }
      blocked.offsets.push_back(blocked.entries.size());
      blocked.block_row.push_back(block);
      blocked.block_column.push_back(static_cast<Index>(begin / side));
      line[block].clear();
      columns[block].clear();
    }
    touched.clear();
  }
  return blocked;
}

/// Lists the blocks line by line. `line` and `coordinate` give the position of each block; coordinates ascend within a line.
lacuna_sida_order list_blocks(const std::vector<Index>& line, const std::vector<Index>& coordinate, std::uint64_t lines,
                              unsigned offset_bytes, const PlaceArray& place) {
  std::vector<std::uint64_t> offsets(lines + 1);
  for (const Index l : line) ++offsets[l + 1];
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  std::vector<std::uint64_t> next(offsets.begin(), offsets.end());
  std::vector<Index> coordinates(line.size()), numbers(line.size());
  for (std::size_t block = 0; block < line.size(); ++block) {
    const std::uint64_t at = next[line[block]]++;
    coordinates[at] = coordinate[block];
    numbers[at] = static_cast<Index>(block);
  }
  return {put_offsets(place, offsets, offset_bytes), put(place, coordinates), put(place, numbers)};
}

}  // namespace

lacuna_sida_matrix lay_out(const SparseMatrix& matrix, const MatrixLayout& layout, const PlaceArray& place) {
  lacuna_sida_matrix out{};
  out.rows = matrix.rows;
  out.columns = matrix.columns;
  out.entries = matrix.entries();
  out.element = static_cast<std::uint8_t>(layout.element);
  out.has_values = layout.values;
  out.offset_bytes = matrix.entries() > UINT32_MAX ? sizeof(std::uint64_t) : sizeof(std::uint32_t);
  out.layout = layout.blocked ? LACUNA_SIDA_BLOCKED : LACUNA_SIDA_DUAL;
  if (!layout.blocked) {
    out.by_columns = {put_offsets(place, matrix.offsets, out.offset_bytes), put(place, matrix.indices),
                      put_values(place, matrix, nullptr, layout)};
    SparseMatrix rows = transposed_pattern(matrix);
    out.by_rows.offsets = put_offsets(place, rows.offsets, out.offset_bytes);
    out.by_rows.coordinates = put(place, rows.indices);
    rows.indices = std::vector<Index>();  // unlike {}, this frees its memory
    out.by_rows.values = put_values(place, matrix, &rows.offsets, layout);
    return out;
  }
  constexpr Index kGreatestSide = 256;
  if (layout.block_side == 0 || layout.block_side > kGreatestSide) {
    throw MatrixError("blocks of side " + std::to_string(layout.block_side) + ": 1 to 256 are possible");
  }
  const BlockedEntries blocked = in_blocks(matrix, layout.block_side);
  out.block_side = layout.block_side;
  out.blocks = blocked.block_row.size();
  const auto lines = [&](std::uint64_t n) { return (n + layout.block_side - 1) / layout.block_side; };
  out.by_columns = list_blocks(blocked.block_column, blocked.block_row, lines(matrix.columns), out.offset_bytes, place);
  out.by_rows = list_blocks(blocked.block_row, blocked.block_column, lines(matrix.rows), out.offset_bytes, place);
  out.block_offsets = put(place, blocked.offsets);
  out.block_rows = put(place, blocked.row);
  out.block_columns = put(place, blocked.column);
  if (layout.values) {
    SparseMatrix values;
    values.indices.resize(blocked.entries.size());  // only their number is used
    if (!matrix.values.empty()) {
      values.values.reserve(blocked.entries.size());
      for (const std::uint64_t entry : blocked.entries) values.values.push_back(matrix.values[entry]);
    }
    out.block_values = put_values(place, values, nullptr, layout);
  }
  return out;
}

}  // namespace lacuna::sida
