#include "models/isa/decode/table.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/isa/row_sets.h"

namespace lacuna::isa {
namespace {

constexpr std::array kFormats{Format::sop1,   Format::sop2,    Format::sopk,  Format::sopc, Format::sopp,
                              Format::smem,   Format::vop1,    Format::vop2,  Format::vopc, Format::vop3a,
                              Format::vop3b,  Format::vop3p,   Format::mai,   Format::ds,   Format::flat,
                              Format::global, Format::scratch, Format::mubuf, Format::mtbuf};
constexpr unsigned kFormatCount = static_cast<unsigned>(kFormats.size());

/// The rows of one encoding format.
struct RowSet {
  Format format;  // VOP3: both layouts
  std::span<const InstructionRow> (*rows)();
};
constexpr std::array kRowSets{
    RowSet{Format::sop1, sop1_rows},       RowSet{Format::sop2, sop2_rows},   RowSet{Format::sopk, sopk_rows},
    RowSet{Format::sopc, sopc_rows},       RowSet{Format::sopp, sopp_rows},   RowSet{Format::smem, smem_rows},
    RowSet{Format::vop1, vop1_rows},       RowSet{Format::vop2, vop2_rows},   RowSet{Format::vopc, vopc_rows},
    RowSet{Format::vop3a, vop3_rows},      RowSet{Format::vop3p, vop3p_rows}, RowSet{Format::mai, mai_rows},
    RowSet{Format::ds, ds_rows},           RowSet{Format::flat, flat_rows},   RowSet{Format::global, global_rows},
    RowSet{Format::scratch, scratch_rows}, RowSet{Format::mubuf, mubuf_rows}, RowSet{Format::mtbuf, mtbuf_rows},
};

// VOP3 has the widest opcode field: 10 bits.
constexpr unsigned kOpcodes = 1024;

// Rows by [target][encoding format][opcode]; the two layouts of VOP3 share one opcode space, as do VOP3P and MAI.
class Index {
 public:
  Index() : places_(kTargets * kFormatCount * kOpcodes, nullptr) {
    for (const RowSet& set : kRowSets) add(set.rows());
  }

  void add(std::span<const InstructionRow> set) {
    if (std::find(added_.begin(), added_.end(), set.data()) != added_.end()) return;
    for (const InstructionRow& row : set) add(row);
    added_.push_back(set.data());
  }

  const InstructionRow* find(Format format, unsigned opcode, Target target) const {
    return opcode < kOpcodes ? places_[place(format, opcode, target)] : nullptr;
  }

 private:
  static std::size_t place(Format format, unsigned opcode, Target target) {
    if (format == Format::vop3b) format = Format::vop3a;
    if (format == Format::mai) format = Format::vop3p;
    return (static_cast<std::size_t>(target) * kFormatCount + static_cast<std::size_t>(format)) * kOpcodes + opcode;
  }

  void put(const InstructionRow& row, Format format, unsigned opcode, Target target) {
    const InstructionRow*& slot = places_.at(place(format, opcode, target));
    if (slot != nullptr) {
      throw std::logic_error("instruction table: " + std::string(row.mnemonic) + " and " + std::string(slot->mnemonic) +
                             " share opcode " + std::to_string(opcode) + " of " + std::string(format_name(format)));
    }
    slot = &row;
  }

  void add(const InstructionRow& row) {
    for (const Target target : {Target::gfx803, Target::gfx90a}) {
      if (row.opcode[target] == kAbsent) continue;
      const auto opcode = static_cast<unsigned>(row.opcode[target]);
      put(row, row.format, opcode, target);
      if ((row.flags & kNoE64) != 0) continue;
      if (row.format == Format::vopc) put(row, Format::vop3a, opcode, target);
      if (row.format == Format::vop2) put(row, Format::vop3a, kVop3OfVop2 + opcode, target);
      if (row.format == Format::vop1) put(row, Format::vop3a, kVop3OfVop1 + opcode, target);
    }
  }

  std::vector<const InstructionRow*> places_;
  std::vector<const InstructionRow*> added_;  // the first row of each added set
};

Index& index() {
  static Index index;
  return index;
}

}  // namespace

std::span<const InstructionRow> rows(Format format) {
  const auto set = std::find_if(kRowSets.begin(), kRowSets.end(), [format](const RowSet& s) { return s.format == format; });
  return set != kRowSets.end() ? set->rows() : std::span<const InstructionRow>();
}

const InstructionRow* find_row(Format format, unsigned opcode, Target target) { return index().find(format, opcode, target); }

void add_instructions(std::span<const InstructionRow> rows) { index().add(rows); }

std::span<const Format> all_formats() { return kFormats; }

std::string_view format_name(Format format) {
  static constexpr std::array<std::string_view, kFormatCount> kNames{
      "SOP1",  "SOP2",  "SOPK", "SOPC", "SOPP", "SMEM",   "VOP1",    "VOP2",  "VOPC", "VOP3",
      "VOP3B", "VOP3P", "MAI",  "DS",   "FLAT", "GLOBAL", "SCRATCH", "MUBUF", "MTBUF"};
  return kNames[static_cast<std::size_t>(format)];
}

}  // namespace lacuna::isa
