#include "models/host/devices/semihosting_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace lacuna {
namespace {

int refuse(int error) {
  errno = error;
  return -1;
}

}  // namespace

std::unique_ptr<GuestFile> open_host_file(const std::filesystem::path& path, unsigned mode) {
  class HostFile final : public GuestFile {
   public:
    explicit HostFile(int descriptor) : descriptor_(descriptor) {}
    ~HostFile() override { ::close(descriptor_); }
    HostFile(const HostFile&) = delete;
    HostFile& operator=(const HostFile&) = delete;
    std::int64_t read(std::span<std::byte> bytes) override { return ::read(descriptor_, bytes.data(), bytes.size()); }
    std::int64_t write(std::span<const std::byte> bytes) override { return ::write(descriptor_, bytes.data(), bytes.size()); }
    bool seek(std::uint64_t position) override { return ::lseek(descriptor_, static_cast<off_t>(position), SEEK_SET) >= 0; }
    std::int64_t length() override {
      struct stat status {};
      return ::fstat(descriptor_, &status) == 0 ? status.st_size : -1;
    }

   private:
    int descriptor_;
  };

  // r, r+, w, w+, a, a+; each twice, text and binary.
  constexpr std::array kFlags = {O_RDONLY,
                                 O_RDWR,
                                 O_WRONLY | O_CREAT | O_TRUNC,
                                 O_RDWR | O_CREAT | O_TRUNC,
                                 O_WRONLY | O_CREAT | O_APPEND,
                                 O_RDWR | O_CREAT | O_APPEND};
  if (mode / 2 >= kFlags.size()) return refuse(EINVAL), nullptr;
  const int descriptor = ::open(path.c_str(), kFlags[mode / 2] | O_CLOEXEC, 0666);
  if (descriptor < 0) return nullptr;
  return std::make_unique<HostFile>(descriptor);
}

std::unique_ptr<GuestFile> open_console_file(const HartConsole& console, bool input) {
  class ConsoleFile final : public GuestFile {
   public:
    ConsoleFile(const HartConsole& with, bool as_input) : console_(with), input_(as_input) {}
    std::int64_t read(std::span<std::byte> bytes) override {
      if (!input_) return refuse(EBADF);
      std::size_t count = 0;
      // Returns at most one line, as a terminal does.
      while (count < bytes.size()) {
        const int character = read_console(console_);
        if (character < 0) break;
        bytes[count++] = static_cast<std::byte>(character);
        if (character == '\n') break;
      }
      return static_cast<std::int64_t>(count);
    }
    std::int64_t write(std::span<const std::byte> bytes) override {
      if (input_) return refuse(EBADF);
      write_console(console_, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      return static_cast<std::int64_t>(bytes.size());
    }
    bool seek(std::uint64_t) override { return refuse(ESPIPE) >= 0; }
    std::int64_t length() override { return refuse(ESPIPE); }
    bool terminal() const override { return true; }

   private:
    const HartConsole& console_;
    bool input_;
  };
  return std::make_unique<ConsoleFile>(console, input);
}

std::unique_ptr<GuestFile> open_feature_file() {
  // Magic number, then bit 0: SYS_EXIT_EXTENDED, bit 1: separate stdout and stderr.
  static constexpr std::array<char, 5> kContent = {'S', 'H', 'F', 'B', 3};
  class FeatureFile final : public GuestFile {
   public:
    std::int64_t read(std::span<std::byte> bytes) override {
      const std::size_t count = std::min(bytes.size(), kContent.size() - position_);
      std::memcpy(bytes.data(), kContent.data() + position_, count);
      position_ += count;
      return static_cast<std::int64_t>(count);
    }
    std::int64_t write(std::span<const std::byte>) override { return refuse(EBADF); }
    bool seek(std::uint64_t position) override {
      if (position > kContent.size()) return refuse(EINVAL) >= 0;
      position_ = position;
      return true;
    }
    std::int64_t length() override { return static_cast<std::int64_t>(kContent.size()); }

   private:
    std::size_t position_ = 0;
  };
  return std::make_unique<FeatureFile>();
}

}  // namespace lacuna
