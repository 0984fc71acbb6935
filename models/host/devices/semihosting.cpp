#include "models/host/devices/semihosting.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>

#include "models/host/devices/semihosting_file.h"

namespace lacuna {
namespace {

enum Operation : std::uint64_t {
  kOpen = 0x01,
  kClose = 0x02,
  kWriteCharacter = 0x03,
  kWriteString = 0x04,
  kWrite = 0x05,
  kRead = 0x06,
  kReadCharacter = 0x07,
  kIsError = 0x08,
  kIsTerminal = 0x09,
  kSeek = 0x0a,
  kLength = 0x0c,
  kTemporaryName = 0x0d,
  kRemove = 0x0e,
  kRename = 0x0f,
  kClock = 0x10,
  kTime = 0x11,
  kSystem = 0x12,
  kErrno = 0x13,
  kCommandLine = 0x15,
  kHeapInformation = 0x16,
  kExit = 0x18,
  kExitExtended = 0x20,
  kElapsed = 0x30,
  kTickFrequency = 0x31,
};

constexpr std::uint64_t kFailure = ~std::uint64_t{0};
constexpr std::uint64_t kApplicationExit = 0x20026;
constexpr std::uint64_t kTicksPerSecond = 1'000'000'000;
constexpr std::size_t kChunk = 64 * 1024;
constexpr std::uint64_t kLongestName = 4096;
constexpr std::size_t kMostFiles = 256;

}  // namespace

void write_console(const HartConsole& console, std::string_view bytes) {
  if (console.write) {
    console.write(bytes);
    return;
  }
  std::fwrite(bytes.data(), 1, bytes.size(), stdout);
  std::fflush(stdout);
}

int read_console(const HartConsole& console) { return console.read ? console.read() : -1; }

Semihosting::Semihosting(const SemihostingParameters& parameters, const HartConsole& console, GuestAccess& guest)
    : parameters_(parameters),
      console_(console),
      guest_(guest),
      root_(std::filesystem::weakly_canonical(parameters.root.empty() ? std::filesystem::current_path() : parameters.root)),
      buffer_(kChunk) {}

Semihosting::~Semihosting() = default;

std::uint64_t Semihosting::call(std::uint64_t operation, std::uint64_t argument) {
  ++calls_;
  switch (operation) {
    case kOpen:
      return open(argument);
    case kClose:
      return close(argument);
    case kWriteCharacter:
      return write_character(argument);
    case kWriteString:
      return write_string(argument);
    case kWrite:
      return write(argument);
    case kRead:
      return read(argument);
    case kReadCharacter:
      return static_cast<std::uint64_t>(std::int64_t{read_console(console_)});
    case kIsError:
      return fields(argument, 1) && static_cast<std::int64_t>(fields_[0]) < 0 ? 1 : 0;
    case kIsTerminal:
      return is_terminal(argument);
    case kSeek:
      return seek(argument);
    case kLength:
      return length(argument);
    case kTemporaryName:
      return temporary_name(argument);
    case kRemove:
      return remove(argument);
    case kRename:
      return rename(argument);
    case kClock:
      return centiseconds();
    case kTime:
      return seconds();
    case kSystem:
      return fail(EPERM);
    case kErrno:
      return static_cast<std::uint64_t>(error_);
    case kCommandLine:
      return command_line(argument);
    case kHeapInformation:
      return heap_information(argument);
    case kExit:
    case kExitExtended:
      return exit(argument);
    case kElapsed:
      return write_doubleword(guest_, argument, elapsed_nanoseconds()) ? 0 : fail(EFAULT);
    case kTickFrequency:
      return kTicksPerSecond;
    default:
      return fail(ENOSYS);
  }
}

std::uint64_t Semihosting::fail(int error) {
  error_ = error;
  return kFailure;
}

bool Semihosting::fields(std::uint64_t address, std::size_t count) {
  fields_.resize(count);
  return guest_.read_guest(address, std::as_writable_bytes(std::span(fields_)));
}

std::optional<std::string> Semihosting::text(std::uint64_t address, std::uint64_t length) {
  if (length > kLongestName) return std::nullopt;
  std::string result(length, '\0');
  if (length != 0 && !guest_.read_guest(address, std::as_writable_bytes(std::span(result)))) return std::nullopt;
  return result;
}

std::optional<std::filesystem::path> Semihosting::host_path(const std::string& name) const {
  if (name.empty() || name.find('\0') != std::string::npos) return std::nullopt;
  std::error_code error;
  const auto resolved = std::filesystem::weakly_canonical(root_ / name, error);  // an absolute name replaces the root
  if (error) return std::nullopt;
  const auto mismatch = std::mismatch(root_.begin(), root_.end(), resolved.begin(), resolved.end());
  if (mismatch.first != root_.end()) return std::nullopt;
  return resolved;
}

GuestFile* Semihosting::file(std::uint64_t handle) {
  if (handle == 0 || handle > files_.size()) return nullptr;
  return files_[handle - 1].get();
}

std::uint64_t Semihosting::open(std::uint64_t argument) {
  if (!fields(argument, 3)) return fail(EFAULT);
  const auto name = text(fields_[0], fields_[2]);
  const std::uint64_t mode = fields_[1];
  if (!name) return fail(EFAULT);
  if (mode > 11) return fail(EINVAL);
  std::unique_ptr<GuestFile> opened;
  if (parameters_.provided && name->starts_with(':')) opened = parameters_.provided(*name);
  if (opened) {
    // The name is that of a file provided by the simulator.
  } else if (*name == ":tt") {
    opened = open_console_file(console_, mode < 4);
  } else if (*name == ":semihosting-features") {
    opened = open_feature_file();
  } else {
    const auto path = host_path(*name);
    if (!path) return fail(EACCES);
    opened = open_host_file(*path, static_cast<unsigned>(mode));
    if (!opened) return fail(errno);
  }
  auto slot = std::find(files_.begin(), files_.end(), nullptr);
  if (slot == files_.end()) {
    if (files_.size() == kMostFiles) return fail(EMFILE);
    slot = files_.insert(slot, nullptr);
  }
  *slot = std::move(opened);
  return static_cast<std::uint64_t>(slot - files_.begin()) + 1;
}

std::uint64_t Semihosting::close(std::uint64_t argument) {
  if (!fields(argument, 1)) return fail(EFAULT);
  if (file(fields_[0]) == nullptr) return fail(EBADF);
  files_[fields_[0] - 1].reset();
  return 0;
}

std::uint64_t Semihosting::write(std::uint64_t argument) {
  if (!fields(argument, 3)) return fail(EFAULT);
  GuestFile* to = file(fields_[0]);
  std::uint64_t address = fields_[1];
  std::uint64_t left = fields_[2];
  if (to == nullptr) return error_ = EBADF, left;
  while (left != 0) {
    const std::span bytes = std::span(buffer_).first(std::min<std::uint64_t>(left, buffer_.size()));
    if (!guest_.read_guest(address, bytes)) return error_ = EFAULT, left;
    const std::int64_t written = to->write(bytes);
    if (written <= 0) return error_ = errno, left;
    address += static_cast<std::uint64_t>(written);
    left -= static_cast<std::uint64_t>(written);
  }
  return 0;
}

std::uint64_t Semihosting::read(std::uint64_t argument) {
  if (!fields(argument, 3)) return fail(EFAULT);
  GuestFile* from = file(fields_[0]);
  std::uint64_t address = fields_[1];
  std::uint64_t left = fields_[2];
  if (from == nullptr) return fail(EBADF);
  while (left != 0) {
    const std::span bytes = std::span(buffer_).first(std::min<std::uint64_t>(left, buffer_.size()));
    const std::int64_t count = from->read(bytes);
    if (count < 0) return fail(errno);
    if (count == 0) break;
    if (!guest_.write_guest(address, bytes.first(static_cast<std::size_t>(count)))) return fail(EFAULT);
    address += static_cast<std::uint64_t>(count);
    left -= static_cast<std::uint64_t>(count);
    if (from->terminal()) break;
  }
  return left;
}

std::uint64_t Semihosting::seek(std::uint64_t argument) {
  if (!fields(argument, 2)) return fail(EFAULT);
  GuestFile* in = file(fields_[0]);
  if (in == nullptr) return fail(EBADF);
  return in->seek(fields_[1]) ? 0 : fail(errno);
}

std::uint64_t Semihosting::length(std::uint64_t argument) {
  if (!fields(argument, 1)) return fail(EFAULT);
  GuestFile* of = file(fields_[0]);
  if (of == nullptr) return fail(EBADF);
  const std::int64_t bytes = of->length();
  return bytes < 0 ? fail(errno) : static_cast<std::uint64_t>(bytes);
}

std::uint64_t Semihosting::is_terminal(std::uint64_t argument) {
  if (!fields(argument, 1)) return fail(EFAULT);
  const GuestFile* of = file(fields_[0]);
  if (of == nullptr) return fail(EBADF);
  return of->terminal() ? 1 : 0;
}

std::uint64_t Semihosting::temporary_name(std::uint64_t argument) {
  if (!fields(argument, 3) || fields_[1] > 255) return fail(EINVAL);
  // Equal identifiers produce equal names, as the specification requires; the file is in the root folder, like all files of the
  // guest.
  const std::string name = "semihosting-" + std::to_string(fields_[1]) + ".tmp";
  if (name.size() + 1 > fields_[2]) return fail(ERANGE);
  return guest_.write_guest(fields_[0], std::as_bytes(std::span(name.c_str(), name.size() + 1))) ? 0 : fail(EFAULT);
}

std::uint64_t Semihosting::remove(std::uint64_t argument) {
  if (!fields(argument, 2)) return fail(EFAULT);
  const auto name = text(fields_[0], fields_[1]);
  const auto path = name ? host_path(*name) : std::nullopt;
  if (!path) return fail(EACCES);
  return ::unlink(path->c_str()) == 0 ? 0 : fail(errno);
}

std::uint64_t Semihosting::rename(std::uint64_t argument) {
  if (!fields(argument, 4)) return fail(EFAULT);
  const auto old_name = text(fields_[0], fields_[1]);
  const auto new_name = text(fields_[2], fields_[3]);
  const auto old_path = old_name ? host_path(*old_name) : std::nullopt;
  const auto new_path = new_name ? host_path(*new_name) : std::nullopt;
  if (!old_path || !new_path) return fail(EACCES);
  return std::rename(old_path->c_str(), new_path->c_str()) == 0 ? 0 : fail(errno);
}

std::uint64_t Semihosting::command_line(std::uint64_t argument) {
  if (!fields(argument, 2)) return fail(EFAULT);
  const std::string& line = parameters_.command_line;
  if (line.size() + 1 > fields_[1]) return fail(ERANGE);
  const bool written = guest_.write_guest(fields_[0], std::as_bytes(std::span(line.c_str(), line.size() + 1))) &&
                       write_doubleword(guest_, argument + 8, line.size());
  return written ? 0 : fail(EFAULT);
}

std::uint64_t Semihosting::heap_information(std::uint64_t argument) {
  if (!fields(argument, 1)) return fail(EFAULT);
  const std::array block = {parameters_.heap_base, parameters_.heap_limit, parameters_.stack_base, parameters_.stack_limit};
  return guest_.write_guest(fields_[0], std::as_bytes(std::span(block))) ? 0 : fail(EFAULT);
}

std::uint64_t Semihosting::exit(std::uint64_t argument) {
  if (!fields(argument, 2)) return fail(EFAULT);
  // Only an application exit has a status; an exception that the program reports is a failure.
  guest_.end_program(fields_[0] == kApplicationExit ? fields_[1] : 1);
  return 0;
}

std::uint64_t Semihosting::write_character(std::uint64_t argument) {
  char character = 0;
  if (!guest_.read_guest(argument, std::as_writable_bytes(std::span(&character, 1)))) return fail(EFAULT);
  write_console(console_, {&character, 1});
  return 0;
}

std::uint64_t Semihosting::write_string(std::uint64_t argument) {
  std::string line;
  char character = 0;
  while (guest_.read_guest(argument, std::as_writable_bytes(std::span(&character, 1))) && character != 0) {
    line.push_back(character);
    ++argument;
    if (line.size() == kChunk) {
      write_console(console_, line);
      line.clear();
    }
  }
  write_console(console_, line);
  return 0;
}

std::uint64_t Semihosting::elapsed_nanoseconds() const { return guest_.now_ps() / 1000; }

std::uint64_t Semihosting::seconds() const {
  if (!parameters_.host_clock) return guest_.now_ps() / 1'000'000'000'000;
  using namespace std::chrono;
  return static_cast<std::uint64_t>(duration_cast<std::chrono::seconds>(system_clock::now().time_since_epoch()).count());
}

std::uint64_t Semihosting::centiseconds() const {
  if (!parameters_.host_clock) return guest_.now_ps() / 10'000'000'000;
  using namespace std::chrono;
  return static_cast<std::uint64_t>(duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count() / 10);
}

}  // namespace lacuna
