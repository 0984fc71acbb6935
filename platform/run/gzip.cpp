#include "platform/run/gzip.h"

#define ZLIB_CONST  // makes pointers to inputs const
#include <zlib.h>
#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <new>

namespace lacuna {
namespace {

/// zlib's flag for the gzip format, added to the window size.
constexpr int kGzip = 16;
/// zlib's default memory level.
constexpr int kMemoryLevel = 8;

const Bytef* input(std::string_view text) { return reinterpret_cast<const Bytef*>(text.data()); }

}  // namespace

std::string gzip(std::string_view text) {
  z_stream stream{};
  // Z_BEST_SPEED, because higher levels compress tables of numbers only slightly better.
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + kGzip, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  const std::unique_ptr<z_stream, decltype(&deflateEnd)> end(&stream, deflateEnd);
  std::string member(deflateBound(&stream, text.size()), '\0');
  stream.next_in = input(text);
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(member.data());
  stream.avail_out = static_cast<uInt>(member.size());
  // One call finishes the member, since the buffer has the size of deflateBound().
  deflate(&stream, Z_FINISH);
  member.resize(stream.total_out);
  return member;
}

std::string gunzip(std::string_view members) {
  z_stream stream{};
  if (inflateInit2(&stream, MAX_WBITS + kGzip) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> end(&stream, inflateEnd);
  std::string text;
  std::array<char, 64 * 1024> chunk;
  int state = Z_STREAM_END;
  // When all input has been consumed, zlib may still hold output for which the previous chunk had no room.
  while (!members.empty() || state == Z_OK) {
    if (state == Z_STREAM_END) inflateReset(&stream);
    const auto given = static_cast<uInt>(std::min<std::size_t>(members.size(), std::numeric_limits<uInt>::max()));
    stream.next_in = input(members);
    stream.avail_in = given;
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    state = inflate(&stream, Z_NO_FLUSH);
    if (state == Z_MEM_ERROR) throw std::bad_alloc();
    if (state == Z_BUF_ERROR) throw GzipError("gzip data that are cut off");
    if (state != Z_OK && state != Z_STREAM_END) throw GzipError("not gzip, or damaged");
    text.append(chunk.data(), chunk.size() - stream.avail_out);
    members.remove_prefix(given - stream.avail_in);
  }
  return text;
}

}  // namespace lacuna
