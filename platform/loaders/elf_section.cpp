#include "platform/loaders/elf_section.h"

#include <elf.h>
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "platform/loaders/elf_file.h"

namespace lacuna {
namespace {

constexpr std::uint64_t kAlignment = 8;

template <class T>
T read_at(std::span<const std::byte> bytes, std::uint64_t offset, const std::string& file) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
    throw ElfError(file + ": truncated: a header ends past the end of the file");
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

struct NamedSection {
  std::string name;
  Elf64_Shdr header{};
};

std::string_view text_at(std::span<const std::byte> strings, std::uint64_t offset) {
  if (offset >= strings.size()) return {};
  const auto rest = strings.subspan(offset);
  const auto end = std::find(rest.begin(), rest.end(), std::byte{0});
  return {reinterpret_cast<const char*>(rest.data()), static_cast<std::size_t>(end - rest.begin())};
}

class Editor {
 public:
  Editor(std::span<const std::byte> elf, const std::string& file)
      : elf_(elf), file_(file), header_(read_at<Elf64_Ehdr>(elf, 0, file)) {
    if (header_.e_shoff == 0) {
      sections_.emplace_back();  // the null section
      return;
    }
    if (header_.e_shentsize != sizeof(Elf64_Shdr) || header_.e_shnum == 0 || header_.e_shstrndx >= header_.e_shnum)
      throw ElfError(file_ + ": has a section table that cannot be extended");
    const auto header_of = [&](unsigned index) {
      return read_at<Elf64_Shdr>(elf_, header_.e_shoff + std::uint64_t{index} * sizeof(Elf64_Shdr), file_);
    };
    const Elf64_Shdr names = header_of(header_.e_shstrndx);
    const auto strings = part(names.sh_offset, names.sh_size);
    for (unsigned i = 0; i < header_.e_shnum; ++i) {
      const Elf64_Shdr section = header_of(i);
      sections_.push_back({std::string(text_at(strings, section.sh_name)), section});
    }
  }

  /// Removes the last section if its name is `name`. Throws ElfError if another section has this name: sections refer to each
  /// other by number.
  void remove(std::string_view name) {
    if (sections_.size() > 1 && sections_.back().name == name) sections_.pop_back();
    const bool another = std::any_of(sections_.begin(), sections_.end(), [&](const NamedSection& s) { return s.name == name; });
    if (another) throw ElfError(file_ + ": has a section " + std::string(name) + " that is not its last");
  }

  std::vector<std::byte> with(std::string_view name, std::span<const std::byte> contents) {
    std::vector<std::byte> out(elf_.begin(), elf_.begin() + static_cast<std::ptrdiff_t>(used_bytes()));
    const auto append = [&](std::span<const std::byte> bytes) {
      out.resize((out.size() + kAlignment - 1) / kAlignment * kAlignment);
      const std::uint64_t at = out.size();
      out.insert(out.end(), bytes.begin(), bytes.end());
      return at;
    };
    if (header_.e_shoff == 0) {
      header_.e_shstrndx = static_cast<std::uint16_t>(sections_.size());
      sections_.push_back({".shstrtab", {}});
      sections_.back().header.sh_type = SHT_STRTAB;
      sections_.back().header.sh_addralign = 1;
      header_.e_shentsize = sizeof(Elf64_Shdr);
    }
    NamedSection added{std::string(name), {}};
    added.header.sh_type = SHT_PROGBITS;
    added.header.sh_addralign = kAlignment;
    added.header.sh_offset = append(contents);
    added.header.sh_size = contents.size();
    sections_.push_back(added);

    std::string names(1, '\0');
    for (NamedSection& section : sections_) {
      section.header.sh_name = section.name.empty() ? 0 : static_cast<std::uint32_t>(names.size());
      if (!section.name.empty()) names += section.name + '\0';
    }
    Elf64_Shdr& strings = sections_[header_.e_shstrndx].header;
    strings.sh_offset = append(std::as_bytes(std::span(names)));
    strings.sh_size = names.size();
    std::vector<Elf64_Shdr> table;
    for (const NamedSection& section : sections_) table.push_back(section.header);
    header_.e_shoff = append(std::as_bytes(std::span(table)));
    header_.e_shnum = static_cast<std::uint16_t>(sections_.size());
    std::memcpy(out.data(), &header_, sizeof header_);
    return out;
  }

 private:
  std::span<const std::byte> part(std::uint64_t offset, std::uint64_t size) const {
    if (offset > elf_.size() || size > elf_.size() - offset)
      throw ElfError(file_ + ": truncated: a section ends past the end of the file");
    return elf_.subspan(offset, size);
  }

  /// Returns the largest end offset of the program headers, segments and sections, except section names and section table.
  std::uint64_t used_bytes() const {
    std::uint64_t end = sizeof(Elf64_Ehdr);
    const auto use = [&](std::uint64_t offset, std::uint64_t size) { end = std::max(end, offset + part(offset, size).size()); };
    use(header_.e_phoff, std::uint64_t{header_.e_phnum} * sizeof(Elf64_Phdr));
    for (unsigned i = 0; i < header_.e_phnum; ++i) {
      const auto segment = read_at<Elf64_Phdr>(elf_, header_.e_phoff + std::uint64_t{i} * sizeof(Elf64_Phdr), file_);
      use(segment.p_offset, segment.p_filesz);
    }
    for (std::size_t i = 1; i < sections_.size(); ++i) {
      const Elf64_Shdr& section = sections_[i].header;
      if (i != header_.e_shstrndx && section.sh_type != SHT_NOBITS) use(section.sh_offset, section.sh_size);
    }
    return end;
  }

  std::span<const std::byte> elf_;
  const std::string& file_;
  Elf64_Ehdr header_;
  std::vector<NamedSection> sections_;
};

}  // namespace

std::vector<std::byte> with_section(std::span<const std::byte> elf, std::string_view name, std::span<const std::byte> contents,
                                    const std::string& file) {
  Editor editor(elf, file);
  editor.remove(name);
  return editor.with(name, contents);
}

}  // namespace lacuna
