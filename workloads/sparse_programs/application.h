// A program of the sparse dataflow accelerator (lacuna/sida_applications.h) on a matrix: its data for GPU kernels, its result
// according to the reference, which executes one operation at a time, and the same program as a job of the accelerator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "workloads/common/csr.h"

namespace workload {

/// A matrix stored by rows, or, for a matrix stored by columns, its transpose stored by rows.
struct SparseValues {
  Csr pattern;
  std::vector<double> values;  ///< value of each entry; all 1 if the program does not use values
};

struct ApplicationSetup {
  std::string program, matrix, order;
  std::uint64_t iterations = 0;  ///< maximum number of iterations; 0: the program's default
  std::uint32_t source = 0, features = 0;
};

struct ApplicationResult {
  std::uint64_t iterations = 0;
  std::vector<std::byte> bytes;  ///< contents of the state that is the program's result
  /// Returns the contents as elements of type T.
  template <typename T>
  std::vector<T> elements() const {
    const T* const begin = reinterpret_cast<const T*>(bytes.data());
    return {begin, begin + bytes.size() / sizeof(T)};
  }
};

class Application {
 public:
  /// Reads or generates the matrix and permutes it. Throws a UsageError for invalid names, files and matrices.
  explicit Application(const ApplicationSetup& setup);
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;
  ~Application();

  unsigned rows() const;
  unsigned columns() const;
  /// Number of features; gcn only.
  unsigned features() const;
  std::uint64_t entries() const;
  /// Maximum number of iterations.
  std::uint64_t limit() const;
  /// The entries of each column, for x A.
  SparseValues by_columns() const;
  /// The entries of each row, for A x and for the outgoing edges of a vertex.
  SparseValues by_rows() const;
  /// Contents of an input, or the initial value of a state, with `count` elements.
  template <typename T>
  std::vector<T> contents(const std::string& name, std::size_t count) const {
    std::vector<T> values(count);
    fill(name, values.data());
    return values;
  }
  /// Only for cg, bgs and gmres: shift() is added to the diagonal; residual_limit() is the squared norm of the residual at
  /// which the program ends.
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
  /// Copies matrix, vectors and program to GPU memory. `block_side`: side of the blocks of blocked storage; 0: dual storage.
  AcceleratorJob(const Application& application, unsigned block_side);
  AcceleratorJob(const AcceleratorJob&) = delete;
  AcceleratorJob& operator=(const AcceleratorJob&) = delete;
  ~AcceleratorJob();

  /// Submits the job and waits for its completion. Throws an Error if the GPU has no accelerator or rejects the job.
  void run();
  ApplicationResult result() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace workload
