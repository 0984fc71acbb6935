// A matrix in memory, as read by products: all offsets are read in advance, entries some lines at a time; both are checked.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/sida/program/program.h"

namespace lacuna::sida {

/// One of the two orders of a matrix; for a blocked matrix, its list of blocks. A copy can be used by another thread.
class MatrixLines {
 public:
  /// `coordinates_end`: exclusive limit of valid coordinates; `name`: for messages. Throws ProgramError if offsets decrease, or
  /// do not begin with 0 and end with `entries`.
  MatrixLines(const Memory& memory, const lacuna_sida_order& order, std::uint64_t lines, std::uint64_t entries,
              unsigned offset_bytes, unsigned value_bytes, std::uint64_t coordinates_end, std::string name);

  std::uint64_t lines() const { return offsets_->size() - 1; }
  std::span<const std::uint64_t> offsets() const { return *offsets_; }

  struct Entries {
    std::span<const std::uint32_t> coordinates;
    const std::byte* values;  ///< null: the matrix has no values, or the lines have no entries
  };
  /// Entries of lines first to first + count - 1, valid until the next call. Throws ProgramError for coordinates that are out
  /// of range or do not ascend in their line.
  Entries read(std::uint64_t first, std::uint64_t count);

 private:
  void check(std::uint64_t first, std::uint64_t count, const std::uint32_t* coordinates) const;

  const Memory& memory_;
  lacuna_sida_order order_;
  unsigned value_bytes_;
  std::uint64_t coordinates_end_;
  std::string name_;
  std::shared_ptr<const std::vector<std::uint64_t>> offsets_;  ///< shared with copies
  std::vector<std::uint32_t> coordinates_;
  std::vector<std::byte> values_;
};

/// Elements of an array in memory, in place if possible, otherwise copied to `copy`. Valid until the mapping or `copy` changes.
template <class T>
const T* array_in(const Memory& memory, std::uint64_t address, std::uint64_t count, std::vector<T>& copy) {
  if (address % alignof(T) == 0) {
    if (const std::byte* const bytes = memory.view(address, count * sizeof(T))) return reinterpret_cast<const T*>(bytes);
  }
  if (copy.size() < count) copy.resize(count);
  memory.read(address, std::as_writable_bytes(std::span(copy).first(count)));
  return copy.data();
}

/// The order of a matrix of a program by columns or by rows.
MatrixLines matrix_lines(const Memory& memory, const Program& program, std::uint16_t matrix, bool by_rows);

}  // namespace lacuna::sida
