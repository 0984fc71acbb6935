// An application on a matrix in host memory: runs the job pass by pass, without simulated time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "models/sida/function/host_memory.h"
#include "models/sida/function/job.h"
#include "platform/sida/application_image.h"

namespace lacuna {

class ApplicationJob {
 public:
  using Options = ApplicationOptions;

  /// `matrix` must outlive the job. Throws sida::MatrixError if the application does not support the matrix, or if the source
  /// row does not exist.
  ApplicationJob(const lacuna_sida_application& application, const sida::SparseMatrix& matrix, const Options& options);

  const ApplicationImage& image() const { return image_; }
  const lacuna_sida_application& application() const { return image_.application(); }
  const lacuna_sida_graph& graph() const { return image_.graph(); }
  const lacuna_sida_plan& plan() const { return image_.plan(); }
  const std::vector<lacuna_sida_matrix>& stored() const { return image_.stored(); }

  /// Runs the job to its end. Calls `on_pass` after each pass. Products are divided among `threads`, which may be null.
  void run(const std::function<void(const sida::Program& program, const sida::PassOutcome& outcome)>& on_pass = {},
           WorkerThreads* threads = nullptr);

  /// Number of iterations that run() has executed.
  std::uint64_t iterations() const { return result_.iterations; }
  const std::vector<std::byte>& result() const { return result_.bytes; }

  /// Iterations and reference result, computed by executing one operation at a time.
  std::pair<std::uint64_t, std::vector<std::byte>> reference() const;

 private:
  sida::HostMemory memory_;
  ApplicationImage image_;
  ApplicationImage::Result result_;
};

}  // namespace lacuna
