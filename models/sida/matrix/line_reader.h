// Reads the lines of a file, which may be compressed with gzip.
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
  /// Maximum length of a line in bytes; lines of valid matrix files are shorter.
  static constexpr std::size_t kLongestLine = std::size_t{1} << 16;

  /// Throws MatrixError if the file cannot be opened.
  explicit LineReader(std::filesystem::path file);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// The next line without its end, valid until the next call; nullopt at the end of the file. Throws MatrixError if the file
  /// cannot be read, its compressed data are truncated, or a line exceeds kLongestLine bytes.
  std::optional<std::string_view> next();
  /// Number of the line that next() returned last, from 1.
  std::uint64_t number() const { return number_; }
  /// Throws a MatrixError with the text "FILE:LINE: message", where LINE is number().
  [[noreturn]] void fail(const std::string& message) const;
  const std::filesystem::path& file() const { return path_; }

 private:
  bool fill();

  std::filesystem::path path_;
  gzFile file_;
  std::unique_ptr<char[]> buffer_;
  std::size_t begin_ = 0, end_ = 0;  ///< range of the buffered data that next() has not returned
  bool at_end_ = false;
  std::uint64_t number_ = 0;
};

}  // namespace lacuna::sida
