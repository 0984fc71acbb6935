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

constexpr unsigned kGraphOrderWindow = 5;  // the paper's

constexpr OrderKind kOrders[]{
    {"graphorder", "GraphOrder (Wei et al., SIGMOD '16), window 5: vertices that share neighbours are close, for networks"},
    {"line", "mapped onto a line by Scotch: short edges; slow"},
    {"natural", "as it is"},
    {"partition", "the parts of a recursive bisection by Scotch, for meshes, roads and communities"},
    {"random", "at random"},
    {"rcm", "reverse Cuthill-McKee (1969, George 1971): small bandwidth, for meshes and roads"},
    {"triangular", "as many entries above the diagonal as a greedy choice finds (Eades, Lin, Smyth 1993), for directed graphs"},
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

std::vector<Index> order_of(const SparseMatrix& matrix, std::string_view name, std::uint64_t seed) {
  if (!matrix.is_square()) throw MatrixError("only a square matrix can be reordered");
  if (name == "natural") {
    std::vector<Index> order(matrix.columns);
    std::iota(order.begin(), order.end(), Index{0});
    return order;
  }
  if (name == "random") return Random(seed).order(matrix.columns);
  if (name == "rcm") return reverse_cuthill_mckee(matrix);
  if (name == "triangular") return towards_triangular(matrix);
  if (name == "graphorder") return graph_order(matrix, kGraphOrderWindow);
  if (name == "partition") return by_partition(matrix);
  if (name == "line") return along_a_line(matrix);
  std::error_code problem;
  if (std::filesystem::exists(std::filesystem::path(name), problem))
    return order_in_file(std::filesystem::path(name), matrix.rows);
  std::vector<std::string> names;
  for (const OrderKind& order : kOrders) names.emplace_back(order.name);
  throw MatrixError("no order and no file '" + std::string(name) + "'" + nearest_or_all(names, std::string(name)));
}

}  // namespace lacuna::sida
