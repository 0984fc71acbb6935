// Interface through which semihosting and HTIF access the program that calls them, and its console. No SystemC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace lacuna {

/// The guest's console.
struct HartConsole {
  /// Writes bytes to the console; null = to the process's standard output.
  std::function<void(std::string_view bytes)> write;
  /// Reads the next byte, or returns -1 at the end of the input; null = empty input.
  std::function<int()> read;
};

/// The exit code that a process can return for a guest's exit code: its low 8 bits, or 1 if these are zero but the code is not.
constexpr int process_exit_code(std::uint64_t code) {
  return code != 0 && (code & 0xff) == 0 ? 1 : static_cast<int>(code & 0xff);
}

class GuestAccess {
 public:
  virtual ~GuestAccess() = default;
  /// Debug accesses, which take no time and have no side effects. False if a part of the range is not memory.
  virtual bool read_guest(std::uint64_t address, std::span<std::byte> bytes) = 0;
  virtual bool write_guest(std::uint64_t address, std::span<const std::byte> bytes) = 0;
  virtual std::uint64_t now_ps() const = 0;
  /// Called when the program ends; `code` is its exit code with all 64 bits.
  virtual void end_program(std::uint64_t code) = 0;
};

/// Reads the little-endian doubleword at `address`; false if it is not in memory.
inline bool read_doubleword(GuestAccess& guest, std::uint64_t address, std::uint64_t& value) {
  return guest.read_guest(address, std::as_writable_bytes(std::span(&value, 1)));
}
inline bool write_doubleword(GuestAccess& guest, std::uint64_t address, std::uint64_t value) {
  return guest.write_guest(address, std::as_bytes(std::span(&value, 1)));
}

/// Writes to `console`, or to standard output if HartConsole::write is null.
void write_console(const HartConsole& console, std::string_view bytes);
int read_console(const HartConsole& console);

}  // namespace lacuna
