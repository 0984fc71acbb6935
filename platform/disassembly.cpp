#include "platform/disassembly.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "models/isa/decoder.h"
#include "models/isa/table.h"
#include "platform/code_object.h"

namespace lacuna {
namespace {

/// Symbols of one section by address; where several share an address, a function's name is the one printed.
std::vector<ElfSymbol> symbols_of(const ElfFile& file, const ElfSection& section) {
  std::vector<ElfSymbol> symbols;
  std::copy_if(file.symbols().begin(), file.symbols().end(), std::back_inserter(symbols),
               [&](const ElfSymbol& symbol) { return symbol.section == section.index; });
  std::stable_sort(symbols.begin(), symbols.end(), [](const ElfSymbol& a, const ElfSymbol& b) {
    return a.value != b.value ? a.value < b.value : a.function > b.function;
  });
  const auto last =
      std::unique(symbols.begin(), symbols.end(), [](const ElfSymbol& a, const ElfSymbol& b) { return a.value == b.value; });
  symbols.erase(last, symbols.end());
  return symbols;
}

/// " <vadd+0xc8>": where a branch goes.
std::string branch_target(const isa::Instruction& instruction, std::uint64_t address, const std::vector<ElfSymbol>& symbols) {
  if (instruction.format != isa::Format::sopp || (instruction.row->flags & isa::kBranch) == 0) return {};
  const std::uint64_t target = address + 4 + static_cast<std::uint64_t>(std::int64_t{instruction.immediate} * 4);
  const auto after = std::upper_bound(symbols.begin(), symbols.end(), target,
                                      [](std::uint64_t value, const ElfSymbol& symbol) { return value < symbol.value; });
  if (after == symbols.begin()) return {};
  const ElfSymbol& symbol = *std::prev(after);
  std::ostringstream text;
  text << " <" << symbol.name;
  if (target != symbol.value) text << "+0x" << std::hex << target - symbol.value;
  text << '>';
  return text.str();
}

class SectionWriter {
 public:
  SectionWriter(const ElfSection& section, const std::vector<ElfSymbol>& symbols, isa::Target target, std::ostream& out)
      : section_(section), symbols_(symbols), target_(target), out_(out), words_(section.bytes.size() / 4) {
    std::memcpy(words_.data(), section.bytes.data(), words_.size() * 4);
  }

  void write() {
    out_ << "\nDisassembly of section " << section_.name << ":\n";
    auto symbol = symbols_.begin();
    for (std::size_t index = 0; index < words_.size();) {
      const std::uint64_t address = section_.address + index * 4;
      while (symbol != symbols_.end() && symbol->value < address) ++symbol;
      if (symbol != symbols_.end() && symbol->value == address) {
        write_label(*symbol);
      } else if (index == 0) {
        out_ << '\n' << hexadecimal(address, 16) << " <" << section_.name << ">:\n";
      }
      index += write_instruction(index, address);
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

  void write_label(const ElfSymbol& symbol) { out_ << '\n' << hexadecimal(symbol.value, 16) << " <" << symbol.name << ">:\n"; }

  /// Returns the words it took.
  std::size_t write_instruction(std::size_t index, std::uint64_t address) {
    const isa::DecodeResult decoded = isa::decode(&words_[index], words_.size() - index, target_);
    const std::size_t size = decoded.ok ? decoded.instruction.size / 4U : 1;
    const std::string text =
        decoded.ok ? isa::disassemble(decoded.instruction, target_) : ".long 0x" + hexadecimal(words_[index], 8);
    // The tab counts as one of 60 columns, as llvm-objdump counts it.
    out_ << '\t' << std::left << std::setw(59) << std::setfill(' ') << text << std::right << "// "
         << upper_hexadecimal(address, 12) << ':';
    for (std::size_t word = 0; word < size; ++word) out_ << ' ' << upper_hexadecimal(words_[index + word], 8);
    if (decoded.ok) out_ << branch_target(decoded.instruction, address, symbols_);
    out_ << '\n';
    return size;
  }

  const ElfSection& section_;
  const std::vector<ElfSymbol>& symbols_;
  isa::Target target_;
  std::ostream& out_;
  std::vector<std::uint32_t> words_;
};

}  // namespace

void write_disassembly(const ElfFile& file, std::ostream& out) {
  const isa::Target target = code_object_target(file);
  out << '\n' << file.name() << ":\tfile format elf64-amdgpu\n";
  for (const ElfSection& section : file.sections())
    if (section.executable) SectionWriter(section, symbols_of(file, section), target, out).write();
}

}  // namespace lacuna
