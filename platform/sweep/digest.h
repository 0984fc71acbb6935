// SHA-256 (FIPS 180-4, by OpenSSL's libcrypto): what is kept of the contents of a file, and the key of a point.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace lacuna {

class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  /// Bytes as they are.
  void add_bytes(std::string_view bytes);
  /// A text with its length, so that neighbours stay apart.
  void add(std::string_view text);
  /// 64 hexadecimal digits; ends the digest.
  std::string text();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string digest_of(std::string_view bytes);
/// As sha256sum(1) has it. Throws SweepError when the file cannot be read.
std::string file_digest(const std::filesystem::path& file);
/// Of an ELF program or library: what is loaded when it runs. Debug information, symbols and notes do not count, so building
/// the same again, or with other comments in its source, is the same program. Throws SweepError.
std::string program_digest(const std::filesystem::path& file);
/// The contents of a section of an ELF file; "" when there is none.
std::string elf_section(const std::filesystem::path& file, std::string_view name);

}  // namespace lacuna
