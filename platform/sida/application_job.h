// An application of lacuna/sida_applications.h on a matrix of the host: graph, plan, memory, program, and the job pass by pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "include/lacuna/sida_applications.h"
#include "models/sida/function/host_memory.h"
#include "models/sida/function/job.h"
#include "models/sida/matrix/layout.h"
#include "models/sida/matrix/sparse_matrix.h"

namespace lacuna {

/// A setup with that matrix and nothing else. The matrix must remain.
lacuna_sida_setup setup_of(const sida::SparseMatrix& matrix);

class ApplicationJob {
 public:
  struct Options {
    lacuna_sida_fusion fusion = LACUNA_SIDA_FUSION_AUTO;
    bool blocked = false;
    sida::Index block_side = 256;
    // As lacuna_sida_setup; 0: the application's own.
    std::uint64_t limit = 0;
    std::uint32_t source = 0, features = 0;
    double tolerance = 0;
  };

  /// `matrix` must remain. Throws sida::MatrixError for a matrix that the application cannot take, and for a source beyond it.
  ApplicationJob(const lacuna_sida_application& application, const sida::SparseMatrix& matrix, const Options& options);

  const lacuna_sida_application& application() const { return application_; }
  const lacuna_sida_graph& graph() const { return *graph_; }
  const lacuna_sida_plan& plan() const { return *plan_; }
  const std::vector<lacuna_sida_matrix>& stored() const { return stored_; }

  /// Runs the job to its end. `on_pass` is called after each pass.
  void run(const std::function<void(const sida::Program& program, const sida::PassOutcome& outcome)>& on_pass = {});

  /// After run().
  std::uint64_t iterations() const { return iterations_; }
  const std::vector<std::byte>& result() const { return result_; }

  /// What one operation after the other comes to: iterations and result.
  std::pair<std::uint64_t, std::vector<std::byte>> reference() const;

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
  sida::HostMemory memory_;
  std::vector<lacuna_sida_matrix> stored_;
  std::uint64_t program_ = 0, program_bytes_ = 0;
  lacuna_sida_value result_state_ = LACUNA_SIDA_NO_VALUE;
  std::uint64_t iterations_ = 0;
  std::vector<std::byte> result_;
};

}  // namespace lacuna
