// Reference curves measured with other simulators (reference/*.csv), and tables that compare our results with them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lacuna::validation {

/// A row of a CSV file, with access to fields by column name. Fields must not contain commas.
class Row {
 public:
  Row(const std::vector<std::string>& columns, const std::string& line);
  const std::string& text(const std::string& column) const;
  /// Returns the field as a number, or nullopt if it is empty. Throws std::invalid_argument if it is not a number.
  std::optional<double> number(const std::string& column) const;

 private:
  std::map<std::string, std::string> fields_;
};

/// Reads a CSV file. Throws std::runtime_error if it cannot be read.
std::vector<Row> read_table(const std::filesystem::path& path);
/// Reads the CSV file reference/NAME. Throws std::runtime_error if it cannot be read.
std::vector<Row> read_reference(const std::string& name);

/// Writes validation/NAME under the build directory: a line for each comparison, with our value, the reference's and the error.
class Comparison {
 public:
  /// `keys`: names of the columns that identify the point of a row.
  Comparison(const std::string& name, const std::vector<std::string>& keys);
  /// Adds a line. Returns the error: ours / reference - 1.
  double add(const std::vector<std::string>& point, const std::string& quantity, double ours, double reference, double allowed);
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::ofstream file_;
};

}  // namespace lacuna::validation
