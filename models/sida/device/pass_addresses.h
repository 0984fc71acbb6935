// Where the requests of a pass are in memory: the arrays behind the offsets of models/sida/pipeline/pass_memory.h.
//
// A request for n elements of a group of vectors is a range in each of them; one for entries of a matrix a range of coordinates
// and one of values. Partial sums and w that do not fit into the buffer take the addresses of the vector that their code
// stores, which holds nothing yet. Entries of a blocked matrix are at the places that they have in the order of its blocks, by
// columns, for both orders.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/sida/pipeline/pass_memory.h"
#include "models/sida/program/program.h"

namespace lacuna::sida {

/// Bytes in memory, contiguous.
struct AddressRange {
  std::uint64_t address;
  std::uint64_t bytes;
};

class PassAddresses {
 public:
  /// Vectors have the addresses that they have now.
  PassAddresses(const Program& program, const Pass& pass);

  /// Appends the ranges of a request.
  void find(const MemoryRequest& request, bool write, std::vector<AddressRange>& ranges) const;

 private:
  struct Array {
    std::uint64_t address;
    std::uint64_t element_bytes;
    std::uint64_t length;  ///< elements
  };
  /// Arrays of which a request takes the same elements.
  using Arrays = std::vector<Array>;
  struct Matrix {
    Arrays entries, blocks, offsets;
  };

  static void append(const Arrays& arrays, const MemoryRequest& request, std::vector<AddressRange>& ranges);
  const Arrays& vectors(Operand operand, bool write) const;

  std::array<Matrix, 2> matrix_;  ///< in the order of OS, and of IS
  Arrays load_, ewise_read_, ewise_written_, finish_read_, finish_written_, w_, z_;
};

}  // namespace lacuna::sida
