#include "models/sida/pipeline/parameters.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>

namespace lacuna::sida {
namespace {

constexpr std::uint64_t kLeastDefaultSubTensor = 64;

/// Bytes of the lines that must be in the buffer at the same time for the pass to make progress.
std::uint64_t least_line_bytes(const PassShape& shape, unsigned line_bytes) {
  std::uint64_t bytes = 0;
  if (shape.has_os) bytes += LineGeometry(shape.x_length, shape.x_bytes, line_bytes).bytes;
  if (shape.has_is) {
    bytes += LineGeometry(shape.y_length, shape.w_bytes, line_bytes).bytes;
    bytes += LineGeometry(shape.z_length, shape.z_bytes, line_bytes).bytes;
  }
  return bytes;
}

}  // namespace

std::uint64_t sub_tensor_of(const PassShape& shape, const PipelineParameters& parameters) {
  // Element-wise passes have no columns; their sub-tensors always have the default size computed below.
  if (parameters.sub_tensor != 0 && shape.has_os) return parameters.sub_tensor;
  const std::uint64_t vectors = shape.y_length * (shape.ewise.read_bytes + shape.ewise.written_bytes);
  const std::uint64_t bytes = shape.entries() != 0 ? shape.entries() * shape.entry_bytes : vectors;
  const std::uint64_t wanted = parameters.double_latency();
  std::uint64_t columns = kLeastDefaultSubTensor;
  // bytes * columns / length is the mean size of a sub-tensor. With columns >= length there is only one sub-tensor.
  while (columns < shape.y_length && static_cast<double>(bytes) * static_cast<double>(columns) <
                                         static_cast<double>(wanted) * static_cast<double>(shape.y_length))
    columns *= 2;
  return shape.block_side == 0 ? columns : std::lcm(columns, std::uint64_t{shape.block_side});
}

LineGeometry::LineGeometry(std::uint64_t vector_length, unsigned element_bytes, unsigned line_bytes)
    : length(vector_length),
      per_line(std::max(1U, line_bytes / element_bytes)),
      bytes((std::max(element_bytes, line_bytes) + line_bytes - 1) / line_bytes * line_bytes) {}

std::uint64_t smallest_buffer(const PassShape& shape, const PipelineParameters& parameters) {
  return least_line_bytes(shape, parameters.line_bytes) + (shape.has_os ? shape.entry_bytes : 0);
}

std::uint64_t csc_space_of(const PassShape& shape, const PipelineParameters& parameters) {
  const std::uint64_t most = parameters.buffer_bytes - least_line_bytes(shape, parameters.line_bytes);
  std::uint64_t wanted = parameters.csc_bytes;
  if (wanted == 0) {
    const std::uint64_t columns = sub_tensor_of(shape, parameters), lines = shape.os.lines();
    std::uint64_t largest = 0;
    for (std::uint64_t c = 0; c < lines; c += columns)
      largest = std::max(largest, shape.os.offsets[std::min(c + columns, lines)] - shape.os.offsets[c]);
    wanted = std::min(std::max(2 * largest * shape.entry_bytes, 4 * parameters.double_latency()), parameters.buffer_bytes / 16);
  }
  return std::min(most, std::max<std::uint64_t>(wanted, shape.entry_bytes));
}

void validate(const PipelineParameters& parameters, const PassShape& shape) {
  if (parameters.os_pes == 0 || parameters.ewise_pes == 0 || parameters.is_pes == 0)
    throw PassError("each core has at least one PE");
  if (parameters.bytes_per_cycle == 0) throw PassError("the estimator needs a bandwidth of at least one byte a cycle");
  if (parameters.line_bytes == 0) throw PassError("a line of the buffer has at least one byte");
  if (!(parameters.repack_threshold >= 0)) throw PassError("repack_threshold is a share of the CSR space, at least 0");
  if (shape.block_side != 0 && parameters.sub_tensor % shape.block_side != 0)
    throw PassError("a sub-tensor must be a multiple of the block side, " + std::to_string(shape.block_side));
  const std::uint64_t least = smallest_buffer(shape, parameters);
  if (parameters.buffer_bytes < least)
    throw PassError("the buffer has " + std::to_string(parameters.buffer_bytes) + " bytes; this pass needs at least " +
                    std::to_string(least) + ": a line of each vector and one entry");
}

}  // namespace lacuna::sida
