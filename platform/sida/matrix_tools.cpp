#include "platform/sida/matrix_tools.h"

#include <cmath>
#include <filesystem>
#include <ostream>
#include <sstream>
#include <utility>

#include "models/common/config/parameters.h"
#include "models/sida/matrix/eviction.h"
#include "models/sida/matrix/generators.h"
#include "models/sida/matrix/matrix_market.h"
#include "models/sida/matrix/occupancy.h"
#include "models/sida/matrix/orders.h"
#include "models/sida/matrix/prepared.h"
#include "platform/configuration.h"
#include "platform/run/text_table.h"
#include "platform/run/whole_file.h"
#include "platform/sida/named_matrix.h"

namespace lacuna {
namespace {

constexpr double kMega = 1e6;

std::string percent(double part, double all, int decimals = 1) {
  return all == 0 ? "-" : fixed(100 * part / all, decimals) + " %";
}
std::string megabytes(std::uint64_t bytes) { return fixed(static_cast<double>(bytes) / kMega, 3) + " MB"; }

const char* text_of(sida::Symmetry symmetry) {
  constexpr const char* kTexts[]{"general", "symmetric", "skew-symmetric"};
  return kTexts[static_cast<std::size_t>(symmetry)];
}

/// Number of entries of `entry_bytes` bytes that fit into the size that `text` (--room) states.
std::uint64_t room_in_entries(const std::string& text, unsigned entry_bytes) {
  Bytes room{0};
  ParameterSection section("room");
  section.add("room", room, "");
  if (const auto error = section.parameters().front()->parse(text)) throw ConfigurationError("--room " + text + ": " + *error);
  return room.n / entry_bytes;
}

sida::SparseMatrix in_order(sida::SparseMatrix matrix, const SidaOptions& options) {
  return options.orders.empty() ? std::move(matrix) : permuted(matrix, sida::order_of(matrix, options.orders.front()));
}

}  // namespace

void describe_matrix(const std::string& name, const SidaOptions& options, std::ostream& result, std::ostream& warnings) {
  const sida::ReadMatrix read = sida_matrix(name, options.as_stored, warnings);
  const sida::SparseMatrix& matrix = read.matrix;
  // Collect the text first, so that nothing is printed if an option is invalid.
  std::ostringstream out;
  const auto entries = static_cast<double>(matrix.entries());
  out << "matrix     " << name << ", " << text_of(read.symmetry) << ", " << grouped(read.stored) << " entries stored\n"
      << "size       " << grouped(matrix.rows) << " rows, " << grouped(matrix.columns) << " columns, "
      << grouped(matrix.entries()) << " entries" << (matrix.is_pattern() ? " without values" : "");
  if (matrix.rows != 0) out << ", " << fixed(entries / matrix.rows, 1) << " a row";
  const unsigned value_bytes = matrix.is_pattern() ? 0 : options.value_bytes;
  const std::uint64_t dual = sida::dual_bytes(matrix, value_bytes);
  const sida::Blocks blocks = sida::blocks(matrix, options.block, value_bytes);
  out << "\ndual       " << megabytes(dual) << ", by columns and by rows, values of " << value_bytes << " bytes\nblocked    "
      << megabytes(blocks.bytes) << ", " << percent(static_cast<double>(blocks.bytes), static_cast<double>(dual))
      << " of dual, " << grouped(blocks.count) << " blocks of " << blocks.side << " x " << blocks.side << '\n';
  if (!matrix.is_square()) {
    result << out.str() << "Only a square matrix can be used by two products of one pass.\n";
    return;
  }
  out << "\nkept in the buffer for the second product, sub-tensors of " << options.sub_tensor << " column"
      << (options.sub_tensor == 1 ? "" : "s") << ":\n";
  std::vector<std::string> orders = options.orders;
  if (orders.empty()) orders = {"natural", "rcm", "triangular"};
  std::vector<TextRow> rows{{"order", "below the diagonal", "peak", "of all", "mean", "of all", "peak bytes"}};
  const unsigned entry_bytes = sizeof(sida::Index) + value_bytes;
  const std::uint64_t room = options.room ? room_in_entries(*options.room, entry_bytes) : 0;
  if (options.room) rows.front().insert(rows.front().end(), {"loaded again", "of all", "by whole rows"});
  for (const std::string& order : orders) {
    const bool natural = order == "natural";
    const sida::SparseMatrix other = natural ? sida::SparseMatrix() : permuted(matrix, sida::order_of(matrix, order));
    const sida::SparseMatrix& ordered = natural ? matrix : other;
    const sida::Occupancy kept = sida::occupancy(ordered, options.sub_tensor);
    rows.push_back({order, matrix.entries() == 0 ? "-" : fixed(sida::share_below_diagonal(ordered), 1) + " %",
                    grouped(kept.peak()), percent(static_cast<double>(kept.peak()), entries),
                    grouped(static_cast<std::uint64_t>(std::llround(kept.mean()))), percent(kept.mean(), entries),
                    megabytes(kept.peak() * entry_bytes)});
    if (!options.room) continue;
    const auto again = [&](sida::RowSpace space) { return sida::reloads(ordered, options.sub_tensor, room, space).reloaded; };
    const std::uint64_t fewest = again(sida::RowSpace::elements);
    rows.back().insert(rows.back().end(), {grouped(fewest), percent(static_cast<double>(fewest), entries),
                                           percent(static_cast<double>(again(sida::RowSpace::whole)), entries)});
  }
  write_aligned(rows, out);
  result << out.str();
}

void generate_matrix(const std::string& kind, const SidaOptions& options) {
  const sida::SparseMatrix matrix = in_order(sida::generated(kind), options);
  write_file(*options.file, [&](std::ostream& out) { sida::write_matrix_market(matrix, out); });
}

void prepare_matrix(const std::string& name, const SidaOptions& options, std::ostream& warnings) {
  sida::ReadMatrix read = sida_matrix(name, options.as_stored, warnings);
  const sida::SparseMatrix matrix = in_order(std::move(read.matrix), options);
  write_file(*options.file, [&](std::ostream& out) { sida::write_prepared(matrix, out); });
}

}  // namespace lacuna
