// The stream of records that the launcher on the hart reads, and the files that records refer to
// (platform/launch/launch_plan.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/host/devices/guest_file.h"

namespace lacuna {

class PlanStream {
 public:
  using Opener = std::function<std::unique_ptr<GuestFile>()>;

  /// Drops all records and files; file numbers are not reused. `discard`: also drop everything that is added later, for a
  /// rehearsal.
  void begin(bool discard);
  bool discards() const { return discard_; }

  /// Line of the launch file for the header of records and for messages; 0 = none.
  unsigned line() const { return line_; }
  void set_line(unsigned line) { line_ = line; }

  /// Appends a record and fills in its header. Throws LaunchError if it is too long.
  template <typename Record>
  void emit(std::uint32_t operation, Record record, std::span<const std::byte> tail = {},
            std::span<const std::byte> tail2 = {}) {
    emit_bytes(operation, std::as_writable_bytes(std::span(&record, 1)), tail, tail2);
  }
  /// Adds a file that the launcher can open once; returns the file's number.
  std::uint32_t add_file(Opener open);
  /// Text with a terminating 0, padded to the alignment of records, 8 bytes.
  static std::string record_text(std::string text);

  /// Number of bytes of records that have not been read.
  std::size_t unread() const { return records_.size() - read_; }
  /// Moves unread records to `bytes`; returns the number of bytes.
  std::size_t read(std::span<std::byte> bytes);
  void drop_unread();
  /// Opens a file by name for the launcher; null = there is none, or it has already been opened.
  std::unique_ptr<GuestFile> open_file(std::string_view name);

 private:
  void emit_bytes(std::uint32_t operation, std::span<std::byte> record, std::span<const std::byte> tail,
                  std::span<const std::byte> tail2);

  std::vector<std::byte> records_;
  std::size_t read_ = 0;  ///< number of bytes of `records_` that have been read
  std::map<std::uint32_t, Opener> files_;
  std::uint32_t next_file_ = 0;
  unsigned line_ = 0;
  bool discard_ = false;
};

}  // namespace lacuna
