#include "models/sida/machine/stored_orders.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

#include "models/sida/function/matrix_lines.h"

namespace lacuna::sida {

StoredOrders::StoredOrders(const Memory& memory, const Program& program, std::uint16_t matrix) {
  if (program.matrices[matrix].layout == LACUNA_SIDA_BLOCKED) {
    read_blocks(memory, program, matrix);
  } else {
    read_dual(memory, program, matrix);
  }
}

/// Returns the entries of columns_ ordered by rows; the columns of each row ascend.
StoredOrders::Lines StoredOrders::rows_of_columns(std::uint64_t rows) const {
  Lines out{std::vector<std::uint64_t>(rows + 1), std::vector<Index>(columns_.coordinates.size())};
  for (const Index row : columns_.coordinates) ++out.offsets[row + 1];
  std::partial_sum(out.offsets.begin(), out.offsets.end(), out.offsets.begin());
  std::vector<std::uint64_t> next(out.offsets.begin(), out.offsets.end() - 1);
  for (std::uint64_t column = 0; column + 1 < columns_.offsets.size(); ++column) {
    for (std::uint64_t e = columns_.offsets[column]; e < columns_.offsets[column + 1]; ++e)
      out.coordinates[next[columns_.coordinates[e]]++] = static_cast<Index>(column);
  }
  return out;
}

void StoredOrders::read_dual(const Memory& memory, const Program& program, std::uint16_t matrix) {
  const auto copy = [&](bool by_rows) {
    MatrixLines lines = matrix_lines(memory, program, matrix, by_rows);
    const auto entries = lines.read(0, lines.lines());
    return Lines{{lines.offsets().begin(), lines.offsets().end()}, {entries.coordinates.begin(), entries.coordinates.end()}};
  };
  columns_ = copy(false);
  rows_ = copy(true);
  const auto wrong = [&](std::uint64_t address, const std::string& what) {
    throw ProgramError(LACUNA_SIDA_ERROR_ORDERS, "matrix " + std::to_string(matrix) + ": " + what, address);
  };
  const lacuna_sida_matrix& m = program.matrices[matrix];
  std::vector<std::uint64_t> next(m.rows + 1);  // first entry of each row by columns, then the next one to be compared
  for (const Index row : columns_.coordinates) ++next[row + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (std::uint64_t row = 0; row < m.rows; ++row) {
    if (rows_.offsets[row + 1] == next[row + 1]) continue;
    wrong(m.by_rows.offsets + (row + 1) * m.offset_bytes,
          "row " + std::to_string(row) + " has " + std::to_string(rows_.offsets[row + 1] - rows_.offsets[row]) +
              " entries by rows and " + std::to_string(next[row + 1] - next[row]) + " by columns");
  }
  std::uint64_t first = m.entries;  // entry by rows
  Index expected = 0;
  for (std::uint64_t column = 0; column + 1 < columns_.offsets.size(); ++column) {
    for (std::uint64_t e = columns_.offsets[column]; e < columns_.offsets[column + 1]; ++e) {
      const std::uint64_t entry = next[columns_.coordinates[e]]++;
      if (rows_.coordinates[entry] == column || entry >= first) continue;
      first = entry;
      expected = static_cast<Index>(column);
    }
  }
  if (first == m.entries) return;
  wrong(m.by_rows.coordinates + first * sizeof(Index), "entry " + std::to_string(first) + " by rows is in column " +
                                                           std::to_string(rows_.coordinates[first]) + ", by columns in " +
                                                           std::to_string(expected));
}

void StoredOrders::read_blocks(const Memory& memory, const Program& program, std::uint16_t matrix) {
  const lacuna_sida_matrix& m = program.matrices[matrix];
  MatrixLines list = matrix_lines(memory, program, matrix, false);
  std::vector<std::uint64_t> block_offsets(m.blocks + 1);
  memory.read(m.block_offsets, std::as_writable_bytes(std::span(block_offsets)));
  std::vector<std::uint8_t> block_rows(m.entries), block_columns(m.entries);
  memory.read(m.block_rows, std::as_writable_bytes(std::span(block_rows)));
  memory.read(m.block_columns, std::as_writable_bytes(std::span(block_columns)));
  const auto entries = list.read(0, list.lines());
  const std::uint32_t* const numbers = reinterpret_cast<const std::uint32_t*>(entries.values);
  // Order by columns: count the column lengths first, then insert the rows block by block. In a column of blocks, blocks
  // ascend by row.
  columns_.offsets.assign(m.columns + 1, 0);
  columns_.coordinates.resize(m.entries);
  const auto for_each = [&](const auto& visit) {
    for (std::uint64_t line = 0; line < list.lines(); ++line) {
      for (std::uint64_t i = list.offsets()[line]; i < list.offsets()[line + 1]; ++i) {
        const std::uint64_t block = numbers[i];
        if (block >= m.blocks || block_offsets[block] > block_offsets[block + 1] || block_offsets[block + 1] > m.entries)
          throw ProgramError(
              LACUNA_SIDA_ERROR_OFFSETS,
              "matrix " + std::to_string(matrix) + ": block " + std::to_string(block) + " is not among its blocks",
              m.by_columns.values + i * sizeof(std::uint32_t));
        for (std::uint64_t e = block_offsets[block]; e < block_offsets[block + 1]; ++e) {
          const std::uint64_t row = std::uint64_t{entries.coordinates[i]} * m.block_side + block_rows[e],
                              column = line * m.block_side + block_columns[e];
          if (row >= m.rows || column >= m.columns)
            throw ProgramError(
                LACUNA_SIDA_ERROR_COORDINATE,
                "matrix " + std::to_string(matrix) + ": entry " + std::to_string(e) + " of its blocks is outside",
                m.block_rows + e);
          visit(row, column);
        }
      }
    }
  };
  for_each([&](std::uint64_t, std::uint64_t column) { ++columns_.offsets[column + 1]; });
  std::partial_sum(columns_.offsets.begin(), columns_.offsets.end(), columns_.offsets.begin());
  if (columns_.offsets.back() != m.entries)
    throw ProgramError(LACUNA_SIDA_ERROR_OFFSETS,
                       "matrix " + std::to_string(matrix) + ": the list of blocks does not have each once",
                       m.by_columns.values);
  std::vector<std::uint64_t> next(columns_.offsets.begin(), columns_.offsets.end() - 1);
  for_each([&](std::uint64_t row, std::uint64_t column) { columns_.coordinates[next[column]++] = static_cast<Index>(row); });
  for (std::uint64_t column = 0; column < m.columns; ++column) {
    const auto first = columns_.coordinates.begin() + static_cast<std::ptrdiff_t>(columns_.offsets[column]),
               last = columns_.coordinates.begin() + static_cast<std::ptrdiff_t>(columns_.offsets[column + 1]);
    if (std::adjacent_find(first, last, std::greater_equal<>()) != last)
      throw ProgramError(
          LACUNA_SIDA_ERROR_COORDINATE,
          "matrix " + std::to_string(matrix) + ": rows of column " + std::to_string(column) + " do not ascend in its blocks",
          m.block_rows);
  }
  rows_ = rows_of_columns(m.rows);
}

}  // namespace lacuna::sida
