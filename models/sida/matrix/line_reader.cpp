#include "models/sida/matrix/line_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "models/sida/matrix/sparse_matrix.h"

namespace lacuna::sida {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

}  // namespace

LineReader::LineReader(std::filesystem::path file)
    : path_(std::move(file)), file_(nullptr), buffer_(std::make_unique_for_overwrite<char[]>(kBufferBytes)) {
  std::error_code problem;
  if (std::filesystem::is_directory(path_, problem)) throw MatrixError(path_.string() + ": is a folder");
  errno = 0;
  file_ = gzopen(path_.c_str(), "rb");
  if (file_ == nullptr) throw MatrixError(path_.string() + ": " + std::strerror(errno != 0 ? errno : ENOMEM));
}

LineReader::~LineReader() { gzclose(file_); }

void LineReader::fail(const std::string& message) const {
  throw MatrixError(path_.string() + ":" + std::to_string(std::max<std::uint64_t>(number_, 1)) + ": " + message);
}

bool LineReader::fill() {
  if (at_end_) return false;
  std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  const int got = gzread(file_, buffer_.get() + end_, static_cast<unsigned>(kBufferBytes - end_));
  int code = Z_OK;
  const char* const text = gzerror(file_, &code);
  if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
    ++number_;
    if (code == Z_BUF_ERROR) fail("the compressed data end too early");
    fail(code == Z_ERRNO ? std::strerror(errno) : "the compressed data are damaged (" + std::string(text) + ')');
  }
  at_end_ = got == 0;
  end_ += static_cast<std::size_t>(got);
  return got > 0;
}

std::optional<std::string_view> LineReader::next() {
  for (;;) {
    const char* const first = buffer_.get() + begin_;
    const auto* const newline = static_cast<const char*>(std::memchr(first, '\n', end_ - begin_));
    std::size_t length = newline != nullptr ? static_cast<std::size_t>(newline - first) : end_ - begin_;
    if (length > kLongestLine) {
      ++number_;
      fail("the line has more than " + std::to_string(kLongestLine) + " bytes");
    }
    if (newline == nullptr && fill()) continue;
    // begin_ and end_ are read here because fill() may have moved the buffered data.
    if (newline == nullptr && begin_ == end_) return std::nullopt;
    const char* const line = buffer_.get() + begin_;
    begin_ += length + (newline != nullptr ? 1 : 0);
    ++number_;
    if (length > 0 && line[length - 1] == '\r') --length;
    return std::string_view(line, length);
  }
}

}  // namespace lacuna::sida
