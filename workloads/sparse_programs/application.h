// A program of the sparse dataflow accelerator (lacuna/sida_applications.h) on a matrix: what a GPU needs of both, the result
// of one operation after the other, and the same program as a job of the accelerator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "workloads/common/csr.h"

namespace workload {

/// A matrix by rows, or the transpose of one by columns.
struct SparseValues {
  Csr pattern;
  std::vector<double> values;  ///< of each entry; ones where the program uses ones
};

struct ApplicationSetup {
  std::string program, matrix, order;
  std::uint64_t iterations = 0;  ///< at most; 0: the program's own limit
  std::uint32_t source = 0, features = 0;
};

struct ApplicationResult {
  std::uint64_t iterations = 0;
  std::vector<std::byte> bytes;  ///< of the state that is the program's result
  /// The bytes as elements.
  template <typename T>
  std::vector<T> elements() const {
    const T* const begin = reinterpret_cast<const T*>(bytes.data());
    return {begin, begin + bytes.size() / sizeof(T)};
  }
};

class Application {
 public:
  /// Reads or makes the matrix and orders it. Throws a UsageError for names, files and matrices that are wrong.
  explicit Application(const ApplicationSetup& setup);
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;
  ~Application();

  unsigned rows() const;
  unsigned columns() const;
  /// Of gcn.
  unsigned features() const;
  std::uint64_t entries() const;
  /// Most iterations.
  std::uint64_t limit() const;
  /// For x A: the entries of each column.
  SparseValues by_columns() const;
  /// For A x, and for the edges that leave a vertex: the entries of each row.
  SparseValues by_rows() const;
  /// Contents of an input, or the first value of a state, with `count` elements.
  template <typename T>
  std::vector<T> contents(const std::string& name, std::size_t count) const {
    std::vector<T> values(count);
    fill(name, values.data());
    return values;
  }
  /// Of cg, bgs and gmres: what is added to the diagonal, and the square of the residual's norm at which they end.
  double shift() const;
  double residual_limit() const;

  ApplicationResult reference() const;

 private:
  friend class AcceleratorJob;
  struct State;

  void fill(const std::string& name, void* contents) const;

  std::unique_ptr<State> state_;
};

/// The program as a job in a queue of the HSA runtime.
class AcceleratorJob {
 public:
  /// Copies matrix, vectors and program into the GPU's memory. `block_side`: of blocked storage; 0: dual.
  AcceleratorJob(const Application& application, unsigned block_side);
  AcceleratorJob(const AcceleratorJob&) = delete;
  AcceleratorJob& operator=(const AcceleratorJob&) = delete;
  ~AcceleratorJob();

  /// Submits the job and waits for its completion. Throws an Error if the GPU has no accelerator or refuses the job.
  void run();
  ApplicationResult result() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace workload
