// Products of a vector and a sparse matrix over a semiring: y(c) = sum over r of x(r) * A(r, c), or the same with the
// transpose.
//
// Terms are added in ascending order of r to the identity of the sum, for OS and IS, and for dual and blocked storage. The
// hardware's adder tree uses another order (docs/deviations/sida.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include "models/common/host/worker_threads.h"
#include "models/sida/program/program.h"

namespace lacuna::sida {

/// A complete vector in host memory: elements with their features.
struct HostVector {
  std::vector<std::byte> values;
  std::vector<std::uint8_t> present;  ///< whether each element is present; empty: all are

  const std::uint8_t* present_or_null() const { return present.empty() ? nullptr : present.data(); }
};

/// A product whose sums are computed some lines at a time (columns of A, or rows for the transpose).
class Product {
 public:
  virtual ~Product() = default;
  /// A copy of the product with separate buffers, for another thread.
  virtual std::unique_ptr<Product> copy() const = 0;
  /// Granularity, in lines, of the division among threads: each thread's part begins at a multiple of this number.
  virtual std::uint64_t lines_together() const = 0;
  /// Work of the lines before `line`, in entries or blocks. `line` must be a multiple of lines_together(), or the end.
  virtual std::uint64_t work_before(std::uint64_t line) const = 0;
  /// Computes the sums of lines first to first + count - 1, with all features, in elements of lacuna_sida_sum_element(). Throws
  /// ProgramError for unmapped memory, and for coordinates that are outside of the matrix or do not ascend.
  virtual void sums(std::uint64_t first, std::uint64_t count, std::byte* out) = 0;
};

struct ProductKind {
  std::uint16_t matrix;
  bool transposed;
  unsigned semiring, element;
  std::uint32_t width;  ///< number of features of an element
};

/// `x` must outlive the product. Throws ProgramError if offsets decrease, or do not begin with 0 and end with the number of
/// entries (or blocks).
std::unique_ptr<Product> make_product(const Memory& memory, const Program& program, const ProductKind& kind,
                                      const HostVector& x);

/// A product whose lines are divided among host threads. Results and errors do not depend on the number of threads.
class SharedProduct {
 public:
  /// `threads` may be null.
  SharedProduct(std::unique_ptr<Product> product, WorkerThreads* threads);
  /// Like Product::sums(). `line_bytes`: bytes of the sums of a line.
  void sums(std::uint64_t first, std::uint64_t count, std::byte* out, std::uint64_t line_bytes);

 private:
  WorkerThreads* threads_;
  std::vector<std::unique_ptr<Product>> products_;  ///< one copy of the product per thread
  std::vector<unsigned> numbers_;                   ///< 0, 1, 2, ...: indices of products_, passed to the threads
  std::vector<std::exception_ptr> errors_;          ///< error of each thread's part
};

}  // namespace lacuna::sida
