// gzip (RFC 1952), by zlib.
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

/// A member that contains this text. A file of several members contains their texts one after another.
std::string gzip(std::string_view text);
/// The text of all members. Throws GzipError.
std::string gunzip(std::string_view members);

}  // namespace lacuna
