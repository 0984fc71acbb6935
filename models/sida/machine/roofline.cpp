#include "models/sida/machine/roofline.h"

#include <algorithm>
#include <set>

#include "models/sida/machine/pass_shapes.h"

namespace lacuna::sida {
namespace {

/// Bytes of a matrix in one order, for one product.
std::uint64_t order_bytes(const lacuna_sida_matrix& matrix, std::uint64_t lines) {
  return matrix.entries * entry_bytes(matrix) + lines * matrix.offset_bytes;
}

class Operators {
 public:
  Operators(const lacuna_sida_graph& graph, const std::vector<lacuna_sida_matrix>& matrices)
      : graph_(graph), matrices_(matrices), uses_(static_cast<std::size_t>(graph.count)) {
    for (int n = 0; n < graph.count; ++n) {
      const sida_node& node = graph.nodes[n];
      for (const int operand : node.operands) note_use(operand, node.kind == SIDA_REDUCE || is_element_wise(node));
      if (node.kind == SIDA_STATE && node.next >= 0) note_use(node.next, false);
    }
    // An operation that only another one of a reduction uses belongs to the reduction.
    for (int n = graph.count - 1; n >= 0; --n) {
      const sida_node& node = graph.nodes[n];
      if (node.kind != SIDA_REDUCE && !in_reduction(n)) continue;
      for (const int operand : node.operands) {
        if (operand >= 0 && is_element_wise(graph.nodes[operand]) && uses_[at(operand)].all == 1)
          uses_[at(operand)].reduced = true;
      }
    }
  }

  std::vector<Work> list() const {
    std::vector<Work> operators;
    for (int n = 0; n < graph_.count; ++n) {
      const sida_node& node = graph_.nodes[n];
      if (node.kind == SIDA_PRODUCT)
        operators.push_back(product(node));
      else if (node.kind == SIDA_REDUCE)
        operators.push_back(reduction(n));
      else if ((is_element_wise(node) && !in_reduction(n)) || node.kind == SIDA_SCAN)
        operators.push_back(element_wise(node));
    }
    return operators;
  }

 private:
  struct Uses {
    unsigned all = 0;
    bool reduced = false;
  };

  static std::size_t at(int node) { return static_cast<std::size_t>(node); }
  static bool is_element_wise(const sida_node& node) {
    return !node.scalar && (node.kind == SIDA_APPLY || node.kind == SIDA_CONVERT || node.kind == SIDA_DENSE);
  }
  void note_use(int node, bool element_wise) {
    if (node < 0) return;
    // A product's operand or a state must be in memory, however often it is used.
    uses_[at(node)].all += element_wise ? 1 : 2;
  }
  bool in_reduction(int node) const { return uses_[at(node)].reduced; }
  std::uint64_t bytes_of_vector(int node) const {
    const sida_node& n = graph_.nodes[node];
    return n.scalar || n.kind == SIDA_INDEX || n.kind == SIDA_MATRIX ? 0 : sida_vector_bytes(&n);
  }

  Work product(const sida_node& node) const {
    const lacuna_sida_matrix& matrix = matrices_[at(graph_.nodes[node.matrix].number)];
    Work work{.name = node.transposed ? "vxm with the transpose" : "vxm"};
    work.bytes = order_bytes(matrix, node.transposed ? matrix.rows : matrix.columns);
    for (const int operand : node.operands) work.bytes += operand >= 0 ? bytes_of_vector(operand) : 0;
    work.bytes += 2 * sida_vector_bytes(&node);
    work.operations = matrix.entries * node.width;
    if (graph_.nodes[node.operands[0]].element == LACUNA_SIDA_I8) work.operations /= 4;
    return work;
  }

  Work element_wise(const sida_node& node) const {
    Work work{.name = node.kind == SIDA_APPLY   ? lacuna_sida_operation_name(node.operation)
                      : node.kind == SIDA_DENSE ? "dense product"
                      : node.kind == SIDA_SCAN  ? "scan"
                                                : "CONVERT"};
    std::set<int> vectors;
    for (const int operand : node.operands) {
      if (operand >= 0 && bytes_of_vector(operand) != 0) vectors.insert(operand);
    }
    for (const int vector : vectors) work.bytes += bytes_of_vector(vector);
    const std::uint64_t result = sida_vector_bytes(&node);
    work.bytes += vectors.size() > 1 ? 2 * result : result;
    work.operations = node.length * node.width;
    if (node.kind == SIDA_DENSE) work.operations *= graph_.nodes[node.operands[0]].width;
    return work;
  }

  Work reduction(int node) const {
    Work work{.name = "reduction"};
    std::set<int> vectors;
    gather(node, vectors, work.operations);
    for (const int vector : vectors) work.bytes += bytes_of_vector(vector);
    return work;
  }
  void gather(int node, std::set<int>& vectors, std::uint64_t& operations) const {
    for (const int operand : graph_.nodes[node].operands) {
      if (operand < 0 || graph_.nodes[operand].scalar) continue;
      operations += graph_.nodes[operand].length * graph_.nodes[operand].width;
      if (in_reduction(operand))
        gather(operand, vectors, operations);
      else if (bytes_of_vector(operand) != 0)
        vectors.insert(operand);
    }
  }

  const lacuna_sida_graph& graph_;
  const std::vector<lacuna_sida_matrix>& matrices_;
  std::vector<Uses> uses_;
};

}  // namespace

double Work::cycles(std::uint64_t bytes_per_cycle, unsigned pes) const {
  return std::max(static_cast<double>(bytes) / static_cast<double>(bytes_per_cycle), static_cast<double>(operations) / pes);
}

std::vector<Work> operators_of(const lacuna_sida_graph& graph, const std::vector<lacuna_sida_matrix>& matrices) {
  return Operators(graph, matrices).list();
}

Work oracle_work(const Program& program, const Pass& pass, const PassOutcome& outcome) {
  Work work{.name = outcome.has_is ? "two products" : pass.has_os() ? "a product" : "element-wise"};
  std::uint64_t element_wise = 0;
  const auto add = [&](Phase phase) {
    const Code& code = pass.of(phase);
    const std::uint64_t elements = program.elements(pass, phase);
    for (const std::uint16_t vector : code.loads) work.bytes += elements * program.bytes_of_element(vector);
    for (const std::uint16_t vector : code.stores) work.bytes += elements * program.bytes_of_element(vector);
    element_wise += elements * code.operations;
  };
  add(Phase::load);
  if (!pass.has_os() || outcome.has_os) add(Phase::ewise);
  if (outcome.has_is) add(Phase::finish);
  work.operations = element_wise;
  if (!outcome.has_os) return work;
  const lacuna_sida_matrix& matrix = program.matrices[pass.description.matrix];
  const bool os_rows = pass.description.flags & LACUNA_SIDA_PASS_OS_TRANSPOSED,
             is_rows = pass.description.flags & LACUNA_SIDA_PASS_IS_TRANSPOSED;
  work.bytes += order_bytes(matrix, os_rows ? matrix.rows : matrix.columns);
  // The offsets of the other order, too, unless both products walk the same lines.
  if (outcome.has_is && os_rows == is_rows)
    work.bytes += std::uint64_t{os_rows ? matrix.columns : matrix.rows} * matrix.offset_bytes;
  std::uint64_t products = matrix.entries * pass.description.width;
  if (pass.description.element == LACUNA_SIDA_I8) products /= 4;
  work.operations = std::max(element_wise, products);
  return work;
}

}  // namespace lacuna::sida
