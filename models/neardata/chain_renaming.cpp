#include "models/neardata/chain_renaming.h"

#include <algorithm>

#include "models/isa/decode/decoder.h"
#include "models/isa/decode/table.h"

namespace lacuna {
namespace {

using isa::Format;
using isa::Instruction;
using isa::Operand;
using isa::OperandKind;

struct Field {
  unsigned word = 0;
  unsigned shift = 0;
};

/// Position of the 8 bits of a VGPR operand in an encoding (GCN3 and CDNA2 ISA manuals, "Instruction formats").
std::optional<Field> field_of(const Instruction& instruction, unsigned operand) {
  const bool is_destination = operand == OperandPlace::kDestination;
  switch (instruction.format) {
    case Format::vop1:
    case Format::vop2:
    case Format::vopc:
      if (instruction.size == 8 && (instruction.vop.sdwa || instruction.vop.dpp)) return std::nullopt;
      if (is_destination) return Field{0, 17};
      if (operand == 0) return Field{0, 0};
      // v_madmk has a literal as operand 1, so its second register is operand 2.
      if (operand == (instruction.row->mnemonic.starts_with("v_madmk") ? 2U : 1U)) return Field{0, 9};
      return std::nullopt;
    case Format::vop3a:
    case Format::vop3b: {
      if (is_destination) return Field{0, 0};
      constexpr unsigned kShifts[] = {0, 9, 18};
      return operand < 3 ? std::optional(Field{1, kShifts[operand]}) : std::nullopt;
    }
    case Format::flat:
    case Format::global:
      if (is_destination) return Field{1, 24};
      return operand < 2 ? std::optional(Field{1, 8 * operand}) : std::nullopt;
    case Format::ds:
      if (is_destination) return Field{1, 24};
      return operand < 3 ? std::optional(Field{1, 8 * operand}) : std::nullopt;
    default:
      return std::nullopt;
  }
}

const Operand& operand_at(const Instruction& instruction, unsigned operand) {
  return operand == OperandPlace::kDestination ? instruction.dst[0] : instruction.src.at(operand);
}

bool same(const Operand& a, const Operand& b) {
  return a.kind == b.kind && a.words == b.words && a.index == b.index && a.value == b.value;
}

}  // namespace

std::optional<Instruction> renamed(const Instruction& instruction, unsigned operands, int distance, isa::Target target) {
  std::array<std::uint32_t, 3> words = instruction.raw;
  for (unsigned operand = 0; operand <= OperandPlace::kDestination; ++operand) {
    if ((operands >> operand & 1) == 0) continue;
    const auto field = field_of(instruction, operand);
    const Operand& old = operand_at(instruction, operand);
    const int vgpr = int{old.index} + distance;
    if (!field || old.kind != OperandKind::vgpr || vgpr < 0 || vgpr > 255) return std::nullopt;
    std::uint32_t& word = words.at(field->word);
    word = (word & ~(0xffU << field->shift)) | static_cast<std::uint32_t>(vgpr) << field->shift;
  }
  // Decodes the result to verify that only these operands have changed.
  const isa::DecodeResult decoded = isa::decode(words.data(), instruction.size / 4U, target, isa::kAllMatrixCodes);
  if (!decoded.ok || decoded.instruction.row != instruction.row || decoded.instruction.size != instruction.size)
    return std::nullopt;
  const Instruction& now = decoded.instruction;
  if (now.sources != instruction.sources || now.destinations != instruction.destinations) return std::nullopt;
  const auto is_right = [&](unsigned operand) {
    Operand wanted = operand_at(instruction, operand);
    if ((operands >> operand & 1) != 0) wanted.index = static_cast<std::uint16_t>(int{wanted.index} + distance);
    return same(wanted, operand_at(now, operand));
  };
  for (unsigned s = 0; s < instruction.sources; ++s)
    if (!is_right(s)) return std::nullopt;
  if (instruction.destinations > 0 && !is_right(OperandPlace::kDestination)) return std::nullopt;
  return now;
}

bool ValueWeb::grow(std::uint32_t writer) { return add_writer(writer) && one_mask(); }

bool ValueWeb::add_writer(std::uint32_t writer) {
  const Instruction& instruction = flow_.instructions()[writer].instruction;
  const Operand& to = instruction.dst[0];
  // Loads are excluded: they write their register later, at an unknown time.
  if (instruction.unit != isa::Unit::valu || instruction.destinations == 0 || to.kind != OperandKind::vgpr ||
      places_.size() >= kMostPlaces)
    return false;
  // The result keeps a part of the destination's old contents, which another register would not contain.
  const bool keeps_old = (instruction.row->flags & isa::kReadsDst) != 0 || instruction.vop.dpp || instruction.vop.sdwa;
  if (!places_.insert({writer, OperandPlace::kDestination}).second) return true;
  for (unsigned word = 0; word < to.words; ++word) {
    vgprs_.insert(to.index + word);
    if (!add_readers(writer, to.index + word)) return false;
  }
  return !keeps_old || add_operand(writer, OperandPlace::kDestination);
}

bool ValueWeb::add_readers(std::uint32_t writer, unsigned vgpr) {
  const isa::ValueReaders::Readers readers = values_.readers(writer, vgpr);
  if (readers.elsewhere) return false;
  for (const std::uint32_t reader : readers.in_block) {
    const Instruction& instruction = flow_.instructions()[reader].instruction;
    const auto covers = [vgpr](const Operand& operand) {
      return operand.kind == OperandKind::vgpr && vgpr >= operand.index && vgpr < operand.index + unsigned{operand.words};
    };
    bool found = false;
    for (unsigned s = 0; s < instruction.sources; ++s) {
      if (!covers(instruction.src.at(s))) continue;
      found = true;
      if (!add_operand(reader, s)) return false;
    }
    const bool keeps_old = (instruction.row->flags & isa::kReadsDst) != 0 || instruction.vop.dpp || instruction.vop.sdwa;
    if (keeps_old && instruction.destinations > 0 && covers(instruction.dst[0])) {
      found = true;
      if (!add_writer(reader)) return false;
    }
    if (!found) return false;
  }
  return true;
}

/// Adds a source operand. Returns false if one of its registers was not written in the block, or if the web cannot grow.
bool ValueWeb::add_operand(std::uint32_t reader, unsigned operand) {
  if (places_.size() >= kMostPlaces) return false;
  const bool is_new = places_.insert({reader, operand}).second;
  if (!is_new && operand != OperandPlace::kDestination) return true;
  const Operand& from = operand_at(flow_.instructions()[reader].instruction, operand);
  for (unsigned word = 0; word < from.words; ++word) {
    const unsigned vgpr = from.index + word;
    vgprs_.insert(vgpr);
    const auto writer = values_.writer(reader, vgpr);
    if (!writer) return false;
    if (places_.count({*writer, OperandPlace::kDestination}) == 0 && !add_writer(*writer)) return false;
  }
  return true;
}

bool ValueWeb::one_mask() const {
  const auto [first, last] =
      std::minmax_element(places_.begin(), places_.end(),
                          [](const OperandPlace& a, const OperandPlace& b) { return a.instruction < b.instruction; });
  for (std::uint32_t i = first->instruction; i <= last->instruction; ++i)
    if (isa::writes_exec(flow_.instructions()[i].use)) return false;
  return true;
}

}  // namespace lacuna
