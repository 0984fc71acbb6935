// Translates the requests of a pass, whose offsets are relative to arrays (models/sida/pipeline/pass_memory.h), to addresses.
//
// A request for n elements of a group of vectors becomes one range in each vector. A request for entries of a matrix becomes a
// range of coordinates and a range of values. Spilled w and partial sums z use the addresses of the first vector that E-wise
// or finish code stores, which has not been written yet. A blocked matrix stores its entries once, by blocks in column order;
// requests in either order use these addresses.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/sida/pipeline/pass_memory.h"
#include "models/sida/program/program.h"

namespace lacuna::sida {

/// A contiguous range of bytes in memory.
struct AddressRange {
  std::uint64_t address;
  std::uint64_t bytes;
};

class PassAddresses {
 public:
  /// Copies the current addresses of the vectors; later swaps have no effect.
  PassAddresses(const Program& program, const Pass& pass);

  /// Appends the address ranges of a request.
  void find(const MemoryRequest& request, bool write, std::vector<AddressRange>& ranges) const;

 private:
  struct Array {
    std::uint64_t address;
    std::uint64_t element_bytes;
    std::uint64_t length;  ///< number of elements
  };
  /// Arrays whose elements of equal index are requested together.
  using Arrays = std::vector<Array>;
  struct Matrix {
    Arrays entries, blocks, offsets;
  };

  static void append(const Arrays& arrays, const MemoryRequest& request, std::vector<AddressRange>& ranges);
  const Arrays& vectors(Operand operand, bool write) const;

  std::array<Matrix, 2> matrix_;  ///< addresses of the matrix in the order of OS, then in that of IS
  Arrays load_, ewise_read_, ewise_written_, finish_read_, finish_written_, w_, z_;
};

}  // namespace lacuna::sida
