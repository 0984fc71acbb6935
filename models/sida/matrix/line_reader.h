// Lines of a file that may be compressed by gzip.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace lacuna::sida {

class LineReader {
 public:
  /// A longer line is no line of a matrix file.
  static constexpr std::size_t kLongestLine = std::size_t{1} << 16;

  /// Throws MatrixError if the file cannot be opened.
  explicit LineReader(std::filesystem::path file);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// The next line without its end; valid until the next call. nullopt behind the last one. Throws MatrixError for a file that
  /// cannot be read, ends in the middle of its compressed data, or has a line of more than kLongestLine bytes.
  std::optional<std::string_view> next();
  /// Of the line that next() has returned last, from 1.
  std::uint64_t number() const { return number_; }
  /// "FILE:LINE: message", of that line, as a MatrixError.
  [[noreturn]] void fail(const std::string& message) const;
  const std::filesystem::path& file() const { return path_; }

 private:
  bool fill();

  std::filesystem::path path_;
  gzFile file_;
  std::unique_ptr<char[]> buffer_;
  std::size_t begin_ = 0, end_ = 0;  ///< of what has been read and not returned
  bool at_end_ = false;
  std::uint64_t number_ = 0;
};

}  // namespace lacuna::sida
