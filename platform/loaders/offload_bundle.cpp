#include "platform/loaders/offload_bundle.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <utility>

namespace lacuna {
namespace {

constexpr std::string_view kMagic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::uint64_t kMostEntries = 4096;
constexpr std::uint64_t kLongestIdentifier = 4096;

/// The processor in an identifier: "gfx90a" for "hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-".
std::string processor_of(std::string_view identifier) {
  if (identifier.find("amdgcn") == std::string_view::npos) return {};
  const std::size_t dash = identifier.rfind("-gfx");
  if (dash == std::string_view::npos) return {};
  const std::string_view rest = identifier.substr(dash + 1);
  return std::string(rest.substr(0, rest.find_first_of(":-")));
}

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  std::span<const std::byte> part(std::uint64_t offset, std::uint64_t size, const char* what) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset)
      throw ElfError(name_ + ": offload bundle is truncated: " + what + " needs " + std::to_string(size) + " bytes at " +
                     std::to_string(offset) + " of " + std::to_string(bytes_.size()));
    return bytes_.subspan(offset, size);
  }
  std::uint64_t number(std::uint64_t offset, const char* what) const {
    std::uint64_t value = 0;
    std::memcpy(&value, part(offset, sizeof value, what).data(), sizeof value);
    return value;
  }
  void limit(std::uint64_t value, std::uint64_t most, const char* what) const {
    if (value > most) throw ElfError(name_ + ": offload bundle: " + what + ' ' + std::to_string(value) + " is out of range");
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& name_;
};

/// Reads a bundle; returns the offset of its end.
std::uint64_t read_one(std::span<const std::byte> bytes, const std::string& name, std::vector<BundleEntry>& entries) {
  const Reader reader(bytes, name);
  const std::uint64_t count = reader.number(kMagic.size(), "the number of entries");
  reader.limit(count, kMostEntries, "the number of entries");
  std::uint64_t at = kMagic.size() + sizeof count;
  std::uint64_t end = at;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t offset = reader.number(at, "an entry");
    const std::uint64_t size = reader.number(at + 8, "an entry");
    const std::uint64_t length = reader.number(at + 16, "an entry");
    reader.limit(length, kLongestIdentifier, "the length of an identifier");
    const auto text = reader.part(at + 24, length, "an identifier");
    const std::string identifier(reinterpret_cast<const char*>(text.data()), text.size());
    entries.push_back(
        {.identifier = identifier, .processor = processor_of(identifier), .bytes = reader.part(offset, size, "a code object")});
    at += 24 + length;
    end = std::max({end, at, offset + size});
  }
  return end;
}

bool known(const std::string& processor) {
  for (unsigned t = 0; t < isa::kTargets; ++t)
    if (isa::traits(static_cast<isa::Target>(t)).name == processor) return true;
  return false;
}

std::vector<CodeObject> from_bundle(std::span<const std::byte> bytes, const std::string& name) {
  std::vector<CodeObject> objects;
  std::string others;
  for (const BundleEntry& entry : read_offload_bundle(bytes, name)) {
    if (entry.bytes.empty()) continue;
    if (known(entry.processor)) {
      objects.emplace_back(ElfFile({entry.bytes.begin(), entry.bytes.end()}, name + " (" + entry.identifier + ')'));
    } else {
      others += (others.empty() ? "" : ", ") + entry.identifier;
    }
  }
  if (objects.empty())
    throw ElfError(name + ": the offload bundle has no code object for gfx803 or gfx90a" +
                   (others.empty() ? std::string() : ", only " + others));
  return objects;
}

}  // namespace

std::vector<std::byte> file_bytes(const std::filesystem::path& file) {
  std::error_code status;
  if (!std::filesystem::exists(file, status)) throw ElfError(file.string() + ": no such file");
  if (!std::filesystem::is_regular_file(file, status)) throw ElfError(file.string() + ": not a regular file");
  std::ifstream stream(file, std::ios::binary);
  std::vector<std::byte> bytes(std::filesystem::file_size(file, status));
  stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!stream) throw ElfError(file.string() + ": cannot be read");
  return bytes;
}

bool is_offload_bundle(std::span<const std::byte> bytes) {
  return bytes.size() >= kMagic.size() && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

std::vector<BundleEntry> read_offload_bundle(std::span<const std::byte> bytes, const std::string& name) {
  std::vector<BundleEntry> entries;
  // Linked executables contain the bundles of their sources one after another, each at the start of a page.
  std::size_t bundle = 0;
  for (std::uint64_t at = 0; at < bytes.size();) {
    const auto rest = bytes.subspan(at);
    if (is_offload_bundle(rest)) {
      const std::size_t first = entries.size();
      at += read_one(rest, name, entries);
      for (std::size_t i = first; i < entries.size(); ++i) entries[i].bundle = bundle;
      ++bundle;
      continue;
    }
    const std::byte first{static_cast<unsigned char>(kMagic.front())};
    const auto next = std::find(rest.begin() + 1, rest.end(), first);
    at += static_cast<std::uint64_t>(next - rest.begin());
  }
  return entries;
}

std::vector<CodeObject> read_code_objects(const std::filesystem::path& file) {
  std::vector<std::byte> bytes = file_bytes(file);
  if (is_offload_bundle(bytes)) return from_bundle(bytes, file.string());
  ElfFile elf(std::move(bytes), file.string());
  for (const ElfSection& section : elf.sections())
    if (section.name == kFatBinarySection) return from_bundle(section.bytes, file.string());
  std::vector<CodeObject> objects;
  objects.emplace_back(std::move(elf));
  return objects;
}

bool holds_code_objects(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::array<char, kMagic.size()> magic{};
  stream.read(magic.data(), magic.size());
  const std::string_view text(magic.data(), static_cast<std::size_t>(stream.gcount()));
  return text == kMagic || text.starts_with(
                               "\x7f"
                               "ELF");
}

}  // namespace lacuna
