// Allows direct use of the SHA-256 functions, which are deprecated since OpenSSL 3.0: the newer API would link all of
// libcrypto.
#define OPENSSL_API_COMPAT 0x10101000L

#include "platform/sweep/digest.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <openssl/sha.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <functional>
#include <system_error>
#include <vector>

#include "platform/sweep/sweep_error.h"

namespace lacuna {
namespace {

class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& file) : number_(open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (number_ < 0) throw SweepError(file.string() + ": cannot be read: " + std::generic_category().message(errno));
  }
  ~OpenFile() { close(number_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

/// Calls `use` with the header, name and contents of each section. False if the file is not ELF.
bool each_section(const std::filesystem::path& file,
                  const std::function<void(const GElf_Shdr&, std::string_view name, std::string_view contents)>& use) {
  const OpenFile opened(file);
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(opened.number(), ELF_C_READ_MMAP, nullptr), elf_end);
  std::size_t names = 0;
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF || elf_getshdrstrndx(elf.get(), &names) != 0) return false;
  for (Elf_Scn* section = elf_nextscn(elf.get(), nullptr); section != nullptr; section = elf_nextscn(elf.get(), section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) return false;
    const char* const name = elf_strptr(elf.get(), names, header.sh_name);
    const Elf_Data* const data = header.sh_type == SHT_NOBITS ? nullptr : elf_rawdata(section, nullptr);
    use(header, name == nullptr ? "" : name,
        data == nullptr || data->d_buf == nullptr ? std::string_view()
                                                  : std::string_view(static_cast<const char*>(data->d_buf), data->d_size));
  }
  return true;
}

}  // namespace

struct Digest::State {
  SHA256_CTX context;
};

Digest::Digest() : state_(std::make_unique<State>()) { SHA256_Init(&state_->context); }

Digest::~Digest() = default;

void Digest::add_bytes(std::string_view bytes) { SHA256_Update(&state_->context, bytes.data(), bytes.size()); }

void Digest::add(std::string_view text) {
  add_bytes(std::to_string(text.size()) + ':');
  add_bytes(text);
}

std::string Digest::text() {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> bytes{};
  SHA256_Final(bytes.data(), &state_->context);
  std::string text;
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string digest_of(std::string_view bytes) {
  Digest digest;
  digest.add_bytes(bytes);
  return digest.text();
}

std::string file_digest(const std::filesystem::path& file) {
  const OpenFile opened(file);
  Digest digest;
  std::vector<char> buffer(1 << 18);
  for (;;) {
    const ssize_t got = read(opened.number(), buffer.data(), buffer.size());
    if (got < 0) throw SweepError(file.string() + ": cannot be read: " + std::generic_category().message(errno));
    if (got == 0) return digest.text();
    digest.add_bytes({buffer.data(), static_cast<std::size_t>(got)});
  }
}

std::string program_digest(const std::filesystem::path& file) {
  Digest digest;
  const bool is_elf = each_section(file, [&](const GElf_Shdr& header, std::string_view name, std::string_view contents) {
    if ((header.sh_flags & SHF_ALLOC) == 0 || header.sh_type == SHT_NOTE) return;
    digest.add(name);
    digest.add(contents);
  });
  if (!is_elf) throw SweepError(file.string() + ": is not an ELF program");
  return digest.text();
}

std::string elf_section(const std::filesystem::path& file, std::string_view name) {
  std::string found;
  each_section(file, [&](const GElf_Shdr&, std::string_view section, std::string_view contents) {
    if (section == name) found = contents;
  });
  return found;
}

}  // namespace lacuna
