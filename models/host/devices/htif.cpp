#include "models/host/devices/htif.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

namespace lacuna {
namespace {

constexpr std::uint64_t kPayloadMask = (std::uint64_t{1} << 48) - 1;
constexpr std::uint64_t kWriteCall = 64;  // Linux, generic system call table
constexpr std::uint64_t kExitCall = 93;
constexpr std::size_t kChunk = 4096;

constexpr std::uint64_t negative(int error) { return static_cast<std::uint64_t>(-std::int64_t{error}); }

}  // namespace

Htif::Htif(std::uint64_t tohost, std::uint64_t fromhost, const HartConsole& console, GuestAccess& guest)
    : tohost_(tohost), fromhost_(fromhost), console_(console), guest_(guest) {}

void Htif::respond(std::uint64_t value) {
  write_doubleword(guest_, tohost_, 0);
  if (fromhost_ != 0) write_doubleword(guest_, fromhost_, value);
}

void Htif::serve() {
  std::uint64_t message = 0;
  if (!read_doubleword(guest_, tohost_, message) || message == 0) return;
  const std::uint64_t device = message >> 56;
  const std::uint64_t command = message >> 48 & 0xff;
  const std::uint64_t payload = message & kPayloadMask;
  if (device == 0 && command == 0) {
    if ((payload & 1) != 0) {
      guest_.end_program(payload >> 1);
    } else {
      system_call(payload);
    }
    return;
  }
  if (device == 1 && command == 1) {
    const char character = static_cast<char>(payload);
    write_console(console_, {&character, 1});
    return respond(device << 56 | command << 48);
  }
  if (device == 1 && command == 0) {
    const int character = read_console(console_);
    // The response is the character, plus a bit that marks it as valid.
    return respond(device << 56 | (character < 0 ? 0 : 0x100 | static_cast<std::uint64_t>(character)));
  }
  respond(0);
}

void Htif::system_call(std::uint64_t block) {
  std::array<std::uint64_t, 4> fields{};
  if (!guest_.read_guest(block, std::as_writable_bytes(std::span(fields)))) return respond(1);
  std::uint64_t result = negative(ENOSYS);
  if (fields[0] == kExitCall) {
    guest_.end_program(fields[1]);
    return;
  }
  if (fields[0] == kWriteCall && (fields[1] == 1 || fields[1] == 2)) {
    std::string bytes;
    std::uint64_t done = 0;
    while (done < fields[3]) {
      bytes.resize(std::min<std::uint64_t>(kChunk, fields[3] - done));
      if (!guest_.read_guest(fields[2] + done, std::as_writable_bytes(std::span(bytes)))) break;
      write_console(console_, bytes);
      done += bytes.size();
    }
    result = done == fields[3] ? done : negative(EFAULT);
  }
  write_doubleword(guest_, block, result);
  respond(1);
}

}  // namespace lacuna
