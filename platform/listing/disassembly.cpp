#include "platform/listing/disassembly.h"

#include <algorithm>
#include <cstring>
#include <iomanip>
#include <iterator>
#include <map>
#include <optional>
#include <ostream>
#include <span>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "models/isa/decode/decoder.h"
#include "models/isa/decode/table.h"
#include "models/neardata/finalizer.h"
#include "platform/loaders/amd_kernel_code.h"
#include "platform/loaders/code_object.h"

namespace lacuna {
namespace {

constexpr std::size_t kAbsolute = 0xfff1;  // SHN_ABS
constexpr std::size_t kDataBytesPerLine = 8;

/// The symbols of one section, or the absolute symbols, sorted by address and name.
class Symbols {
 public:
  Symbols(const ElfFile& file, std::size_t section) {
    std::copy_if(file.symbols().begin(), file.symbols().end(), std::back_inserter(symbols_),
                 [&](const ElfSymbol& symbol) { return symbol.section == section; });
    std::stable_sort(symbols_.begin(), symbols_.end(), [](const ElfSymbol& a, const ElfSymbol& b) {
      return std::tie(a.value, a.name, a.type) < std::tie(b.value, b.name, b.type);
    });
  }

  /// The symbol that llvm-objdump prints above the address: the last symbol at the address that is not a data symbol, or the
  /// last data symbol if there are no others.
  const ElfSymbol* heading(std::uint64_t address) const {
    const std::span<const ElfSymbol> here = at(address);
    const auto code = std::find_if(here.rbegin(), here.rend(), [](const ElfSymbol& s) { return s.type != kSymbolTypeObject; });
    if (code != here.rend()) return &*code;
    return here.empty() ? nullptr : &here.back();
  }
  bool kernel_at(std::uint64_t address) const { return first_of_type(address, kSymbolTypeAmdKernel) != nullptr; }
  /// The label at the address that is printed as the operand of a branch; null = none.
  const ElfSymbol* label(std::uint64_t address) const { return first_of_type(address, kSymbolTypeNone); }
  /// The last symbol at or before the address; null = none.
  const ElfSymbol* before(std::uint64_t address) const {
    const auto after = upper_bound(address);
    return after == symbols_.begin() ? nullptr : &*std::prev(after);
  }
  /// The lowest symbol address after `address`, at most `end`.
  std::uint64_t next(std::uint64_t address, std::uint64_t end) const {
    const auto after = upper_bound(address);
    return after == symbols_.end() ? end : std::min(after->value, end);
  }

 private:
  using Iterator = std::vector<ElfSymbol>::const_iterator;

  Iterator upper_bound(std::uint64_t address) const {
    return std::upper_bound(symbols_.begin(), symbols_.end(), address,
                            [](std::uint64_t value, const ElfSymbol& symbol) { return value < symbol.value; });
  }
  std::span<const ElfSymbol> at(std::uint64_t address) const {
    const Iterator begin = std::lower_bound(symbols_.begin(), symbols_.end(), address,
                                            [](const ElfSymbol& symbol, std::uint64_t value) { return symbol.value < value; });
    return {begin, upper_bound(address)};
  }
  const ElfSymbol* first_of_type(std::uint64_t address, std::uint8_t type) const {
    const std::span<const ElfSymbol> here = at(address);
    const auto found = std::find_if(here.begin(), here.end(), [&](const ElfSymbol& s) { return s.type == type; });
    return found == here.end() ? nullptr : &*found;
  }

  std::vector<ElfSymbol> symbols_;
};

/// Target of a branch whose last operand is a label; nullopt for all other instructions.
std::optional<std::uint64_t> label_target(const isa::Instruction& instruction, std::uint64_t address) {
  const isa::OperandTypes& sources = instruction.row->src;
  if (sources.count == 0 || sources.types[sources.count - 1U] != isa::OperandType::label16) return std::nullopt;
  return isa::branch_target(instruction, address);
}

class SectionWriter {
 public:
  using TagTexts = std::map<std::uint64_t, std::string>;

  SectionWriter(const ElfFile& file, const ElfSection& section, isa::Target target, const TagTexts& tags, std::ostream& out)
      : section_(section),
        symbols_(file, section.index),
        absolute_(file, kAbsolute),
        target_(target),
        tags_(tags),
        out_(out),
        words_(section.bytes.size() / 4) {
    std::memcpy(words_.data(), section.bytes.data(), words_.size() * 4);
  }

  void write() {
    out_ << "\nDisassembly of section " << section_.name << ":\n";
    for (std::size_t index = 0; index < words_.size();) {
      const std::uint64_t address = section_.address + index * 4;
      const ElfSymbol* const symbol = symbols_.heading(address);
      if (symbol != nullptr || index == 0)
        out_ << '\n' << hexadecimal(address, 16) << " <" << (symbol != nullptr ? symbol->name : section_.name) << ">:\n";
      if (symbols_.kernel_at(address) && section_.bytes.size() - index * 4 >= kAmdKernelCodeBytes) {
        write_amd_kernel_code(section_.bytes.subspan(index * 4).first<kAmdKernelCodeBytes>(), out_);
        index += kAmdKernelCodeBytes / 4;
      } else if (symbol != nullptr && symbol->type == kSymbolTypeObject) {
        const std::uint64_t end = symbols_.next(address, section_.address + section_.bytes.size());
        write_data(section_.bytes.subspan(index * 4, end - address), address);
        index += (end - address + 3) / 4;
      } else {
        index += write_instruction(index, address);
      }
    }
  }

 private:
  static std::string hexadecimal(std::uint64_t value, int digits) {
    std::ostringstream text;
    text << std::hex << std::setw(digits) << std::setfill('0') << value;
    return text.str();
  }
  static std::string upper_hexadecimal(std::uint64_t value, int digits) {
    std::ostringstream text;
    text << std::hex << std::uppercase << std::setw(digits) << std::setfill('0') << value;
    return text.str();
  }

  void write_data(std::span<const std::byte> bytes, std::uint64_t address) {
    for (std::size_t begin = 0; begin < bytes.size(); begin += kDataBytesPerLine) {
      std::ostringstream line;
      line << std::hex << std::setw(8) << address + begin << ':';
      std::string text;
      for (const std::byte byte : bytes.subspan(begin, std::min(kDataBytesPerLine, bytes.size() - begin))) {
        const auto c = std::to_integer<unsigned char>(byte);
        line << ' ' << std::setw(2) << std::setfill('0') << unsigned{c};
        text += c >= ' ' && c <= '~' ? static_cast<char>(c) : '.';
      }
      out_ << line.str() << std::string(3 * (kDataBytesPerLine - text.size()) + 9, ' ') << text << '\n';
    }
  }

  /// " <vadd+0xc8>": text for the target of a branch to an address without a label.
  std::string target_text(std::uint64_t target) const {
    const ElfSymbol* symbol = symbols_.before(target);
    if (symbol == nullptr) symbol = absolute_.before(target);
    if (symbol == nullptr) return {};
    std::ostringstream text;
    text << " <" << symbol->name;
    if (target != symbol->value) text << "+0x" << std::hex << target - symbol->value;
    text << '>';
    return text.str();
  }

  /// Returns the number of words written.
  std::size_t write_instruction(std::size_t index, std::uint64_t address) {
    const isa::DecodeResult decoded = isa::decode(&words_[index], words_.size() - index, target_, isa::kAllMatrixCodes);
    const std::size_t size = decoded.ok ? decoded.instruction.size / 4U : 1;
    std::string text = decoded.ok ? isa::disassemble(decoded.instruction, target_) : ".long 0x" + hexadecimal(words_[index], 8);
    std::string comment;
    if (const auto target = decoded.ok ? label_target(decoded.instruction, address) : std::nullopt) {
      if (const ElfSymbol* const label = symbols_.label(*target)) {
        text = text.substr(0, text.rfind(' ') + 1) + label->name;
      } else if (decoded.instruction.format == isa::Format::sopp) {
        comment = target_text(*target);
      }
    }
    if (decoded.ok && decoded.instruction.matrix_code != nullptr)
      comment = " " + std::string(isa::extension_name(decoded.instruction));
    if (const auto tag = tags_.find(address); tag != tags_.end()) comment += tag->second;
    // The tab counts as one of 60 columns, as in llvm-objdump.
    out_ << '\t' << std::left << std::setw(59) << std::setfill(' ') << text << std::right << "// "
         << upper_hexadecimal(address, 12) << ':';
    for (std::size_t word = 0; word < size; ++word) out_ << ' ' << upper_hexadecimal(words_[index + word], 8);
    out_ << comment << '\n';
    return size;
  }

  const ElfSection& section_;
  Symbols symbols_;
  Symbols absolute_;
  isa::Target target_;
  const TagTexts& tags_;
  std::ostream& out_;
  std::vector<std::uint32_t> words_;
};

/// Texts such as " [01 chain 0, pattern 1, load a]" by address of the instruction.
SectionWriter::TagTexts tag_texts(const std::vector<KernelTags>& tags) {
  SectionWriter::TagTexts texts;
  std::size_t number = 0;
  for (const KernelTags& kernel : tags) {
    for (const Chain& chain : kernel.chains) {
      for (const ChainInstruction& part : chain.instructions)
        texts[part.address] = " [" + std::string(tag_bits(part.tag)) + " chain " + std::to_string(number) + ", pattern " +
                              std::to_string(chain.pattern) + ", " + std::string(role_name(part.role)) + ']';
      ++number;
    }
  }
  return texts;
}

}  // namespace

void write_disassembly(const ElfFile& file, const std::vector<KernelTags>& tags, std::ostream& out) {
  const isa::Target target = code_object_target(file);
  out << '\n' << file.name() << ":\tfile format elf64-amdgpu\n";
  const SectionWriter::TagTexts texts = tag_texts(tags);
  for (const ElfSection& section : file.sections())
    if (section.executable) SectionWriter(file, section, target, texts, out).write();
}

}  // namespace lacuna
