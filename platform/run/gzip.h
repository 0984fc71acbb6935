// gzip (RFC 1952), by zlib.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace lacuna {

/// Data that is not gzip, or is cut off.
class GzipError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A member that holds this text. Members one after the other are a file that holds their texts one after the other.
std::string gzip(std::string_view text);
/// The text of all members. Throws GzipError.
std::string gunzip(std::string_view members);

}  // namespace lacuna
