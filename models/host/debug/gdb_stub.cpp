#include "models/host/debug/gdb_stub.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>

namespace lacuna {
namespace {

constexpr unsigned kGeneralRegisters = 33;  // x0..x31 and pc: the registers of a `g` packet
constexpr std::size_t kMaxTransfer = 0x2000;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string to_hex(std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::byte b : bytes) {
    text.push_back(digits[std::to_integer<unsigned>(b) >> 4]);
    text.push_back(digits[std::to_integer<unsigned>(b) & 15]);
  }
  return text;
}

std::optional<std::vector<std::byte>> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_digit(text[i]);
    const int low = hex_digit(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<std::byte>(high << 4 | low));
  }
  return bytes;
}

/// Registers are sent as eight bytes in the target's byte order: little-endian, as on the supported hosts.
std::string register_hex(std::uint64_t value) { return to_hex(std::as_bytes(std::span(&value, 1))); }

std::optional<std::uint64_t> register_value(std::string_view hex) {
  const auto bytes = from_hex(hex);
  if (!bytes || bytes->size() != 8) return std::nullopt;
  std::uint64_t value = 0;
  std::memcpy(&value, bytes->data(), 8);
  return value;
}

/// Removes a hexadecimal number from the start of `text`.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// Removes "address,length" from the start of `text`; both are hexadecimal numbers.
std::optional<std::pair<std::uint64_t, std::uint64_t>> take_range(std::string_view& text) {
  const auto address = take_number(text);
  if (!address || !take(text, ",")) return std::nullopt;
  const auto length = take_number(text);
  if (!length) return std::nullopt;
  return std::pair{*address, *length};
}

constexpr std::string_view kBadRequest = "E16";  // EINVAL
constexpr std::string_view kBadAddress = "E0e";  // EFAULT

}  // namespace

bool GdbStub::handle(std::string_view request, GdbResume& resume) {
  if (request.empty()) return send(""), false;
  const char command = request.front();
  const std::string_view arguments = request.substr(1);
  switch (command) {
    case '?':
      send(stop_reply_);
      return false;
    case 'g': {
      std::string all;
      for (unsigned number = 0; number < kGeneralRegisters; ++number) {
        std::uint64_t value = 0;
        target_.read_gdb_register(number, value);
        all += register_hex(value);
      }
      send(all);
      return false;
    }
    case 'G':
      handle_registers_write(arguments);
      return false;
    case 'p':
      handle_register_read(arguments);
      return false;
    case 'P':
      handle_register_write(arguments);
      return false;
    case 'm':
      handle_memory_read(arguments);
      return false;
    case 'M':
      handle_memory_write(arguments, false);
      return false;
    case 'X':
      handle_memory_write(arguments, true);
      return false;
    case 'Z':
      handle_point(arguments, true);
      return false;
    case 'z':
      handle_point(arguments, false);
      return false;
    case 'H':
    case 'T':
      send("OK");
      return false;
    case 'q':
    case 'Q':
      handle_query(request);
      return false;
    case 'c':
    case 's':
    case 'C':
    case 'S':
      return handle_resume(request, resume);
    case 'D':
      send("OK");
      drop_client();
      resume = GdbResume::detached;
      return true;
    case 'k':
      drop_client();
      resume = GdbResume::killed;
      return true;
    case 'v':
      if (request == "vCont?") return send("vCont;c;C;s;S"), false;
      // The target has one thread, to which the first action applies.
      if (request.starts_with("vCont;")) return handle_resume(request.substr(6), resume);
      if (request.starts_with("vKill")) {
        send("OK");
        drop_client();
        resume = GdbResume::killed;
        return true;
      }
      send("");
      return false;
    default:
      send("");
      return false;
  }
}

bool GdbStub::handle_resume(std::string_view action, GdbResume& resume) {
  if (action.empty()) return send(kBadRequest), false;
  const char kind = action.front();
  if (kind != 'c' && kind != 's' && kind != 'C' && kind != 'S') return send(kBadRequest), false;
  std::string_view rest = action.substr(1);
  if (kind == 'C' || kind == 'S') {
    take_number(rest);  // a signal has no meaning for a bare machine
    take(rest, ";");
  }
  // A resume address can follow only in the old packets (c, s, C, S); in vCont, a thread or the next action follows.
  if (!rest.empty() && rest.front() != ':' && rest.front() != ';') {
    if (const auto address = take_number(rest)) target_.write_gdb_register(32, *address);
  }
  resume = kind == 'c' || kind == 'C' ? GdbResume::run : GdbResume::step;
  return true;
}

void GdbStub::handle_query(std::string_view request) {
  if (request.starts_with("qSupported")) {
    return send("PacketSize=4000;qXfer:features:read+;vContSupported+;swbreak+;hwbreak+;QStartNoAckMode+");
  }
  if (request == "QStartNoAckMode") {
    send("OK");
    acknowledge_ = false;
    return;
  }
  if (request == "qfThreadInfo") return send("m1");
  if (request == "qsThreadInfo") return send("l");
  if (request == "qC") return send("QC1");
  if (request.starts_with("qAttached")) return send("1");
  if (request == "qOffsets") return send("Text=0;Data=0;Bss=0");
  if (request.starts_with("qSymbol")) return send("OK");
  if (take(request, "qXfer:features:read:target.xml:")) {
    const auto range = take_range(request);
    const std::string& description = gdb_target_description();
    if (!range || range->first > description.size()) return send(kBadRequest);
    const std::size_t length = std::min<std::size_t>(range->second, kMaxTransfer);
    const std::string part = description.substr(range->first, length);
    return send((range->first + part.size() == description.size() ? "l" : "m") + part);
  }
  send("");
}

void GdbStub::handle_registers_write(std::string_view hex) {
  for (unsigned number = 0; number < kGeneralRegisters; ++number) {
    const auto value = register_value(hex.substr(std::min<std::size_t>(hex.size(), number * 16u), 16));
    if (!value) return send(kBadRequest);
    target_.write_gdb_register(number, *value);
  }
  send("OK");
}

void GdbStub::handle_register_read(std::string_view arguments) {
  const auto number = take_number(arguments);
  std::uint64_t value = 0;
  if (!number || !target_.read_gdb_register(static_cast<unsigned>(*number), value)) return send(kBadRequest);
  send(register_hex(value));
}

void GdbStub::handle_register_write(std::string_view arguments) {
  const auto number = take_number(arguments);
  if (!number || !take(arguments, "=")) return send(kBadRequest);
  const auto value = register_value(arguments);
  const bool written = value && target_.write_gdb_register(static_cast<unsigned>(*number), *value);
  send(written ? "OK" : kBadRequest);
}

void GdbStub::handle_memory_read(std::string_view arguments) {
  const auto range = take_range(arguments);
  if (!range) return send(kBadRequest);
  std::vector<std::byte> bytes(std::min<std::size_t>(range->second, kMaxTransfer));
  if (!target_.read_gdb_memory(range->first, bytes)) return send(kBadAddress);
  send(to_hex(bytes));
}

void GdbStub::handle_memory_write(std::string_view arguments, bool binary) {
  const auto range = take_range(arguments);
  if (!range || !take(arguments, ":")) return send(kBadRequest);
  std::optional<std::vector<std::byte>> bytes;
  if (binary) {
    const auto raw = std::as_bytes(std::span(arguments));
    bytes.emplace(raw.begin(), raw.end());
  } else {
    bytes = from_hex(arguments);
  }
  if (!bytes || bytes->size() != range->second) return send(kBadRequest);
  if (bytes->empty()) return send("OK");  // this reply makes GDB use X packets
  send(target_.write_gdb_memory(range->first, *bytes) ? "OK" : kBadAddress);
}

void GdbStub::handle_point(std::string_view arguments, bool insert) {
  const auto type = take_number(arguments);
  if (!type || !take(arguments, ",")) return send(kBadRequest);
  const auto range = take_range(arguments);
  if (!range) return send(kBadRequest);
  // Types: 0 software breakpoint, 1 hardware breakpoint, 2 write watchpoint, 3 read watchpoint, 4 access watchpoint.
  if (*type <= 1) {
    const unsigned kind = 1u << *type;
    if (insert) {
      breakpoints_[range->first] |= kind;
    } else if (const auto found = breakpoints_.find(range->first); found != breakpoints_.end()) {
      found->second &= ~kind;
      if (found->second == 0) breakpoints_.erase(found);
    }
  } else if (*type <= 4) {
    const rv64::Watchpoint point{range->first, range->second, *type != 2, *type != 3};
    std::erase(watchpoints_, point);
    if (insert) watchpoints_.push_back(point);
  } else {
    return send("");
  }
  update_points();
  send("OK");
}

void GdbStub::update_points() {
  std::vector<std::uint64_t> addresses;
  for (const auto& [address, kinds] : breakpoints_) addresses.push_back(address);
  target_.set_gdb_breakpoints(std::move(addresses));
  target_.set_gdb_watchpoints(watchpoints_);
}

void GdbStub::report(const GdbStop& stop) {
  client_waits_ = false;
  switch (stop.reason) {
    case GdbStop::Reason::interrupted:
      stop_reply_ = "T02thread:1;";
      break;
    case GdbStop::Reason::fault:
      stop_reply_ = "T0bthread:1;";
      break;
    case GdbStop::Reason::breakpoint: {
      std::uint64_t pc = 0;
      target_.read_gdb_register(32, pc);
      const auto found = breakpoints_.find(pc);
      const bool hardware = found != breakpoints_.end() && (found->second & 1) == 0;
      stop_reply_ = hardware ? "T05hwbreak:;thread:1;" : "T05swbreak:;thread:1;";
      break;
    }
    case GdbStop::Reason::watchpoint: {
      const char* kind = !stop.watchpoint.on_read ? "watch" : !stop.watchpoint.on_write ? "rwatch" : "awatch";
      std::array<char, 17> address{};
      std::to_chars(address.data(), address.data() + 16, stop.watchpoint.address, 16);
      stop_reply_ = std::string("T05") + kind + ":" + address.data() + ";thread:1;";
      break;
    }
    case GdbStop::Reason::attached:
      stop_reply_ = "T05thread:1;";
      return;  // the client queries the reason separately
    case GdbStop::Reason::step:
      stop_reply_ = "T05thread:1;";
      break;
  }
  if (connected()) send(stop_reply_);
}

void GdbStub::report_exit(int code, std::string_view why) {
  // A client that has not resumed the target would interpret the packet as the response to its next request.
  if (!connected() || !client_waits_) return;
  if (!why.empty()) {
    const std::string line = std::string(why) + '\n';
    send("O" + to_hex(std::as_bytes(std::span(line))));
  }
  const std::byte status{static_cast<unsigned char>(code)};
  send("W" + to_hex({&status, 1}));
  close_politely();
}

}  // namespace lacuna
