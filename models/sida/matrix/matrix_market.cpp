#include "models/sida/matrix/matrix_market.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <ostream>
#include <string_view>
#include <utility>

#include "models/sida/matrix/line_reader.h"

namespace lacuna::sida {
namespace {

enum class Format : std::uint8_t { coordinate, array };
enum class Field : std::uint8_t { real, integer, pattern };

struct Header {
  Format format = Format::coordinate;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  std::uint64_t rows = 0, columns = 0;
  std::uint64_t entries = 0;  ///< number of entries stated by the file
};

constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

/// Removes and returns the next word of a line; empty at the end of the line.
std::string_view word(std::string_view& line) {
  std::size_t begin = 0;
  while (begin < line.size() && is_blank(line[begin])) ++begin;
  std::size_t end = begin;
  while (end < line.size() && !is_blank(line[end])) ++end;
  const std::string_view found = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return found;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return result;
}

/// A word in quotes, shortened, since the file may have arbitrary contents.
std::string in_quotes(std::string_view text) {
  constexpr std::size_t kShown = 40;
  std::string shown;
  for (const char c : text.substr(0, kShown)) shown += c >= ' ' && c <= '~' ? c : '?';
  return '\'' + shown + (text.size() > kShown ? "…'" : "'");
}

class Reader {
 public:
  Reader(const std::filesystem::path& file, const ReadOptions& options) : lines_(file), options_(options) {}

  ReadMatrix read() {
    read_banner();
    read_sizes();
    entries_.rows = static_cast<Index>(header_.rows);
    entries_.columns = static_cast<Index>(header_.columns);
    if (header_.format == Format::coordinate) {
      read_coordinates();
    } else {
      read_array();
    }
    expect_end();
    expect_rows_in_proportion();
    ReadMatrix result;
    result.symmetry = header_.symmetry;
    result.stored = stored_;
    result.matrix = by_columns(std::move(entries_), &result.duplicates);
    if (result.duplicates != 0) {
      // by_columns() also counts the mirror image of each duplicate, which the file does not contain.
      if (header_.symmetry != Symmetry::general && !options_.as_stored) result.duplicates = duplicates_in_file(result);
      result.warnings.push_back(lines_.file().string() + ": " + std::to_string(result.duplicates) +
                                " entries are at the place of another one, and are added to it");
    }
    return result;
  }

 private:
  /// Number of duplicate entries in the file; an entry and its mirror image count once.
  static std::uint64_t duplicates_in_file(const ReadMatrix& result) {
    // Number of stored entries minus number of distinct positions in the lower triangle.
    std::uint64_t places = 0;
    for (Index c = 0; c < result.matrix.columns; ++c) {
      const auto rows = result.matrix.column(c);
      places += static_cast<std::uint64_t>(rows.end() - std::lower_bound(rows.begin(), rows.end(), c));
    }
    return result.stored - places;
  }

  std::string_view required_line(const char* what) {
    while (const auto line = lines_.next()) {
      std::string_view rest = *line;
      if (!word(rest).empty() && line->front() != '%') return *line;
    }
    lines_.fail(std::string("the file ends before ") + what);
  }

  void read_banner() {
    const auto line = lines_.next();
    if (!line) lines_.fail("the file is empty; a Matrix Market file begins with %%MatrixMarket");
    std::string_view rest = *line;
    if (lower(word(rest)) != "%%matrixmarket")
      lines_.fail("a Matrix Market file begins with %%MatrixMarket, not " + in_quotes(line->substr(0, line->find(' '))));
    expect(lower(word(rest)), "an object", {"matrix"});
    const std::string format = lower(word(rest)), field = lower(word(rest)), symmetry = lower(word(rest));
    header_.format = static_cast<Format>(expect(format, "a format", {"coordinate", "array"}));
    if (field == "complex") lines_.fail("complex entries are not supported: real, integer or pattern");
    header_.field =
        static_cast<Field>(expect(field == "double" ? "real" : field, "a kind of entries", {"real", "integer", "pattern"}));
    if (symmetry == "hermitian") lines_.fail("Hermitian matrices are complex ones, which are not supported");
    header_.symmetry = static_cast<Symmetry>(expect(symmetry, "a symmetry", {"general", "symmetric", "skew-symmetric"}));
    if (header_.format == Format::array && header_.field == Field::pattern)
      lines_.fail("an array has entries: real or integer");
    if (header_.symmetry == Symmetry::skew && header_.field == Field::pattern)
      lines_.fail("a skew-symmetric matrix has signs: real or integer");
    if (const std::string_view more = word(rest); !more.empty())
      lines_.fail("nothing may follow the symmetry: " + in_quotes(more));
  }

  /// Returns the index of `text` in `legal`; rejects the file if `text` is another word.
  std::size_t expect(const std::string& text, const char* what, std::initializer_list<const char*> legal) {
    std::size_t number = 0;
    std::string all;
    for (const char* const one : legal) {
      if (text == one) return number;
      all += (number == 0 ? "" : number + 1 == legal.size() ? " or " : ", ") + std::string(one);
      ++number;
    }
    if (text.empty()) lines_.fail(std::string("the line ends before ") + what + ": " + all);
    lines_.fail(in_quotes(text) + " is not " + what + ": " + all);
  }

  void read_sizes() {
    std::string_view line = required_line("the line of sizes");
    header_.rows = number(word(line), "the number of rows", kMost);
    header_.columns = number(word(line), "the number of columns", kMost);
    if (header_.format == Format::coordinate)
      header_.entries = number(word(line), "the number of entries", std::numeric_limits<std::uint64_t>::max());
    if (const std::string_view more = word(line); !more.empty())
      lines_.fail("nothing may follow the sizes: " + in_quotes(more));
    if (header_.symmetry != Symmetry::general && header_.rows != header_.columns) {
      lines_.fail("a symmetric matrix is square: this one has " + std::to_string(header_.rows) + " rows and " +
                  std::to_string(header_.columns) + " columns");
    }
    if (header_.format == Format::array) header_.entries = array_entries();
    // Reserves memory for the stated entries, but for no more than an uncompressed file of this size can have (plus a margin).
    // Unused pages are never touched.
    std::error_code problem;
    const std::uint64_t bytes = std::filesystem::file_size(lines_.file(), problem);
    constexpr std::uint64_t kShortestLine = 4, kSmallestSize = 1 << 20;
    const bool mirrored = header_.symmetry != Symmetry::general && !options_.as_stored;
    const std::uint64_t reserved =
        std::min(header_.entries, (problem ? kSmallestSize : bytes + kSmallestSize) / kShortestLine) * (mirrored ? 2 : 1);
    entries_.row.reserve(reserved);
    entries_.column.reserve(reserved);
    if (header_.field != Field::pattern) entries_.values.reserve(reserved);
  }

  /// Number of entries of a file in array format: at most 2^64 - 2^33 + 1, so that the multiplications do not overflow.
  std::uint64_t array_entries() const {
    const std::uint64_t n = header_.rows;
    if (header_.symmetry == Symmetry::general) return n * header_.columns;
    return n % 2 == 0 ? n / 2 * (header_.symmetry == Symmetry::skew ? n - 1 : n + 1)
                      : (header_.symmetry == Symmetry::skew ? n - 1 : n + 1) / 2 * n;
  }

  std::uint64_t number(std::string_view text, const char* what, std::uint64_t most) {
    std::uint64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem == std::errc() && end == text.data() + text.size() && value <= most) return value;
    if (text.empty()) lines_.fail(std::string("the line ends before ") + what);
    lines_.fail(std::string(what) + " is a whole number from 0 to " + std::to_string(most) + ", not " + in_quotes(text));
  }

  /// Parses the next word of a line as a number from 1 to `count`; returns it minus 1. Files have many lines, so digits are
  /// parsed directly.
  Index place(std::string_view& line, const char* what, std::uint64_t count) {
    std::size_t at = 0;
    while (at < line.size() && is_blank(line[at])) ++at;
    std::uint64_t value = 0;
    for (; at < line.size() && line[at] >= '0' && line[at] <= '9'; ++at)
      value = std::min(value * 10 + static_cast<std::uint64_t>(line[at] - '0'), kMost + 1);
    if (value >= 1 && value <= count && (at == line.size() || is_blank(line[at]))) {
      line.remove_prefix(at);
      return static_cast<Index>(value - 1);
    }
    const std::string_view text = word(line);
    if (text.empty()) lines_.fail(std::string("the line ends before the ") + what + " of the entry");
    if (count == 0) lines_.fail(std::string("the matrix has no ") + what + 's');
    lines_.fail(std::string("the ") + what + " of an entry is a whole number from 1 to " + std::to_string(count) + ", not " +
                in_quotes(text));
  }

  double value(std::string_view text) {
    if (text.empty()) lines_.fail("the line ends before the value of the entry");
    const std::string_view digits = text.front() == '+' ? text.substr(1) : text;
    const char* const last = digits.data() + digits.size();
    if (header_.field == Field::integer) {
      std::int64_t whole = 0;
      const auto [end, problem] = std::from_chars(digits.data(), last, whole);
      if (problem != std::errc() || end != last) lines_.fail("the value of an entry is a whole number, not " + in_quotes(text));
      constexpr std::int64_t kExact = std::int64_t{1} << 53;
      if (whole > kExact || whole < -kExact) lines_.fail("the value of an entry is beyond 2^53: " + in_quotes(text));
      return static_cast<double>(whole);
    }
    double real = 0;
    const auto [end, problem] = std::from_chars(digits.data(), last, real);
    if (problem == std::errc::result_out_of_range)
      lines_.fail("the value of an entry is not a 64-bit number: " + in_quotes(text));
    if (problem != std::errc() || end != last || !std::isfinite(real))
      lines_.fail("the value of an entry is a number, not " + in_quotes(text));
    return real;
  }

  void keep(Index row, Index column, double v) {
    const bool mirrored = header_.symmetry != Symmetry::general && row != column && !options_.as_stored;
    if (header_.field == Field::pattern) {
      entries_.add(row, column);
      if (mirrored) entries_.add(column, row);
    } else {
      entries_.add(row, column, v);
      if (mirrored) entries_.add(column, row, header_.symmetry == Symmetry::skew ? -v : v);
    }
  }

  void read_coordinates() {
    for (; stored_ < header_.entries; ++stored_) {
      std::optional<std::string_view> line = lines_.next();
      while (line && (line->empty() || line->front() == '%' || is_only_blank(*line))) line = lines_.next();
      if (!line) fail_at_end();
      const Index row = place(*line, "row", header_.rows), column = place(*line, "column", header_.columns);
      if (header_.symmetry != Symmetry::general && row < column)
        lines_.fail("a symmetric file has the lower triangle: row " + std::to_string(row + std::uint64_t{1}) + ", column " +
                    std::to_string(column + std::uint64_t{1}) + " is above the diagonal");
      if (header_.symmetry == Symmetry::skew && row == column) lines_.fail("a skew-symmetric matrix has no diagonal");
      const double v = header_.field == Field::pattern ? 0 : value(word(*line));
      if (const std::string_view more = word(*line); !more.empty())
        lines_.fail("nothing may follow an entry: " + in_quotes(more));
      keep(row, column, v);
    }
  }

  void read_array() {
    std::uint64_t row = header_.symmetry == Symmetry::skew ? 1 : 0, column = 0;
    while (stored_ < header_.entries) {
      auto line = lines_.next();
      if (!line) fail_at_end();
      if (!line->empty() && line->front() == '%') continue;
      for (std::string_view text = word(*line); !text.empty(); text = word(*line)) {
        if (stored_ == header_.entries)
          lines_.fail("more than " + std::to_string(header_.entries) + " entries: " + in_quotes(text));
        const double v = value(text);
        ++stored_;
        if (v != 0) keep(static_cast<Index>(row), static_cast<Index>(column), v);
        if (++row < header_.rows) continue;
        ++column;
        row = header_.symmetry == Symmetry::general ? 0 : column + (header_.symmetry == Symmetry::skew ? 1 : 0);
      }
    }
  }

  static bool is_only_blank(std::string_view line) { return std::all_of(line.begin(), line.end(), is_blank); }

  [[noreturn]] void fail_at_end() {
    lines_.fail("the file ends after " + std::to_string(stored_) + " of " + std::to_string(header_.entries) + " entries");
  }

  void expect_end() {
    while (auto line = lines_.next()) {
      if (!line->empty() && line->front() == '%') continue;
      if (const std::string_view more = word(*line); !more.empty())
        lines_.fail("more than the " + std::to_string(header_.entries) + " entries of the line of sizes: " + in_quotes(more));
    }
  }

  /// Rejects sizes out of proportion to the number of entries, before memory for rows and columns is allocated.
  void expect_rows_in_proportion() const {
    constexpr std::uint64_t kEmptyRows = 1000;  // maximum rows or columns: kEmptyRows * (entries + kEmptyRows)
    const std::uint64_t sides = std::max(header_.rows, header_.columns), entries = entries_.entries() + kEmptyRows;
    if (sides / kEmptyRows > entries) {
      throw MatrixError(lines_.file().string() + ": " + std::to_string(sides) + " rows or columns for " +
                        std::to_string(entries_.entries()) + " entries; 1,000 for each, and for 1,000 more, are allowed");
    }
  }

  static constexpr std::uint64_t kMost = std::numeric_limits<Index>::max();

  LineReader lines_;
  const ReadOptions options_;
  Header header_;
  Coordinates entries_;
  std::uint64_t stored_ = 0;
};

}  // namespace

ReadMatrix read_matrix_market(const std::filesystem::path& file, const ReadOptions& options) {
  return Reader(file, options).read();
}

void write_matrix_market(const SparseMatrix& matrix, std::ostream& out) {
  out << "%%MatrixMarket matrix coordinate " << (matrix.is_pattern() ? "pattern" : "real") << " general\n"
      << matrix.rows << ' ' << matrix.columns << ' ' << matrix.entries() << '\n';
  constexpr std::size_t kPiece = std::size_t{1} << 16, kLongest = 64;
  std::string text;
  std::array<char, 32> digits{};
  const auto put = [&](auto number, char behind) {
    text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
    text += behind;
  };
  text.reserve(kPiece + kLongest);
  for (Index c = 0; c < matrix.columns; ++c) {
    for (std::uint64_t i = matrix.offsets[c]; i < matrix.offsets[c + 1]; ++i) {
      put(matrix.indices[i] + std::uint64_t{1}, ' ');
      put(c + std::uint64_t{1}, matrix.is_pattern() ? '\n' : ' ');
      if (!matrix.is_pattern()) put(matrix.values[i], '\n');
      if (text.size() < kPiece) continue;
      out << text;
      text.clear();
    }
  }
  out << text;
}

}  // namespace lacuna::sida
