// Products of a vector and a sparse matrix over a semiring: y(c) = sum over r of x(r) * A(r, c), or the same with the
// transpose.
//
// Terms are added in ascending order of r, beginning with the identity of the sum: for OS and for IS, dual and blocked storage
// alike. The hardware's adder tree has another order (docs/DEVIATIONS.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/sida/program/program.h"

namespace lacuna::sida {

/// A vector that is whole on the host: elements with their features.
struct HostVector {
  std::vector<std::byte> values;
  std::vector<std::uint8_t> present;  ///< of each element; empty: all are

  const std::uint8_t* present_or_null() const { return present.empty() ? nullptr : present.data(); }
};

/// One product, whose sums are made in ascending order of the lines (columns of A, or rows for the transpose), some at a time.
class Product {
 public:
  virtual ~Product() = default;
  /// Sums of lines first to first + count - 1, with all features, elements of lacuna_sida_sum_element(). To be called for all
  /// lines in ascending order. Throws ProgramError for coordinates outside of the matrix, and for memory that is not there.
  virtual void sums(std::uint64_t first, std::uint64_t count, std::byte* out) = 0;
};

struct ProductKind {
  std::uint16_t matrix;
  bool transposed;
  unsigned semiring, element;
  std::uint32_t width;  ///< features of an element
};

/// `x` must remain. Throws ProgramError for offsets that fall or do not end at the matrix' entries.
std::unique_ptr<Product> make_product(const Memory& memory, const Program& program, const ProductKind& kind,
                                      const HostVector& x);

}  // namespace lacuna::sida
