#include "models/sida/reference/graph_reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace lacuna::sida {
namespace {

std::int64_t wrapped(int element, std::uint64_t value) {
  switch (element) {
    case LACUNA_SIDA_I32:
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
    case LACUNA_SIDA_I8:
      return static_cast<std::int8_t>(static_cast<std::uint8_t>(value));
    case LACUNA_SIDA_BOOL:
      return value != 0;
    default:
      return static_cast<std::int64_t>(value);
  }
}
std::int64_t least(int element) {
  switch (element) {
    case LACUNA_SIDA_I32:
      return INT32_MIN;
    case LACUNA_SIDA_I8:
      return INT8_MIN;
    case LACUNA_SIDA_BOOL:
      return 0;
    default:
      return INT64_MIN;
  }
}
std::int64_t most(int element) {
  switch (element) {
    case LACUNA_SIDA_I32:
      return INT32_MAX;
    case LACUNA_SIDA_I8:
      return INT8_MAX;
    case LACUNA_SIDA_BOOL:
      return 1;
    default:
      return INT64_MAX;
  }
}

std::int64_t saturated(int element, std::int64_t value) {
  return value < least(element) ? least(element) : value > most(element) ? most(element) : value;
}
std::int64_t saturated_sum(int element, std::int64_t a, std::int64_t b) {
  std::int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return a < 0 ? least(element) : most(element);
  return saturated(element, sum);
}

double combine(int monoid, double a, double b) {
  switch (monoid) {
    case LACUNA_SIDA_MONOID_ADD:
      return a + b;
    case LACUNA_SIDA_MONOID_MIN:
      return b < a ? b : a;
    case LACUNA_SIDA_MONOID_MAX:
      return a < b ? b : a;
    case LACUNA_SIDA_MONOID_OR:
      return a != 0 || b != 0 ? 1 : 0;
    default:
      return a != 0 && b != 0 ? 1 : 0;
  }
}
std::int64_t combine(int monoid, int element, std::int64_t a, std::int64_t b) {
  switch (monoid) {
    case LACUNA_SIDA_MONOID_ADD:
      return wrapped(element, static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    case LACUNA_SIDA_MONOID_MIN:
      return std::min(a, b);
    case LACUNA_SIDA_MONOID_MAX:
      return std::max(a, b);
    case LACUNA_SIDA_MONOID_OR:
      return a != 0 || b != 0;
    default:
      return a != 0 && b != 0;
  }
}
double identity(int monoid) {
  switch (monoid) {
    case LACUNA_SIDA_MONOID_MIN:
      return std::numeric_limits<double>::infinity();
    case LACUNA_SIDA_MONOID_MAX:
      return -std::numeric_limits<double>::infinity();
    case LACUNA_SIDA_MONOID_AND:
      return 1;
    default:
      return 0;
  }
}
std::int64_t identity(int monoid, int element) {
  switch (monoid) {
    case LACUNA_SIDA_MONOID_MIN:
      return most(element);
    case LACUNA_SIDA_MONOID_MAX:
      return least(element);
    case LACUNA_SIDA_MONOID_AND:
      return 1;
    default:
      return 0;
  }
}

int monoid_of(int semiring) {
  switch (semiring) {
    case LACUNA_SIDA_AND_OR:
      return LACUNA_SIDA_MONOID_OR;
    case LACUNA_SIDA_MIN_ADD:
    case LACUNA_SIDA_MIN_MUL:
    case LACUNA_SIDA_MIN_MAX:
      return LACUNA_SIDA_MONOID_MIN;
    case LACUNA_SIDA_MAX_ADD:
    case LACUNA_SIDA_MAX_MUL:
    case LACUNA_SIDA_MAX_MIN:
      return LACUNA_SIDA_MONOID_MAX;
    default:
      return LACUNA_SIDA_MONOID_ADD;
  }
}
double term(int semiring, double a, double b) {
  switch (semiring) {
    case LACUNA_SIDA_AND_OR:
      return a != 0 && b != 0 ? 1 : 0;
    case LACUNA_SIDA_MIN_ADD:
    case LACUNA_SIDA_MAX_ADD:
      return a + b;
    case LACUNA_SIDA_ARIL_ADD:
      return a != 0 ? b : 0;
    case LACUNA_SIDA_PLUS_NORM:
      return (a - b) * (a - b);
    case LACUNA_SIDA_MIN_MAX:
      return a < b ? b : a;
    case LACUNA_SIDA_MAX_MIN:
      return b < a ? b : a;
    default:
      return a * b;
  }
}
std::int64_t term(int semiring, int element, std::int64_t a, std::int64_t b) {
  const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
  switch (semiring) {
    case LACUNA_SIDA_AND_OR:
      return a != 0 && b != 0;
    case LACUNA_SIDA_MIN_ADD:
    case LACUNA_SIDA_MAX_ADD:
      return saturated_sum(element, a, b);
    case LACUNA_SIDA_ARIL_ADD:
      return a != 0 ? b : 0;
    case LACUNA_SIDA_PLUS_NORM: {
      const auto d = static_cast<std::uint64_t>(wrapped(element, x - y));
      return wrapped(element, d * d);
    }
    case LACUNA_SIDA_MIN_MAX:
      return std::max(a, b);
    case LACUNA_SIDA_MAX_MIN:
      return std::min(a, b);
    default:
      return wrapped(element, x * y);
  }
}

double apply(int operation, double a, double b, double c) {
  switch (operation) {
    case LACUNA_SIDA_OPERATION_COPY:
      return a;
    case LACUNA_SIDA_OPERATION_ADD:
      return a + b;
    case LACUNA_SIDA_OPERATION_SUBTRACT:
      return a - b;
    case LACUNA_SIDA_OPERATION_MULTIPLY:
      return a * b;
    case LACUNA_SIDA_OPERATION_DIVIDE:
      return a / b;
    case LACUNA_SIDA_OPERATION_MINIMUM:
      return b < a ? b : a;
    case LACUNA_SIDA_OPERATION_MAXIMUM:
      return a < b ? b : a;
    case LACUNA_SIDA_OPERATION_AND:
      return a != 0 && b != 0 ? 1 : 0;
    case LACUNA_SIDA_OPERATION_OR:
      return a != 0 || b != 0 ? 1 : 0;
    case LACUNA_SIDA_OPERATION_NOT:
      return a == 0 ? 1 : 0;
    case LACUNA_SIDA_OPERATION_NEGATE:
      return -a;
    case LACUNA_SIDA_OPERATION_ABSOLUTE:
      return std::fabs(a);
    case LACUNA_SIDA_OPERATION_SQUARE_ROOT:
      return std::sqrt(a);
    case LACUNA_SIDA_OPERATION_LESS:
      return a < b ? 1 : 0;
    case LACUNA_SIDA_OPERATION_LESS_OR_EQUAL:
      return a <= b ? 1 : 0;
    case LACUNA_SIDA_OPERATION_EQUAL:
      return a == b ? 1 : 0;
    default:
      return c != 0 ? a : b;  // SELECT
  }
}
std::int64_t apply(int operation, int element, std::int64_t a, std::int64_t b, std::int64_t c) {
  const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
  switch (operation) {
    case LACUNA_SIDA_OPERATION_COPY:
      return a;
    case LACUNA_SIDA_OPERATION_ADD:
      return wrapped(element, x + y);
    case LACUNA_SIDA_OPERATION_SUBTRACT:
      return wrapped(element, x - y);
    case LACUNA_SIDA_OPERATION_MULTIPLY:
      return wrapped(element, x * y);
    case LACUNA_SIDA_OPERATION_DIVIDE:
      return b == 0 ? 0 : b == -1 ? wrapped(element, 0 - x) : a / b;
    case LACUNA_SIDA_OPERATION_MINIMUM:
      return std::min(a, b);
    case LACUNA_SIDA_OPERATION_MAXIMUM:
      return std::max(a, b);
    case LACUNA_SIDA_OPERATION_AND:
      return a != 0 && b != 0;
    case LACUNA_SIDA_OPERATION_OR:
      return a != 0 || b != 0;
    case LACUNA_SIDA_OPERATION_NOT:
      return a == 0;
    case LACUNA_SIDA_OPERATION_NEGATE:
      return wrapped(element, 0 - x);
    case LACUNA_SIDA_OPERATION_ABSOLUTE:
      return a < 0 ? wrapped(element, 0 - x) : a;
    case LACUNA_SIDA_OPERATION_LESS:
      return a < b;
    case LACUNA_SIDA_OPERATION_LESS_OR_EQUAL:
      return a <= b;
    case LACUNA_SIDA_OPERATION_EQUAL:
      return a == b;
    case LACUNA_SIDA_OPERATION_SHIFT_RIGHT:
      return a >> (y % (element == LACUNA_SIDA_I32 ? 32 : 64));
    default:
      return c != 0 ? a : b;  // SELECT
  }
}

class Reference {
 public:
  Reference(const lacuna_sida_graph& graph, const std::map<int, Values>& inputs, const std::vector<SparseMatrix>& matrices)
      : graph_(graph), matrices_(matrices), states_(inputs), values_(static_cast<std::size_t>(graph.count)) {}

  ReferenceResult run() {
    ReferenceResult result;
    for (int n = 0; n < graph_.count; ++n) {
      const sida_node& node = graph_.nodes[n];
      if (node.kind == SIDA_STATE && node.scalar) states_[n] = constant(graph_.nodes[node.operands[0]]);
    }
    for (bool goes_on = true; goes_on && result.iterations < graph_.limit; ++result.iterations) {
      iteration_ = result.iterations;
      for (int n = 0; n < graph_.count; ++n) evaluate(n);
      std::map<int, Values> next = states_;
      for (int n = 0; n < graph_.count; ++n) {
        const sida_node& node = graph_.nodes[n];
        if (node.kind == SIDA_STATE && node.next >= 0) next[n] = values_[static_cast<std::size_t>(node.next)];
      }
      states_ = next;
      if (graph_.condition >= 0) {
        const Values& condition = values_[static_cast<std::size_t>(graph_.condition)];
        goes_on = condition.is_float() ? condition.floats[0] != 0 : condition.integers[0] != 0;
      }
    }
    for (int n = 0; n < graph_.count; ++n) {
      if (graph_.nodes[n].kind == SIDA_STATE && graph_.nodes[n].kept) result.states[n] = states_[n];
    }
    return result;
  }

 private:
  static Values constant(const sida_node& node) {
    Values value{.element = node.element};
    if (value.is_float()) {
      value.floats.resize(1);
      std::memcpy(value.floats.data(), &node.bits, sizeof node.bits);
    } else {
      value.integers = {wrapped(node.element, node.bits)};
    }
    return value;
  }

  const Values& operand(const sida_node& node, int number) const {
    return values_[static_cast<std::size_t>(node.operands[number])];
  }

  /// Index of the operand's value that is used for value i of a result with `width` features.
  static std::size_t spread(const Values& from, bool scalar, std::size_t i, std::uint32_t width) {
    if (scalar) return 0;
    return from.width == width ? i : i / width;
  }

  void evaluate(int number) {
    const sida_node& node = graph_.nodes[number];
    Values& out = values_[static_cast<std::size_t>(number)];
    if (node.kind == SIDA_INPUT || node.kind == SIDA_STATE) out = states_.at(number);
    if (node.kind == SIDA_CONSTANT) out = constant(node);
    if (node.kind == SIDA_INPUT || node.kind == SIDA_STATE || node.kind == SIDA_CONSTANT || node.kind == SIDA_MATRIX) return;
    out = Values{.element = node.element, .width = node.width};
    switch (node.kind) {
      case SIDA_PRODUCT:
        product(node, out);
        return;
      case SIDA_REDUCE:
      case SIDA_SCAN:
        combination(node, out);
        return;
      case SIDA_DENSE:
        dense(node, out);
        return;
      case SIDA_INDEX:
        for (std::uint64_t i = 0; i < node.length; ++i) out.integers.push_back(static_cast<std::int64_t>(i));
        return;
      default:
        break;
    }
    const std::size_t count = node.scalar ? 1 : node.length * node.width;
    for (std::size_t i = 0; i < count; ++i) {
      double f[3]{};
      std::int64_t n[3]{};
      for (int o = 0; o < 3; ++o) {
        if (node.operands[o] < 0) continue;
        const Values& from = operand(node, o);
        const std::size_t at = spread(from, graph_.nodes[node.operands[o]].scalar, i, node.width);
        if (from.is_float())
          f[o] = from.floats[at];
        else
          n[o] = from.integers[at];
      }
      if (node.kind == SIDA_CONVERT) {
        const bool from_float = operand(node, 0).is_float();
        if (out.is_float()) {
          out.floats.push_back(from_float ? f[0] : static_cast<double>(n[0]));
        } else if (node.element == LACUNA_SIDA_BOOL) {
          out.integers.push_back(from_float ? f[0] != 0 : n[0] != 0);
        } else if (from_float) {
          const double whole = std::trunc(f[0]);
          out.integers.push_back(std::isnan(whole)                                    ? 0
                                 : whole < static_cast<double>(least(node.element))   ? least(node.element)
                                 : whole >= -static_cast<double>(least(node.element)) ? most(node.element)
                                                                                      : static_cast<std::int64_t>(whole));
        } else {
          out.integers.push_back(node.element == LACUNA_SIDA_I8 ? saturated(node.element, n[0])
                                                                : wrapped(node.element, static_cast<std::uint64_t>(n[0])));
        }
      } else if (out.is_float()) {
        out.floats.push_back(apply(node.operation, f[0], f[1], f[2]));
      } else {
        out.integers.push_back(apply(node.operation, node.element, n[0], n[1], n[2]));
      }
    }
  }

  void dense(const sida_node& node, Values& out) const {
    const Values &from = operand(node, 0), &array = operand(node, 1);
    const std::size_t features = from.width, layers = array.size() / features / array.width;
    const std::size_t first = iteration_ % layers * features * array.width;
    for (std::uint64_t i = 0; i < node.length; ++i) {
      for (std::size_t j = 0; j < array.width; ++j) {
        double sum = 0;
        std::int64_t whole = 0;
        for (std::size_t f = 0; f < features; ++f) {
          const std::size_t a = i * features + f, b = first + f * array.width + j;
          if (from.is_float())
            sum += from.floats[a] * array.floats[b];
          else
            whole = wrapped(node.element, static_cast<std::uint64_t>(whole + from.integers[a] * array.integers[b]));
        }
        if (from.is_float())
          out.floats.push_back(sum);
        else
          out.integers.push_back(whole);
      }
    }
  }

  void combination(const sida_node& node, Values& out) const {
    const Values& from = operand(node, 0);
    double f = identity(node.operation);
    std::int64_t n = identity(node.operation, node.element);
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (from.is_float())
        f = combine(node.operation, f, from.floats[i]);
      else
        n = combine(node.operation, node.element, n, from.integers[i]);
      if (node.kind == SIDA_SCAN && from.is_float()) out.floats.push_back(f);
      if (node.kind == SIDA_SCAN && !from.is_float()) out.integers.push_back(n);
    }
    if (node.kind == SIDA_SCAN) return;
    if (from.is_float())
      out.floats = {f};
    else
      out.integers = {n};
  }

  void product(const sida_node& node, Values& out) const {
    const SparseMatrix& stored = matrices_[static_cast<std::size_t>(graph_.nodes[node.matrix].number)];
    const SparseMatrix matrix = node.transposed ? transposed(stored) : stored;
    const Values& x = operand(node, 0);
    const Values* const present = node.operands[1] >= 0 ? &operand(node, 1) : nullptr;
    const int monoid = monoid_of(node.operation);
    const bool has_values = graph_.nodes[node.matrix].has_values;
    for (Index c = 0; c < matrix.columns; ++c) {
      for (std::uint32_t f = 0; f < node.width; ++f) {
        double sum = identity(monoid);
        std::int64_t whole = identity(monoid, node.element);
        for (std::uint64_t e = matrix.offsets[c]; e < matrix.offsets[c + 1]; ++e) {
          const std::size_t r = matrix.indices[e];
          if (present && present->integers[r] == 0) continue;
          const double value = has_values && !matrix.is_pattern() ? matrix.values[e] : 1;
          if (x.is_float()) {
            sum = combine(monoid, sum, term(node.operation, x.floats[r * node.width + f], value));
          } else {
            const auto factor = node.element == LACUNA_SIDA_BOOL ? value != 0 : static_cast<std::int64_t>(value);
            whole = combine(monoid, node.element, whole,
                            term(node.operation, node.element, x.integers[r * node.width + f], factor));
          }
        }
        if (x.is_float())
          out.floats.push_back(sum);
        else
          out.integers.push_back(whole);
      }
    }
  }

  const lacuna_sida_graph& graph_;
  const std::vector<SparseMatrix>& matrices_;
  std::map<int, Values> states_;
  std::vector<Values> values_;
  std::uint64_t iteration_ = 0;
};

template <class T>
void take_integers(std::span<const std::byte> contents, Values& values) {
  std::vector<T> whole(contents.size() / sizeof(T));
  std::memcpy(whole.data(), contents.data(), contents.size());
  values.integers.assign(whole.begin(), whole.end());
}

}  // namespace

Values values_of(const sida_node& node, std::span<const std::byte> contents) {
  Values values{.element = node.element, .width = node.width};
  switch (node.element) {
    case LACUNA_SIDA_F64:
      values.floats.resize(contents.size() / sizeof(double));
      std::memcpy(values.floats.data(), contents.data(), contents.size());
      break;
    case LACUNA_SIDA_I64:
      take_integers<std::int64_t>(contents, values);
      break;
    case LACUNA_SIDA_I32:
      take_integers<std::int32_t>(contents, values);
      break;
    case LACUNA_SIDA_I8:
      take_integers<std::int8_t>(contents, values);
      break;
    default:
      take_integers<std::uint8_t>(contents, values);
  }
  return values;
}

std::vector<std::byte> bytes_of(const Values& values) {
  std::vector<std::byte> bytes;
  const auto append = [&bytes](auto value) {
    const auto* const p = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), p, p + sizeof value);
  };
  for (const double value : values.floats) append(value);
  for (const std::int64_t value : values.integers) {
    switch (values.element) {
      case LACUNA_SIDA_I64:
        append(value);
        break;
      case LACUNA_SIDA_I32:
        append(static_cast<std::int32_t>(value));
        break;
      default:
        append(static_cast<std::uint8_t>(value));
    }
  }
  return bytes;
}

ReferenceResult run_reference(const lacuna_sida_graph& graph, const std::map<int, Values>& inputs,
                              const std::vector<SparseMatrix>& matrices) {
  return Reference(graph, inputs, matrices).run();
}

}  // namespace lacuna::sida
