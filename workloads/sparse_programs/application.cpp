#include "workloads/sparse_programs/application.h"

#include <iostream>
#include <string_view>

#include "include/lacuna/sida_applications.h"
#include "models/common/config/nearest_name.h"
#include "models/sida/matrix/orders.h"
#include "platform/sida/application_image.h"
#include "platform/sida/named_matrix.h"
#include "workloads/common/error.h"
#include "workloads/sparse_programs/application_state.h"

namespace workload {
namespace {

namespace sida = lacuna::sida;

const lacuna_sida_application& application_named(const std::string& name) {
  if (const lacuna_sida_application* found = lacuna_sida_application_named(name.c_str())) return *found;
  throw UsageError("--program: '" + name + "' is not a program of the accelerator");
}

SparseValues as_rows(const sida::SparseMatrix& columns, bool uses_values) {
  if (columns.entries() > ~0u) throw UsageError("the matrix has more than 2^32 entries");
  SparseValues out;
  out.pattern.offsets.assign(columns.offsets.begin(), columns.offsets.end());
  out.pattern.columns.assign(columns.indices.begin(), columns.indices.end());
  if (uses_values && !columns.is_pattern()) {
    out.values = columns.values;
  } else {
    out.values.assign(columns.entries(), 1);
  }
  return out;
}

/// Calls `make`, and turns errors of the matrix into errors of the command line.
template <typename Make>
auto checked(const Make& make) {
  try {
    return make();
  } catch (const sida::MatrixError& error) {
    throw UsageError(error.what());
  }
}

}  // namespace

Application::Application(const ApplicationSetup& setup) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.application = &application_named(setup.program);
  checked([&] {
    state.matrix = lacuna::sida_matrix(setup.matrix, false, std::cerr).matrix;
    if (setup.order != "natural") state.matrix = permuted(state.matrix, sida::order_of(state.matrix, setup.order));
    return 0;
  });
  state.options.limit = setup.iterations;
  state.options.source = setup.source;
  state.options.features = setup.features;
  // Rejects a matrix that the program does not support, by building an image with an allocator that allocates nothing.
  checked([&] {
    state.image = std::make_unique<lacuna::ApplicationImage>(
        *state.application, state.matrix, state.options, [](std::span<const std::byte>, bool) { return std::uint64_t{16}; });
    return 0;
  });
  state.setup = lacuna::setup_of(state.matrix);
  state.setup.limit = setup.iterations;
  state.setup.source = setup.source;
  state.setup.features = setup.features;
}

Application::~Application() = default;

unsigned Application::rows() const { return state_->matrix.rows; }
unsigned Application::columns() const { return state_->matrix.columns; }
unsigned Application::features() const { return lacuna_sida_features(&state_->setup); }
std::uint64_t Application::entries() const { return state_->matrix.entries(); }
std::uint64_t Application::limit() const {
  return state_->options.limit != 0 ? state_->options.limit : state_->application->limit;
}
SparseValues Application::by_columns() const { return as_rows(state_->matrix, state_->application->uses_values); }
SparseValues Application::by_rows() const { return as_rows(transposed(state_->matrix), state_->application->uses_values); }
double Application::shift() const { return lacuna_sida_solver_shift(&state_->setup); }
double Application::residual_limit() const { return lacuna_sida_solver_limit(&state_->setup); }
void Application::fill(const std::string& name, void* contents) const {
  state_->application->fill(&state_->setup, name.c_str(), contents);
}

ApplicationResult Application::reference() const {
  lacuna::ApplicationImage::Result result = state_->image->reference();
  return {result.iterations, std::move(result.bytes)};
}

}  // namespace workload
