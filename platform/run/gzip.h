// Compression in the gzip format (RFC 1952), by zlib.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace lacuna {

/// The data are not gzip, or are truncated.
class GzipError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns a gzip member that contains the text. A file of several members contains their texts one after another.
std::string gzip(std::string_view text);
/// Returns the text of all members. Throws GzipError.
std::string gunzip(std::string_view members);

}  // namespace lacuna
