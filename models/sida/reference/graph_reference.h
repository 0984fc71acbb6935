// Reference for all plans of a graph: executes the iterations of the graph one operation at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "libraries/sida/graph.h"
#include "models/sida/matrix/sparse_matrix.h"

namespace lacuna::sida {

/// Elements of a vector with their features, or one scalar, as floating-point numbers or integers.
struct Values {
  int element = LACUNA_SIDA_F64;
  std::uint32_t width = 1;
  std::vector<double> floats{};
  std::vector<std::int64_t> integers{};
  bool is_float() const { return element == LACUNA_SIDA_F64; }
  std::size_t size() const { return is_float() ? floats.size() : integers.size(); }
};

/// Convert values to their representation in memory, and back.
std::vector<std::byte> bytes_of(const Values& values);
Values values_of(const sida_node& node, std::span<const std::byte> contents);

struct ReferenceResult {
  std::map<int, Values> states;  ///< values of kept states, by node
  std::uint64_t iterations = 0;
};

/// `inputs`: contents of inputs and initial values of states, by node; `matrices`: matrices of the graph, in the graph's order.
/// Supports all elements except F32.
ReferenceResult run_reference(const lacuna_sida_graph& graph, const std::map<int, Values>& inputs,
                              const std::vector<SparseMatrix>& matrices);

}  // namespace lacuna::sida
