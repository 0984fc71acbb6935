#include "models/sida/matrix/orders.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <numeric>
#include <string>

#include "models/sida/matrix/line_reader.h"
#include "models/sida/matrix/names.h"
#include "models/sida/matrix/order_methods.h"
#include "models/sida/matrix/random.h"

namespace lacuna::sida {
namespace {

constexpr unsigned kGraphOrderWindow = 5;  // value in the paper by Wei et al.

std::vector<Index> natural(const SparseMatrix& matrix) {
  std::vector<Index> order(matrix.columns);
  std::iota(order.begin(), order.end(), Index{0});
  return order;
}

constexpr OrderKind kOrders[]{
    {"graphorder", "GraphOrder (Wei et al., SIGMOD '16), window 5: vertices that share neighbours are close, for networks",
     [](const SparseMatrix& m) { return graph_order(m, kGraphOrderWindow); }},
    {"line", "mapped onto a line by Scotch, so that edges are short; minutes for graphs of 10^5 vertices without locality",
     along_a_line},
    {"natural", "as it is", natural},
    {"partition", "the parts of a recursive bisection by Scotch, of 16 vertices, for meshes, roads and communities",
     by_partition},
    {"random", "at random, always the same", [](const SparseMatrix& m) { return Random(1).order(m.columns); }},
    {"rcm", "reverse Cuthill-McKee (1969, George 1971): small bandwidth, for meshes and roads", reverse_cuthill_mckee},
    {"triangular",
     "as many entries above the diagonal as the greedy choice of Eades, Lin and Smyth (1993) finds, for directed graphs",
     towards_triangular},
};

std::vector<Index> order_in_file(const std::filesystem::path& file, Index rows) {
  LineReader lines(file);
  std::vector<Index> order;
  while (const auto line = lines.next()) {
    if (line->empty() || line->front() == '%') continue;
    Index number = 0;
    const auto [end, problem] = std::from_chars(line->data(), line->data() + line->size(), number);
    if (problem != std::errc() || end != line->data() + line->size() || number == 0)
      lines.fail("a line of an order is the number of a row, from 1");
    order.push_back(number - 1);
  }
  if (order.size() != rows) {
    throw MatrixError(file.string() + ": the order has " + std::to_string(order.size()) + " numbers, the matrix " +
                      std::to_string(rows) + " rows");
  }
  return order;
}

}  // namespace

std::span<const OrderKind> order_kinds() { return kOrders; }

std::vector<Index> order_of(const SparseMatrix& matrix, std::string_view name) {
  if (!matrix.is_square()) throw MatrixError("only a square matrix can be reordered");
  std::vector<std::string> names;
  for (const OrderKind& order : kOrders) {
    if (name == order.name) return order.make(matrix);
    names.emplace_back(order.name);
  }
  std::error_code problem;
  if (std::filesystem::exists(std::filesystem::path(name), problem))
    return order_in_file(std::filesystem::path(name), matrix.rows);
  throw MatrixError("no order and no file '" + std::string(name) + "'" + nearest_or_all(names, std::string(name)));
}

}  // namespace lacuna::sida
