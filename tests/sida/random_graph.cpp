#include "tests/sida/random_graph.h"

#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "models/sida/function/host_memory.h"
#include "models/sida/function/job.h"
#include "models/sida/matrix/layout.h"
#include "models/sida/reference/graph_reference.h"

namespace lacuna::sida::test {
namespace {

constexpr int kNone = LACUNA_SIDA_NO_VALUE;

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed), graph_(lacuna_sida_create()) {}
  ~Maker() { lacuna_sida_destroy(graph_); }
  Maker(const Maker&) = delete;
  Maker& operator=(const Maker&) = delete;

  lacuna_sida_graph* graph() { return graph_; }
  const std::map<int, Values>& inputs() const { return inputs_; }
  const std::vector<SparseMatrix>& matrices() const { return matrices_; }
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

  void make() {
    constexpr int kElements[]{LACUNA_SIDA_F64, LACUNA_SIDA_F64, LACUNA_SIDA_I64, LACUNA_SIDA_I32, LACUNA_SIDA_BOOL};
    element_ = kElements[below(5)];
    rows_ = static_cast<Index>(1 + below(one_in(4) ? 600 : 24));
    columns_ = one_in(5) ? static_cast<Index>(1 + below(24)) : rows_;
    width_ = one_in(5) ? static_cast<std::uint32_t>(2 + below(3)) : 1;
    const unsigned matrices = one_in(6) ? 2 : 1;
    for (unsigned m = 0; m < matrices; ++m) add_matrix();
    for (std::uint64_t i = 0; i <= below(3); ++i) add_input(false);
    for (std::uint64_t i = 0; i <= below(2); ++i) add_input(true);
    for (int i = 0; i < 2; ++i) scalars_.push_back(constant());
    if (one_in(2)) add_scalar_state();
    const std::uint64_t products = 1 + below(one_in(3) ? 3 : 1), steps = 2 + below(14);
    std::vector<bool> is_product(steps + products);
    for (std::uint64_t i = 0; i < products; ++i) is_product[below(is_product.size())] = true;
    for (const bool product : is_product) {
      if (product)
        add_product();
      else
        add_operation();
    }
    for (const int state : states_) next_of(state);
    lacuna_sida_limit(graph_, 1 + below(7), one_in(2) ? condition() : kNone);
  }

 private:
  /// Adds a created value to the list. A negative value is ignored: its operands were incompatible, so it was not created.
  void keep(std::vector<int>& values, int value) {
    if (value >= 0) values.push_back(value);
    graph_->problem[0] = 0;
  }

  const sida_node& node(int value) const { return graph_->nodes[value]; }

  void add_matrix() {
    SparseMatrix m;
    m.rows = rows_;
    m.columns = columns_;
    const std::uint64_t kind = below(6), density = 1 + below(4);
    for (Index c = 0; c < columns_; ++c) {
      for (Index r = 0; r < rows_; ++r) {
        const bool dense_line = (kind == 0 && c == columns_ / 2) || (kind == 1 && r == rows_ / 2);
        const bool triangle = kind != 2 || r <= c;
        if (!dense_line && (!triangle || (kind == 3 ? r != c : below(rows_ + 4) >= density))) continue;
        m.indices.push_back(r);
        m.values.push_back(static_cast<double>(below(9)) - 4);
      }
      m.offsets.push_back(m.indices.size());
    }
    const bool has_values = element_ != LACUNA_SIDA_BOOL && !one_in(4);
    if (element_ == LACUNA_SIDA_F64) {
      for (double& value : m.values) value = value / 3 + 0.1;
    }
    matrix_values_.push_back(lacuna_sida_input_matrix(graph_, "a", rows_, columns_, element_, has_values));
    matrices_.push_back(std::move(m));
  }

  Values contents(std::uint64_t count, int element) {
    Values values{.element = element, .width = width_};
    for (std::uint64_t i = 0; i < count; ++i) {
      if (values.is_float())
        values.floats.push_back((static_cast<double>(below(1000)) - 300) / 257);
      else
        values.integers.push_back(element == LACUNA_SIDA_BOOL ? static_cast<std::int64_t>(below(2))
                                                              : static_cast<std::int64_t>(below(15)) - 5);
    }
    return values;
  }

  void add_input(bool state) {
    const Index length = one_in(4) ? columns_ : rows_;
    const int value = state ? lacuna_sida_state(graph_, "s", element_, length, width_)
                            : lacuna_sida_input(graph_, "v", element_, length, width_);
    inputs_[value] = contents(std::uint64_t{length} * width_, element_);
    vectors_.push_back(value);
    if (!state) return;
    states_.push_back(value);
    lacuna_sida_keep(graph_, value);
  }

  int constant() {
    if (element_ == LACUNA_SIDA_F64) return lacuna_sida_f64(graph_, (static_cast<double>(below(100)) - 20) / 37);
    return lacuna_sida_integer(
        graph_, element_,
        element_ == LACUNA_SIDA_BOOL ? static_cast<std::int64_t>(below(2)) : static_cast<std::int64_t>(below(9)) - 2);
  }

  void add_scalar_state() {
    const int value = lacuna_sida_scalar_state(graph_, "k", constant());
    scalars_.push_back(value);
    states_.push_back(value);
    lacuna_sida_keep(graph_, value);
  }

  int any_vector(std::uint64_t length = 0) {
    for (int tries = 0; tries < 30; ++tries) {
      // Usually chooses one of the three most recent values.
      const std::size_t back = one_in(3) ? below(vectors_.size()) : below(std::min<std::size_t>(3, vectors_.size()));
      const int value = vectors_[vectors_.size() - 1 - back];
      if (length == 0 || node(value).length == length) return value;
    }
    return kNone;
  }

  void add_product() {
    const int matrix = matrix_values_[below(matrix_values_.size())];
    const bool transposed = one_in(4);
    const int x = any_vector(transposed ? columns_ : rows_);
    if (x == kNone) return;
    constexpr int kSemirings = LACUNA_SIDA_SEMIRING_COUNT;
    const int semiring =
        element_ == LACUNA_SIDA_BOOL ? static_cast<int>(LACUNA_SIDA_AND_OR) : static_cast<int>(below(kSemirings));
    int present = kNone;
    if (one_in(4) && width_ == 1) present = lacuna_sida_convert(graph_, LACUNA_SIDA_BOOL, x);
    keep(vectors_, lacuna_sida_product(graph_, semiring, x, matrix, transposed, present));
  }

  void add_operation() {
    const std::uint64_t kind = below(10);
    const int a = any_vector();
    if (kind == 0) {
      constexpr int kMonoids[]{LACUNA_SIDA_MONOID_MIN, LACUNA_SIDA_MONOID_MAX, LACUNA_SIDA_MONOID_OR, LACUNA_SIDA_MONOID_AND,
                               LACUNA_SIDA_MONOID_ADD};
      keep(scalars_, lacuna_sida_reduce(graph_, kMonoids[below(element_ == LACUNA_SIDA_BOOL ? 4 : 5)], a));
    } else if (kind == 1) {
      const int s = scalars_[below(scalars_.size())], t = scalars_[below(scalars_.size())];
      keep(scalars_, lacuna_sida_apply(graph_, operation(), s, t, scalars_[below(scalars_.size())]));
    } else if (kind == 2 && one_in(3) && width_ == 1) {
      keep(vectors_, lacuna_sida_scan(graph_, LACUNA_SIDA_MONOID_MAX, a));
    } else if (kind == 3 && element_ != LACUNA_SIDA_BOOL && width_ == 1) {
      keep(vectors_, lacuna_sida_convert(graph_, element_, lacuna_sida_index(graph_, LACUNA_SIDA_I64, node(a).length)));
    } else {
      const int b = one_in(3) ? scalars_[below(scalars_.size())] : any_vector(node(a).length);
      const int c = one_in(3) ? scalars_[below(scalars_.size())] : any_vector(node(a).length);
      keep(vectors_, lacuna_sida_apply(graph_, operation(), a, b, c));
    }
  }

  int operation() {
    constexpr int kLogic[]{LACUNA_SIDA_OPERATION_AND,     LACUNA_SIDA_OPERATION_OR,     LACUNA_SIDA_OPERATION_NOT,
                           LACUNA_SIDA_OPERATION_LESS,    LACUNA_SIDA_OPERATION_EQUAL,  LACUNA_SIDA_OPERATION_SELECT,
                           LACUNA_SIDA_OPERATION_MINIMUM, LACUNA_SIDA_OPERATION_MAXIMUM};
    constexpr int kArithmetic[]{LACUNA_SIDA_OPERATION_ADD,           LACUNA_SIDA_OPERATION_SUBTRACT,
                                LACUNA_SIDA_OPERATION_MULTIPLY,      LACUNA_SIDA_OPERATION_DIVIDE,
                                LACUNA_SIDA_OPERATION_NEGATE,        LACUNA_SIDA_OPERATION_ABSOLUTE,
                                LACUNA_SIDA_OPERATION_LESS_OR_EQUAL, LACUNA_SIDA_OPERATION_COPY};
    if (element_ == LACUNA_SIDA_BOOL || one_in(3)) return kLogic[below(8)];
    if (one_in(10)) return element_ == LACUNA_SIDA_F64 ? LACUNA_SIDA_OPERATION_SQUARE_ROOT : LACUNA_SIDA_OPERATION_SHIFT_RIGHT;
    return kArithmetic[below(8)];
  }

  void next_of(int state) {
    if (one_in(8)) return;
    // Prefer values that depend on a product, so that the program contains a product.
    for (int tries = 0; tries < 20 && !node(state).scalar; ++tries) {
      const int value = vectors_[below(vectors_.size())];
      if (!depends_on_product(value) || node(value).length != node(state).length || node(value).width != node(state).width)
        continue;
      lacuna_sida_next(graph_, state, value);
      return;
    }
    for (int tries = 0; tries < 40; ++tries) {
      const std::vector<int>& from = node(state).scalar ? scalars_ : vectors_;
      const int value = from[from.size() - 1 - below(std::min<std::size_t>(from.size(), 4))];
      if (node(value).length != node(state).length || node(value).width != node(state).width) continue;
      lacuna_sida_next(graph_, state, value);
      return;
    }
  }

  bool depends_on_product(int value) const {
    if (node(value).kind == SIDA_PRODUCT) return true;
    for (const int operand : node(value).operands) {
      if (operand >= 0 && depends_on_product(operand)) return true;
    }
    return false;
  }

  int condition() {
    const int a = scalars_[below(scalars_.size())];
    return lacuna_sida_apply(graph_, one_in(2) ? LACUNA_SIDA_OPERATION_LESS : LACUNA_SIDA_OPERATION_COPY, a,
                             scalars_[below(scalars_.size())], kNone);
  }

  std::mt19937_64 random_;
  lacuna_sida_graph* graph_;
  int element_ = 0;
  Index rows_ = 1, columns_ = 1;
  std::uint32_t width_ = 1;
  std::vector<int> matrix_values_, vectors_, scalars_, states_;
  std::map<int, Values> inputs_;
  std::vector<SparseMatrix> matrices_;
};

/// Compares values bit by bit, except that all NaNs are equal.
bool same(const std::vector<std::byte>& a, const std::vector<std::byte>& b, bool is_float) {
  if (a.size() != b.size()) return false;
  if (!is_float) return a == b;
  for (std::size_t i = 0; i < a.size(); i += sizeof(double)) {
    double x, y;
    std::memcpy(&x, a.data() + i, sizeof x);
    std::memcpy(&y, b.data() + i, sizeof y);
    if (std::memcmp(&x, &y, sizeof x) != 0 && !(std::isnan(x) && std::isnan(y))) return false;
  }
  return true;
}

/// Compiles the graph with the given fusion and runs it. Returns a description of the differences, or an empty text.
std::string run_fused(Maker& maker, lacuna_sida_fusion fusion, const ReferenceResult& expected, RandomOutcome& outcome) {
  const std::unique_ptr<lacuna_sida_plan, decltype(&lacuna_sida_plan_destroy)> plan(lacuna_sida_compile(maker.graph(), fusion),
                                                                                    lacuna_sida_plan_destroy);
  if (!plan) return std::string("not compiled: ") + lacuna_sida_problem(maker.graph());
  outcome.compiled = true;
  const unsigned fused = lacuna_sida_fused_products(plan.get());
  if (fusion != LACUNA_SIDA_FUSION_AUTO && fused != 0) return "products are fused where fusion is switched off";
  outcome.fused += fused;
  HostMemory memory(!maker.one_in(3));
  std::vector<lacuna_sida_matrix> matrices;
  for (std::size_t m = 0; m < maker.matrices().size(); ++m) {
    const sida_node* node = nullptr;
    for (int n = 0; n < maker.graph()->count; ++n) {
      if (maker.graph()->nodes[n].kind == SIDA_MATRIX && maker.graph()->nodes[n].number == static_cast<int>(m))
        node = maker.graph()->nodes + n;
    }
    const MatrixLayout layout{.element = static_cast<unsigned>(node->element),
                              .values = node->has_values,
                              .blocked = maker.one_in(3),
                              .block_side = static_cast<Index>(1 + maker.below(9))};
    matrices.push_back(
        lay_out(maker.matrices()[m], layout, [&](std::span<const std::byte> array) { return memory.put(array, false); }));
  }
  std::vector<std::uint64_t> addresses;
  for (unsigned v = 0; v < lacuna_sida_vectors(plan.get()); ++v) {
    const lacuna_sida_storage storage = lacuna_sida_storage_of(plan.get(), v);
    if (storage.value == kNone)
      addresses.push_back(memory.allocate(storage.bytes));
    else
      addresses.push_back(memory.put(bytes_of(maker.inputs().at(storage.value)), false));
  }
  std::vector<std::byte> image(lacuna_sida_program_bytes(plan.get()));
  lacuna_sida_write(plan.get(), matrices.data(), addresses.data(), image.data());
  const std::uint64_t address = memory.put(image);
  try {
    Job job(memory, address);
    while (!job.is_done()) job.run_pass();
  } catch (const ProgramError& error) {
    return error.what();
  }
  image = memory.get<std::byte>(address, image.size());
  lacuna_sida_program header;
  std::memcpy(&header, image.data(), sizeof header);
  if (header.iterations != expected.iterations)
    return std::to_string(header.iterations) + " iterations, not " + std::to_string(expected.iterations);
  for (const auto& [state, values] : expected.states) {
    const std::vector<std::byte> wanted = bytes_of(values);
    std::vector<std::byte> got;
    if (maker.graph()->nodes[state].scalar) {
      const std::uint64_t bits = lacuna_sida_scalar_result(plan.get(), image.data(), state);
      got.resize(wanted.size());
      std::memcpy(got.data(), &bits, got.size());
    } else {
      got = memory.get<std::byte>(lacuna_sida_result(plan.get(), image.data(), state), wanted.size());
    }
    if (!same(got, wanted, values.is_float())) return "state " + std::to_string(state) + " differs";
  }
  return "";
}

}  // namespace

RandomOutcome run_random_graph(std::uint64_t seed) {
  Maker maker(seed);
  maker.make();
  RandomOutcome outcome;
  if (lacuna_sida_problem(maker.graph())) return outcome;
  constexpr std::pair<lacuna_sida_fusion, const char*> kFusions[]{{LACUNA_SIDA_FUSION_AUTO, "auto"},
                                                                  {LACUNA_SIDA_FUSION_PRODUCER_CONSUMER, "producer-consumer"},
                                                                  {LACUNA_SIDA_FUSION_NONE, "none"}};
  const ReferenceResult expected = run_reference(*maker.graph(), maker.inputs(), maker.matrices());
  for (const auto& [fusion, name] : kFusions) {
    const std::string difference = run_fused(maker, fusion, expected, outcome);
    if (difference.empty()) continue;
    outcome.difference = difference;
    if (outcome.compiled) outcome.difference += std::string(", fusion ") + name;
    break;
  }
  return outcome;
}

}  // namespace lacuna::sida::test
