// Arguments as the user writes them: `in:a.bin`, `fill:1M:f32:uniform(-1,1):7`, `i32:n-1`, `lds:1024`, … (docs/launch.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "platform/launch/contents.h"

namespace lacuna {

/// Far more than any device's memory, small enough that sizes can be added.
inline constexpr std::uint64_t kLargestBuffer = std::uint64_t{1} << 46;

/// A buffer that an argument or a [buffer] section describes.
struct BufferSpec {
  std::string name;  ///< "" = none given
  Contents contents;
  std::optional<std::filesystem::path> save;
  std::optional<ElementType> type;
};

/// A scalar, a reference to a buffer, or dynamic LDS.
struct ArgumentValue {
  enum class Kind : std::uint8_t { scalar, buffer, null, lds };
  Kind kind = Kind::scalar;
  std::vector<std::byte> bytes;     ///< of a scalar
  std::optional<ElementType> type;  ///< of a scalar given as TYPE:VALUE
  std::string buffer;               ///< its name
  std::uint64_t number = 0;         ///< offset in the buffer, or bytes of LDS
  /// Of a structure: addresses of buffers in its bytes.
  struct Pointer {
    std::uint32_t at = 0;
    std::string buffer;
    std::uint64_t offset = 0;
  };
  std::vector<Pointer> pointers;
};

/// How relative file names and names in expressions are understood.
struct ArgumentContext {
  std::filesystem::path folder;
  const ExpressionScope& scope;
  std::set<std::filesystem::path>* inputs = nullptr;  ///< gets the files that are read; null = nobody asks

  void reads(const std::filesystem::path& file) const {
    if (inputs != nullptr) inputs->insert(file);
  }
};

/// Does the text describe a buffer of its own?
bool describes_buffer(std::string_view text);
/// Throws LaunchError; files to be read must exist and those to be written must be writable.
BufferSpec parse_buffer(std::string_view text, const ArgumentContext& context);
ArgumentValue parse_argument(std::string_view text, const ArgumentContext& context);

/// "4096", "1M", "n*4": an expression, times 1024, 1024^2 or 1024^3 by a K, M or G at its end.
/// Throws LaunchError when it is not between 1 and `most`.
std::uint64_t parse_size(std::string_view text, const ExpressionScope& scope, std::uint64_t most = kLargestBuffer);
/// Throws LaunchError when no file can be created there.
void require_writable(const std::filesystem::path& file);

}  // namespace lacuna
