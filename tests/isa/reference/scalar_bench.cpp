#include "tests/isa/reference/scalar_bench.h"

#include <gtest/gtest.h>

#include <array>
#include <ios>
#include <random>

#include "models/isa/decode/decoder.h"
#include "models/isa/decode/operand.h"
#include "models/isa/decode/table.h"
#include "models/isa/wavefront.h"
#include "tests/isa/reference/vector_bench.h"
#include "tests/isa/reference/vector_encoding.h"

namespace lacuna::isa::test {
namespace {

constexpr unsigned kFailuresPerRow = 4;
constexpr unsigned kCasesPerRow = 4000;
constexpr std::array<unsigned, 2> kSources{4, 8};
constexpr unsigned kDestination = 12;

struct ScalarForm {
  std::array<unsigned, 2> source = kSources;
  std::uint32_t literal = 0;
  std::uint16_t immediate = 0;
};

class ScalarBench {
 public:
  ScalarBench(const InstructionRow& row, Target target, const ScalarReference& entry)
      : row_(row), target_(target), entry_(entry), generator_(static_cast<unsigned>(row.opcode[target])) {
    wave_.target = target;
    wave_.sgpr_count = 102;
  }

  void run() {
    for (unsigned i = 0; i < kCasesPerRow * reference_rounds() && failures_ < kFailuresPerRow; ++i) step();
  }

 private:
  /// Type of source `i`; none for SIMM16 (including branch distances), which is not an operand.
  OperandType type(unsigned i) const {
    const OperandType t = row_.src.types.at(i);
    return i < row_.src.count && t != OperandType::simm16 && t != OperandType::label16 ? t : OperandType::none;
  }

  ScalarForm random_form() {
    ScalarForm f;
    const std::uint64_t edge = draw_value(OperandType::u16, generator_);
    f.immediate = static_cast<std::uint16_t>(edge);
    if (row_.format == Format::sopk || (row_.flags & kRegisterSource) != 0) return f;
    // At most one source is an inline constant or a literal; the other is a register.
    const auto at = static_cast<std::size_t>(generator_() % 2);
    if (type(static_cast<unsigned>(at)) == OperandType::none) return f;
    switch (generator_() % 8) {
      case 0:
        f.source.at(at) = kInlineZero + static_cast<unsigned>(generator_() % 81);
        break;
      case 1:
        f.source.at(at) = kInlineFloat + static_cast<unsigned>(generator_() % 9);
        break;
      case 2:
        f.source.at(at) = kLiteral;
        f.literal = static_cast<std::uint32_t>(draw_value(OperandType::b32, generator_));
        break;
      default:
        break;
    }
    return f;
  }

  std::array<std::uint32_t, 2> encode(const ScalarForm& f) const {
    const auto opcode = static_cast<std::uint32_t>(row_.opcode[target_]);
    const std::uint32_t dst = row_.dst.count == 0 && row_.format != Format::sopk ? 0 : kDestination << 16;
    switch (row_.format) {
      case Format::sop1:
        return {0xbe800000U | dst | opcode << 8 | (row_.src.count == 0 ? 0 : f.source[0]), f.literal};
      case Format::sop2:
        return {0x80000000U | opcode << 23 | dst | f.source[1] << 8 | f.source[0], f.literal};
      case Format::sopc:
        return {0xbf000000U | opcode << 16 | f.source[1] << 8 | f.source[0], f.literal};
      default:
        return {0xb0000000U | opcode << 23 | dst | f.immediate, 0};
    }
  }

  std::uint64_t value(const ScalarForm& f, unsigned i) const {
    if (type(i) == OperandType::none) return 0;
    const bool wide = words_of(type(i)) == 2;
    const unsigned from = row_.format == Format::sopk ? kDestination : f.source.at(i);
    const std::uint64_t v = from < kInlineZero ? wave_.read64(from) : constant_bits(from, f.literal, type(i));
    return wide ? v : u32(v);
  }

  void step() {
    const ScalarForm form = random_form();
    const std::array<std::uint32_t, 2> words = encode(form);
    const DecodeResult decoded = decode(words.data(), words.size(), target_);
    if (!decoded.ok || decoded.instruction.row->mnemonic != row_.mnemonic) {
      ++failures_;
      ADD_FAILURE() << row_.mnemonic << ": " << decoded.error;
      return;
    }
    for (std::uint32_t& s : wave_.sgpr) s = static_cast<std::uint32_t>(generator_());
    for (unsigned i = 0; i < 2; ++i) {
      if (type(i) != OperandType::none) wave_.write64(kSources.at(i), draw_value(type(i), generator_));
    }
    if ((generator_() & 1) != 0) wave_.write64(kDestination, draw_value(OperandType::b32, generator_));
    if ((generator_() & 3) == 0) wave_.set_exec(draw_value(OperandType::b64, generator_));
    wave_.scc = (generator_() & 1) != 0;
    wave_.pc = generator_() & 0xfffffffffffcU;
    wave_.event = Event::none;

    const unsigned written = row_.dst.count == 0 ? 0 : words_of(row_.dst.types[0]);
    ScalarInputs in{
        value(form, 0), value(form, 1), static_cast<std::int16_t>(form.immediate), wave_.read64(kDestination), wave_.exec(),
        wave_.scc,      wave_.pc};
    if (written == 1) in.old = u32(in.old);
    const ScalarOutcome want = entry_.reference(in);
    std::array<std::uint32_t, 128> expected = wave_.sgpr;
    expected[kExecLo] = u32(want.exec);
    expected[kExecHi] = u32(want.exec >> 32);
    for (unsigned w = 0; w < written; ++w) expected.at(kDestination + w) = u32(want.value >> (32 * w));

    decoded.instruction.execute(decoded.instruction, wave_);
    const bool clean = wave_.event == Event::none;
    if (clean && wave_.sgpr == expected && wave_.scc == want.scc && wave_.pc == want.pc.value_or(in.pc)) return;
    ++failures_;
    ADD_FAILURE() << row_.mnemonic << (target_ == Target::gfx803 ? " gfx803" : " gfx90a") << " src " << form.source[0] << ','
                  << form.source[1] << std::hex << " a 0x" << in.a << " b 0x" << in.b << " simm 0x" << form.immediate
                  << " old 0x" << in.old << " exec 0x" << in.exec << " scc " << in.scc << ": got 0x"
                  << wave_.read64(kDestination) << " scc " << wave_.scc << " exec 0x" << wave_.exec() << " pc 0x" << wave_.pc
                  << ", want 0x" << want.value << " scc " << want.scc << " exec 0x" << want.exec
                  << (clean ? "" : " and an event");
  }

  const InstructionRow& row_;
  Target target_;
  const ScalarReference& entry_;
  Wavefront wave_;
  std::mt19937_64 generator_;
  unsigned failures_ = 0;
};

}  // namespace

unsigned check_scalar_rows(const ScalarReference& entry) {
  unsigned checked = 0;
  for (const Format format : {Format::sop1, Format::sop2, Format::sopc, Format::sopk}) {
    for (const InstructionRow& row : rows(format)) {
      if (row.mnemonic != entry.mnemonic || row.execute == nullptr) continue;
      for (const Target target : {Target::gfx803, Target::gfx90a}) {
        if (row.opcode[target] == kAbsent) continue;
        ++checked;
        ScalarBench(row, target, entry).run();
      }
    }
  }
  return checked;
}

}  // namespace lacuna::isa::test
