#include "models/isa/decode/table.h"

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

// VOP3 has the widest opcode field: 10 bits.
constexpr unsigned kOpcodes = 1024;

// Rows by [target][encoding format][opcode]; VOP3 has one space for both of its layouts, VOP3P one with MAI.
class Index {
 public:
  Index() : places_(kTargets * kFormatCount * kOpcodes, nullptr) {
    for (const auto set : {sop1_rows(), sop2_rows(), sopk_rows(), sopc_rows(), sopp_rows(), smem_rows(), vop1_rows(),
                           vop2_rows(), vopc_rows(), vop3_rows(), vop3p_rows(), mai_rows(), ds_rows(), flat_rows(),
                           global_rows(), scratch_rows(), mubuf_rows(), mtbuf_rows()}) {
      for (const InstructionRow& row : set) add(row);
    }
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
};

}  // namespace

std::span<const InstructionRow> rows(Format format) {
  switch (format) {
    case Format::sop1:
      return sop1_rows();
    case Format::sop2:
      return sop2_rows();
    case Format::sopk:
      return sopk_rows();
    case Format::sopc:
      return sopc_rows();
    case Format::sopp:
      return sopp_rows();
    case Format::smem:
      return smem_rows();
    case Format::vop1:
      return vop1_rows();
    case Format::vop2:
      return vop2_rows();
    case Format::vopc:
      return vopc_rows();
    case Format::vop3a:
      return vop3_rows();
    case Format::ds:
      return ds_rows();
    case Format::flat:
      return flat_rows();
    case Format::global:
      return global_rows();
    case Format::scratch:
      return scratch_rows();
    case Format::mubuf:
      return mubuf_rows();
    case Format::vop3p:
      return vop3p_rows();
    case Format::mai:
      return mai_rows();
    case Format::mtbuf:
      return mtbuf_rows();
    case Format::vop3b:  // listed with vop3a
      return {};
  }
  return {};
}

const InstructionRow* find_row(Format format, unsigned opcode, Target target) {
  static const Index index;
  return index.find(format, opcode, target);
}

std::span<const Format> all_formats() { return kFormats; }

std::string_view format_name(Format format) {
  static constexpr std::array<std::string_view, kFormatCount> kNames{
      "SOP1",  "SOP2",  "SOPK", "SOPC", "SOPP", "SMEM",   "VOP1",    "VOP2",  "VOPC", "VOP3",
      "VOP3B", "VOP3P", "MAI",  "DS",   "FLAT", "GLOBAL", "SCRATCH", "MUBUF", "MTBUF"};
  return kNames[static_cast<std::size_t>(format)];
}

}  // namespace lacuna::isa
