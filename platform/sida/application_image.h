// An application of lacuna/sida_applications.h and a host matrix, laid out in the accelerator's memory: graph, plan, matrix,
// vectors, program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "include/lacuna/sida_applications.h"
#include "models/sida/matrix/layout.h"
#include "models/sida/matrix/sparse_matrix.h"

namespace lacuna {

/// A setup that consists of the matrix only. The matrix must outlive the setup.
lacuna_sida_setup setup_of(const sida::SparseMatrix& matrix);

struct ApplicationOptions {
  lacuna_sida_fusion fusion = LACUNA_SIDA_FUSION_AUTO;
  bool blocked = false;
  sida::Index block_side = 256;
  // Parameters of lacuna_sida_setup; 0: the application's default.
  std::uint64_t limit = 0;
  std::uint32_t source = 0, features = 0;
  double tolerance = 0;
};

class ApplicationImage {
 public:
  /// Places bytes, aligned to 16 bytes, in memory that the accelerator can read and, if `writable`, write. Returns the address.
  using Put = std::function<std::uint64_t(std::span<const std::byte> bytes, bool writable)>;
  /// Reads bytes at an address of the memory in which Put places bytes.
  using Read = std::function<void(std::uint64_t address, std::span<std::byte> bytes)>;

  /// `matrix` must not change until the last call of reference(); other functions do not use it. Throws sida::MatrixError if
  /// the application does not support the matrix, or if the source row does not exist.
  ApplicationImage(const lacuna_sida_application& application, const sida::SparseMatrix& matrix,
                   const ApplicationOptions& options, const Put& put);

  const lacuna_sida_application& application() const { return application_; }
  const lacuna_sida_graph& graph() const { return *graph_; }
  const lacuna_sida_plan& plan() const { return *plan_; }
  const std::vector<lacuna_sida_matrix>& stored() const { return stored_; }
  /// Address of the program.
  std::uint64_t program() const { return program_; }

  struct Result {
    std::uint64_t iterations = 0;
    std::vector<std::byte> bytes;  ///< contents of the state that is the application's result
  };
  /// Reads the result after a job.
  Result result(const Read& read) const;
  /// Computes the reference result by executing one operation at a time.
  Result reference() const;

 private:
  struct Destroy {
    void operator()(lacuna_sida_graph* graph) const { lacuna_sida_destroy(graph); }
    void operator()(lacuna_sida_plan* plan) const { lacuna_sida_plan_destroy(plan); }
  };

  const lacuna_sida_application& application_;
  const sida::SparseMatrix& matrix_;
  lacuna_sida_setup setup_{};
  std::unique_ptr<lacuna_sida_graph, Destroy> graph_;
  std::unique_ptr<lacuna_sida_plan, Destroy> plan_;
  std::vector<lacuna_sida_matrix> stored_;
  std::uint64_t program_ = 0, program_bytes_ = 0;
  lacuna_sida_value result_state_ = LACUNA_SIDA_NO_VALUE;
};

}  // namespace lacuna
