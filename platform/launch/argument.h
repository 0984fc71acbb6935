// Arguments in the user's notation: `in:a.bin`, `fill:1M:f32:uniform(-1,1):7`, `i32:n-1`, `lds:1024`, … (docs/guide/launch.md).
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

/// Maximum size of a buffer in bytes: far more than any device's memory, but small enough that sums of sizes do not overflow.
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
  std::vector<std::byte> bytes;     ///< value of a scalar
  std::optional<ElementType> type;  ///< type of a scalar of the form TYPE:VALUE
  std::string buffer;               ///< name of the buffer
  std::uint64_t number = 0;         ///< offset in the buffer, or size of dynamic LDS, in bytes
  /// Pointer member of a structure: the address of a buffer plus `offset` is stored at byte `at` of `bytes`.
  struct Pointer {
    std::uint32_t at = 0;
    std::string buffer;
    std::uint64_t offset = 0;
  };
  std::vector<Pointer> pointers;
};

/// Base folder of relative file names, and values of names in expressions.
struct ArgumentContext {
  std::filesystem::path folder;
  const ExpressionScope& scope;
  std::set<std::filesystem::path>* inputs = nullptr;  ///< receives the names of files that are read; null = not needed

  void reads(const std::filesystem::path& file) const {
    if (inputs != nullptr) inputs->insert(file);
  }
};

/// Whether the argument itself describes a buffer (`in:a.bin`), as opposed to a reference to a named buffer.
bool describes_buffer(std::string_view text);
/// Parses the description of a buffer. Throws LaunchError, also if a file to read does not exist or a file to save is not
/// writable.
BufferSpec parse_buffer(std::string_view text, const ArgumentContext& context);
ArgumentValue parse_argument(std::string_view text, const ArgumentContext& context);

/// Parses "4096", "1M", "n*4": an expression. If it begins with a digit and ends with a digit and K, M or G, its value is
/// multiplied by 1024, 1024^2 or 1024^3. Throws LaunchError if the result is not between 1 and `most`.
std::uint64_t parse_size(std::string_view text, const ExpressionScope& scope, std::uint64_t most = kLargestBuffer);
/// Throws LaunchError if the file cannot be created or overwritten.
void require_writable(const std::filesystem::path& file);

}  // namespace lacuna
