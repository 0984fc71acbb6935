#include "models/sida/matrix/prepared.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <ostream>
#include <string>

namespace lacuna::sida {
namespace {

static_assert(std::endian::native == std::endian::little, "the file's order of bytes is that of the host");

constexpr std::array<char, 8> kMagic{'L', 'a', 'c', 'u', 'n', 'a', 'S', 'M'};
constexpr std::uint32_t kVersion = 1;

struct PreparedHeader {
  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t has_values = 0;
  Index rows = 0, columns = 0;
  std::uint64_t entries = 0;
};
static_assert(sizeof(PreparedHeader) == 32);

std::uint64_t checksum_of(std::uint64_t before, const char* bytes, std::size_t count) {
  if (count == 0) return before;  // zlib interprets a null pointer as a request to restart
  return crc32_z(before, reinterpret_cast<const Bytef*>(bytes), count);
}

template <class T>
std::size_t bytes_of(const std::vector<T>& values) {
  return values.size() * sizeof(T);
}

class PreparedFile {
 public:
  explicit PreparedFile(const std::filesystem::path& file) : path_(file), file_(file, std::ios::binary) {
    if (!file_) fail(std::strerror(errno));
  }
  [[noreturn]] void fail(const std::string& message) const { throw MatrixError(path_.string() + ": " + message); }

  template <class T>
  void read(T* values, std::size_t count) {
    auto* const bytes = reinterpret_cast<char*>(values);
    file_.read(bytes, static_cast<std::streamsize>(count * sizeof(T)));
    if (!file_) fail("the prepared matrix ends too early");
    checksum_ = checksum_of(checksum_, bytes, count * sizeof(T));
  }
  /// Reads an array whose size has been checked against the size of the file.
  template <class T>
  void read(std::vector<T>& values, std::uint64_t count) {
    values.resize(count);
    read(values.data(), values.size());
  }
  std::uint64_t checksum() const { return checksum_; }

 private:
  const std::filesystem::path& path_;
  std::ifstream file_;
  std::uint64_t checksum_ = 0;
};

bool is_in_order(const SparseMatrix& m) {
  if (m.offsets.front() != 0 || m.offsets.back() != m.entries()) return false;
  for (Index c = 0; c < m.columns; ++c) {
    if (m.offsets[c] > m.offsets[c + 1]) return false;
  }
  for (Index c = 0; c < m.columns; ++c) {
    const auto rows = m.column(c);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] >= m.rows || (i > 0 && rows[i - 1] >= rows[i])) return false;
    }
  }
  return true;
}

}  // namespace

bool is_prepared(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::array<char, kMagic.size()> magic{};
  return in.read(magic.data(), magic.size()) && magic == kMagic;
}

SparseMatrix read_prepared(const std::filesystem::path& file) {
  PreparedFile in(file);
  PreparedHeader header;
  in.read(&header, 1);
  if (header.magic != kMagic) in.fail("is not a prepared matrix");
  if (header.version != kVersion) {
    in.fail("is a prepared matrix of version " + std::to_string(header.version) + ", not " + std::to_string(kVersion) +
            ": prepare it again");
  }
  const std::uint64_t entry_bytes = sizeof(Index) + (header.has_values != 0 ? sizeof(double) : 0);
  const std::uint64_t around =
      sizeof header + (std::uint64_t{header.columns} + 1) * sizeof(std::uint64_t) + sizeof(std::uint64_t);
  const std::uint64_t bytes = std::filesystem::file_size(file);
  if (header.has_values > 1 || bytes < around || header.entries != (bytes - around) / entry_bytes ||
      (bytes - around) % entry_bytes != 0)
    in.fail("the prepared matrix has another size than its header says");
  SparseMatrix m;
  m.rows = header.rows;
  m.columns = header.columns;
  in.read(m.offsets, std::uint64_t{m.columns} + 1);
  in.read(m.indices, header.entries);
  if (header.has_values != 0) in.read(m.values, header.entries);
  const std::uint64_t checksum = in.checksum();
  std::uint64_t expected = 0;
  in.read(&expected, 1);
  if (checksum != expected || !is_in_order(m)) in.fail("the prepared matrix is damaged");
  return m;
}

void write_prepared(const SparseMatrix& matrix, std::ostream& out) {
  std::uint64_t checksum = 0;
  const auto put = [&](const void* data, std::size_t bytes) {
    const auto* const text = static_cast<const char*>(data);
    out.write(text, static_cast<std::streamsize>(bytes));
    checksum = checksum_of(checksum, text, bytes);
  };
  const PreparedHeader header{
      .has_values = matrix.is_pattern() ? 0U : 1U, .rows = matrix.rows, .columns = matrix.columns, .entries = matrix.entries()};
  put(&header, sizeof header);
  put(matrix.offsets.data(), bytes_of(matrix.offsets));
  put(matrix.indices.data(), bytes_of(matrix.indices));
  put(matrix.values.data(), bytes_of(matrix.values));
  const std::uint64_t written = checksum;
  put(&written, sizeof written);
}

}  // namespace lacuna::sida
