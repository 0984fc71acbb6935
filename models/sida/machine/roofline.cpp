#include "models/sida/machine/roofline.h"

#include <algorithm>
#include <set>

#include "models/sida/machine/pass_shapes.h"

namespace lacuna::sida {
namespace {

/// Bytes of a matrix in one order, read by one product.
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
    // An element-wise operation used only by a reduction, or by an operation of the reduction, belongs to the reduction.
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
    // A use by a product or as a state counts twice, so the node never belongs to a reduction: its result is in memory.
    uses_[at(node)].all += element_wise ? 1 : 2;
  }
  bool in_reduction(int node) const { return uses_[at(node)].reduced; }
  std::uint64_t bytes_of_vector(int node) const {
    const sida_node& n = graph_.nodes[node];
    return n.scalar || n.kind == SIDA_INDEX || n.kind == SIDA_MATRIX ? 0 : sida_vector_bytes(&n);
  }

  /// Sets the memory traffic of an operator. Written bytes also pass through the buffer once.
  static void set_bytes(Work& work, std::uint64_t read, std::uint64_t written) {
    work.bytes = read + written;
    work.energy.memory_read = read;
    work.energy.memory_written = written;
    work.energy.pass(BufferKind::vectors, written);
  }
  /// Counts the operations of a node that is not a product: for a reduction, one per element of its operand.
  void count_operations(const sida_node& node, EnergyCounts& energy) const {
    if (node.kind == SIDA_DENSE) {
      const sida_node& a = graph_.nodes[node.operands[0]];
      energy.operations.add_products(LACUNA_SIDA_MUL_ADD, a.element, node.length * node.width * a.width);
      return;
    }
    const sida_node& operand = node.kind == SIDA_REDUCE ? graph_.nodes[node.operands[0]] : node;
    const int operation = node.kind == SIDA_APPLY ? node.operation : static_cast<int>(LACUNA_SIDA_OPERATION_ADD);
    energy.operations.add(operation, operand.element, operand.length * operand.width);
  }

  Work product(const sida_node& node) const {
    const lacuna_sida_matrix& matrix = matrices_[at(graph_.nodes[node.matrix].number)];
    Work work{.name = node.transposed ? "vxm with the transpose" : "vxm"};
    work.bytes = order_bytes(matrix, node.transposed ? matrix.rows : matrix.columns);
    std::uint64_t vectors = 0;
    for (const int operand : node.operands) vectors += operand >= 0 ? bytes_of_vector(operand) : 0;
    work.energy.pass(BufferKind::columns, matrix.entries * entry_bytes(matrix));
    work.energy.write(BufferKind::x, vectors);
    const sida_node& x = graph_.nodes[node.operands[0]];
    work.energy.read(BufferKind::x, matrix.entries * x.width * lacuna_sida_element_bytes(static_cast<unsigned>(x.element)));
    work.energy.operations.add_products(node.operation, x.element, matrix.entries * node.width);
    set_bytes(work, work.bytes + vectors, 2 * sida_vector_bytes(&node));
    work.operations = matrix.entries * node.width;
    if (x.element == LACUNA_SIDA_I8) work.operations /= 4;
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
    const std::uint64_t read = read_vectors(vectors, work), result = sida_vector_bytes(&node);
    set_bytes(work, read, vectors.size() > 1 ? 2 * result : result);
    count_operations(node, work.energy);
    work.operations = node.length * node.width;
    if (node.kind == SIDA_DENSE) work.operations *= graph_.nodes[node.operands[0]].width;
    return work;
  }

  Work reduction(int node) const {
    Work work{.name = "reduction"};
    std::set<int> vectors;
    gather(node, vectors, work);
    set_bytes(work, read_vectors(vectors, work), 0);
    return work;
  }
  std::uint64_t read_vectors(const std::set<int>& vectors, Work& work) const {
    std::uint64_t bytes = 0;
    for (const int vector : vectors) bytes += bytes_of_vector(vector);
    work.energy.pass(BufferKind::vectors, bytes);
    return bytes;
  }
  void gather(int node, std::set<int>& vectors, Work& work) const {
    count_operations(graph_.nodes[node], work.energy);
    for (const int operand : graph_.nodes[node].operands) {
      if (operand < 0 || graph_.nodes[operand].scalar) continue;
      work.operations += graph_.nodes[operand].length * graph_.nodes[operand].width;
      if (in_reduction(operand))
        gather(operand, vectors, work);
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
    std::uint64_t read = 0, written = 0;
    for (const std::uint16_t vector : code.loads) read += elements * program.bytes_of_element(vector);
    for (const std::uint16_t vector : code.stores) written += elements * program.bytes_of_element(vector);
    work.energy.memory_read += read;
    work.energy.memory_written += written;
    // Without load code the vector read is x itself, which is counted below.
    if (phase != Phase::load || code.operations != 0) work.energy.pass(BufferKind::vectors, read + written);
    element_wise += elements * code.operations;
  };
  add(Phase::load);
  if (!pass.has_os() || outcome.has_os) add(Phase::ewise);
  if (outcome.has_is) add(Phase::finish);
  work.operations = element_wise;
  work.energy.operations = operations_of(program, pass, outcome);
  work.bytes = work.energy.memory_read + work.energy.memory_written;
  if (!outcome.has_os) return work;
  const lacuna_sida_matrix& matrix = program.matrices[pass.description.matrix];
  const bool os_rows = pass.description.flags & LACUNA_SIDA_PASS_OS_TRANSPOSED,
             is_rows = pass.description.flags & LACUNA_SIDA_PASS_IS_TRANSPOSED;
  work.bytes += order_bytes(matrix, os_rows ? matrix.rows : matrix.columns);
  // The offsets of the other order count as well, unless both products walk the same lines.
  if (outcome.has_is && os_rows == is_rows)
    work.bytes += std::uint64_t{os_rows ? matrix.columns : matrix.rows} * matrix.offset_bytes;
  work.energy.memory_read = work.bytes - work.energy.memory_written;
  const lacuna_sida_pass& d = pass.description;
  const std::uint64_t x_bytes = d.width * lacuna_sida_element_bytes(d.element),
                      z_bytes = d.width * lacuna_sida_element_bytes(lacuna_sida_sum_element(d.element)),
                      y_bytes = program.elements(pass, Phase::ewise) * x_bytes;
  work.energy.pass(BufferKind::columns, matrix.entries * entry_bytes(matrix));
  work.energy.write(BufferKind::x, program.elements(pass, Phase::load) * x_bytes);
  work.energy.read(BufferKind::x, matrix.entries * x_bytes);
  work.energy.pass(BufferKind::vectors, y_bytes);
  if (outcome.has_is) {
    work.energy.read(BufferKind::rows, matrix.entries * entry_bytes(matrix));
    work.energy.pass(BufferKind::sums, matrix.entries * z_bytes);
    work.energy.read(BufferKind::sums, program.elements(pass, Phase::finish) * z_bytes);
    work.energy.pass(BufferKind::vectors, y_bytes);
  }
  std::uint64_t products = matrix.entries * pass.description.width;
  if (pass.description.element == LACUNA_SIDA_I8) products /= 4;
  work.operations = std::max(element_wise, products);
  return work;
}

}  // namespace lacuna::sida
