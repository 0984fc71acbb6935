#include "tests/validation/reference_table.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <cmath>
#include <stdexcept>

namespace lacuna::validation {
namespace {

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields(1);
  for (const char c : line) {
    if (c == ',') {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

}  // namespace

Row::Row(const std::vector<std::string>& columns, const std::string& line) {
  const std::vector<std::string> fields = split(line);
  for (std::size_t i = 0; i < columns.size(); ++i) fields_[columns[i]] = i < fields.size() ? fields[i] : "";
}

const std::string& Row::text(const std::string& column) const { return fields_.at(column); }

std::optional<double> Row::number(const std::string& column) const {
  const std::string& field = text(column);
  if (field.empty()) return std::nullopt;
  std::size_t used = 0;
  const double value = std::stod(field, &used);
  if (used != field.size()) throw std::invalid_argument("not a number: " + field);
  return value;
}

std::vector<Row> read_reference(const std::string& name) {
  return read_table(std::filesystem::path(LACUNA_REFERENCE_DIR) / name);
}

std::vector<Row> read_table(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) throw std::runtime_error("cannot read " + path.string());
  const std::vector<std::string> columns = split(line);
  std::vector<Row> rows;
  while (std::getline(file, line)) rows.emplace_back(columns, line);
  return rows;
}

Comparison::Comparison(const std::string& name, const std::vector<std::string>& keys)
    : path_(std::filesystem::path(LACUNA_VALIDATION_DIR) / name) {
  std::filesystem::create_directories(path_.parent_path());
  file_.open(path_);
  if (!file_) throw std::runtime_error("cannot write " + path_.string());
  fmt::print(file_, "{},quantity,lacuna,reference,error_percent,allowed_percent\n", fmt::join(keys, ","));
}

double Comparison::add(const std::vector<std::string>& point, const std::string& quantity, double ours, double reference,
                       double allowed) {
  const double error = ours / reference - 1;
  fmt::print(file_, "{},{},{:.4f},{:.4f},{:.2f},{:.0f}\n", fmt::join(point, ","), quantity, ours, reference, 100 * error,
             100 * allowed);
  return error;
}

}  // namespace lacuna::validation
