// Implementation state of an Application; internal to application.cpp and accelerator_job.cpp.
#pragma once

#include <memory>

#include "models/sida/matrix/sparse_matrix.h"
#include "platform/sida/application_image.h"
#include "workloads/sparse_programs/application.h"

namespace workload {

struct Application::State {
  const lacuna_sida_application* application = nullptr;
  lacuna::sida::SparseMatrix matrix;
  lacuna::ApplicationOptions options;
  lacuna_sida_setup setup{};
  /// An image for which no GPU memory is allocated, used by reference().
  std::unique_ptr<lacuna::ApplicationImage> image;
};

}  // namespace workload
