// Products of a vector and a sparse matrix over a semiring: y(c) = sum over r of x(r) * A(r, c), or the same with the
// transpose.
//
// Terms are added in ascending order of r, beginning with the identity of the sum: for OS and for IS, dual and blocked storage
// alike. The hardware's adder tree has another order (docs/deviations/sida.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include "models/common/host/worker_threads.h"
#include "models/sida/program/program.h"

namespace lacuna::sida {

/// A vector that is whole on the host: elements with their features.
struct HostVector {
  std::vector<std::byte> values;
  std::vector<std::uint8_t> present;  ///< of each element; empty: all are

  const std::uint8_t* present_or_null() const { return present.empty() ? nullptr : present.data(); }
};

/// One product, whose sums are made some lines at a time (columns of A, or rows for the transpose).
class Product {
 public:
  virtual ~Product() = default;
  /// The same product with buffers of its own, for another thread.
  virtual std::unique_ptr<Product> copy() const = 0;
  /// Number of lines that are computed together: parts for several threads are cut at its multiples.
  virtual std::uint64_t lines_together() const = 0;
  /// Work of the lines before `line`, a multiple of lines_together(), or the end: entries, or blocks.
  virtual std::uint64_t work_before(std::uint64_t line) const = 0;
  /// Sums of lines first to first + count - 1, with all features, elements of lacuna_sida_sum_element(). Throws ProgramError
  /// for coordinates outside of the matrix, and for memory that is not there.
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

/// A product on several threads of the host, which share its lines. Results and errors are those of one thread.
class SharedProduct {
 public:
  /// `threads`: may be null.
  SharedProduct(std::unique_ptr<Product> product, WorkerThreads* threads);
  /// As Product::sums(). `line_bytes`: of the sums of a line.
  void sums(std::uint64_t first, std::uint64_t count, std::byte* out, std::uint64_t line_bytes);

 private:
  WorkerThreads* threads_;
  std::vector<std::unique_ptr<Product>> products_;  ///< of each thread
  std::vector<unsigned> numbers_;                   ///< of the threads
  std::vector<std::exception_ptr> errors_;          ///< of the part of each thread
};

}  // namespace lacuna::sida
