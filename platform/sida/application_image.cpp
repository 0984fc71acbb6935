#include "platform/sida/application_image.h"

#include <cstring>
#include <map>

#include "libraries/sida/graph.h"
#include "models/sida/reference/graph_reference.h"

namespace lacuna {

lacuna_sida_setup setup_of(const sida::SparseMatrix& matrix) {
  lacuna_sida_setup setup{};
  setup.rows = matrix.rows;
  setup.columns = matrix.columns;
  setup.column_offsets = matrix.offsets.data();
  setup.row_indices = matrix.indices.data();
  setup.values = matrix.is_pattern() ? nullptr : matrix.values.data();
  return setup;
}

ApplicationImage::ApplicationImage(const lacuna_sida_application& application, const sida::SparseMatrix& matrix,
                                   const ApplicationOptions& options, const Put& put)
    : application_(application), matrix_(matrix) {
  const std::string name = application.name;
  if (application.needs_square && !matrix.is_square()) {
    throw sida::MatrixError(name + " needs a square matrix, this one has " + std::to_string(matrix.rows) + " rows and " +
                            std::to_string(matrix.columns) + " columns");
  }
  if (matrix.rows == 0 || matrix.columns == 0) throw sida::MatrixError(name + ": the matrix is empty");
  if (options.source >= matrix.rows) {
    throw sida::MatrixError("--source " + std::to_string(options.source) + ": there are rows 0 to " +
                            std::to_string(matrix.rows - 1));
  }
  setup_ = setup_of(matrix);
  setup_.limit = options.limit;
  setup_.source = options.source;
  setup_.features = options.features;
  setup_.tolerance = options.tolerance;
  graph_.reset(application.build(&setup_));
  if (!graph_) throw sida::MatrixError(name + ": out of memory");
  plan_.reset(lacuna_sida_compile(graph_.get(), options.fusion));
  if (!plan_) throw sida::MatrixError(name + ": " + lacuna_sida_problem(graph_.get()));
  // A program that does not use the values of the matrix multiplies by ones, which are in memory like other values.
  const sida::SparseMatrix* used = &matrix;
  sida::SparseMatrix ones;
  if (!application.uses_values && !matrix.is_pattern()) {
    ones = {.rows = matrix.rows, .columns = matrix.columns, .offsets = matrix.offsets, .indices = matrix.indices, .values = {}};
    used = &ones;
  }
  stored_.push_back(lay_out(
      *used,
      {.element = static_cast<unsigned>(application.element), .blocked = options.blocked, .block_side = options.block_side},
      [&put](std::span<const std::byte> array) { return put(array, false); }));
  std::vector<std::uint64_t> addresses;
  for (unsigned v = 0; v < lacuna_sida_vectors(plan_.get()); ++v) {
    const lacuna_sida_storage storage = lacuna_sida_storage_of(plan_.get(), v);
    std::vector<std::byte> contents(storage.bytes);
    const bool is_input = storage.value != LACUNA_SIDA_NO_VALUE;
    if (is_input) application.fill(&setup_, storage.name, contents.data());
    addresses.push_back(put(contents, !is_input));
  }
  for (int node = 0; node < graph_->count; ++node) {
    const sida_node& n = graph_->nodes[node];
    if (n.kind == SIDA_STATE && std::string(n.name) == application.result) result_state_ = node;
  }
  std::vector<std::byte> image(lacuna_sida_program_bytes(plan_.get()));
  lacuna_sida_write(plan_.get(), stored_.data(), addresses.data(), image.data());
  program_bytes_ = image.size();
  program_ = put(image, true);
}

ApplicationImage::Result ApplicationImage::result(const Read& read) const {
  std::vector<std::byte> image(program_bytes_);
  read(program_, image);
  lacuna_sida_program header;
  std::memcpy(&header, image.data(), sizeof header);
  Result result{.iterations = header.iterations,
                .bytes = std::vector<std::byte>(sida_vector_bytes(&graph_->nodes[result_state_]))};
  read(lacuna_sida_result(plan_.get(), image.data(), result_state_), result.bytes);
  return result;
}

ApplicationImage::Result ApplicationImage::reference() const {
  std::map<int, sida::Values> inputs;
  for (int node = 0; node < graph_->count; ++node) {
    const sida_node& n = graph_->nodes[node];
    if ((n.kind != SIDA_INPUT && n.kind != SIDA_STATE) || n.scalar) continue;
    std::vector<std::byte> contents(sida_vector_bytes(&n));
    application_.fill(&setup_, n.name, contents.data());
    inputs[node] = sida::values_of(n, contents);
  }
  std::vector<sida::SparseMatrix> used(1);
  used.front() = {
      .rows = matrix_.rows, .columns = matrix_.columns, .offsets = matrix_.offsets, .indices = matrix_.indices, .values = {}};
  if (application_.uses_values) used.front().values = matrix_.values;
  const sida::ReferenceResult expected = run_reference(*graph_, inputs, used);
  return {expected.iterations, sida::bytes_of(expected.states.at(result_state_))};
}

}  // namespace lacuna
