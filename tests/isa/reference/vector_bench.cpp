#include "tests/isa/reference/vector_bench.h"

#include <gtest/gtest.h>

#include <bit>
#include <optional>

#include "models/isa/decode/decoder.h"
#include "models/isa/decode/operand.h"
#include "models/isa/vector/host_fp.h"
#include "models/isa/wavefront.h"
#include "tests/isa/reference/float_modes.h"
#include "tests/isa/reference/vector_encoding.h"

namespace lacuna::isa::test {
namespace {

constexpr unsigned kRegisters = 32;
constexpr unsigned kFailuresPerRow = 4;

const BinaryFormat* format_of(OperandType t) {
  if (t == OperandType::f16) return &kHalf16;
  if (t == OperandType::f32) return &kSingle;
  return t == OperandType::f64 ? &kDouble : nullptr;
}

/// Applies ABS, then NEG. v_cndmask_b32 treats them as signs of an f32 ([LLVM] VOP2Instructions.td).
std::uint64_t with_signs(std::uint64_t v, OperandType type, bool abs, bool neg) {
  const BinaryFormat* f = format_of(type);
  const std::uint64_t sign = f != nullptr ? f->sign() : kSingle.sign();
  if (abs) v &= ~sign;
  return neg ? v ^ sign : v;
}

/// Applies OMOD, then CLAMP, to a floating-point result. [Vega] "Output modifiers": ignored in IEEE mode and if output
/// denormals are kept; -0 becomes +0. CLAMP of NaN: 0 with DX10_CLAMP, otherwise NaN.
std::uint64_t with_output_modifiers(std::uint64_t v, const BinaryFormat& f, unsigned omod, const Context& x) {
  if (omod != 0 && !f.nan(v) && !x.ieee() && !keeps_results(x, f)) {
    constexpr int kPowers[] = {0, 1, 2, -1};
    v = scaled(v, kPowers[omod], f, rule_of(x, f));
    if (f.zero(v)) v = 0;
  }
  if (!x.clamp) return v;
  if (f.nan(v)) return x.dx10_clamp() ? 0 : v;
  if (f.negative(v)) return 0;
  return compare(v, f.one(), f) > 0 ? f.one() : v;
}

/// Applies CLAMP to each part of a packed result.
std::uint64_t with_clamped_parts(std::uint64_t v, const BinaryFormat& f, const Context& x) {
  const std::uint64_t part = f.infinity() | f.sign() | (f.hidden() - 1);
  return with_output_modifiers(v & part, f, 0, x) | with_output_modifiers(v >> f.width & part, f, 0, x) << f.width;
}

/// Whether `got` is within `ulps` of the expected result; signs and special values must agree. An approximate result next to
/// the smallest normal number may be flushed if the exact result is not, and vice versa.
bool close(std::uint64_t got, std::uint64_t want, const BinaryFormat& f, unsigned ulps) {
  if (got == want) return true;
  if (f.width < 64 && (got ^ want) >> f.width != 0) return false;
  if (f.nan(got) || f.nan(want) || f.negative(got) != f.negative(want) || f.zero(want) != f.zero(got)) {
    return !f.nan(got) && !f.nan(want) && f.negative(got) == f.negative(want) && f.magnitude(got) <= f.hidden() &&
           f.magnitude(want) <= f.hidden() && f.magnitude(got) + f.magnitude(want) == f.hidden();
  }
  const std::uint64_t a = f.magnitude(got);
  const std::uint64_t b = f.magnitude(want);
  return (a > b ? a - b : b - a) <= ulps;
}

/// The 16-bit instructions that gfx9 adds, and its multiply-adds, keep the half of the register that they do not write; other
/// 16-bit instructions clear it ([LLVM] GCNSubtarget::zeroesHigh16BitsOfDest).
bool keeps_other_half(const InstructionRow& row, Target target) {
  if (target != Target::gfx90a || !is_16_bit(row.dst.types[0])) return false;
  for (const std::string_view name : {"v_mac_f16", "v_madmk_f16", "v_madak_f16"}) {
    if (row.mnemonic == name) return true;
  }
  return (row.flags & kOpSel) != 0;
}

/// The lane from which `lane` reads under a DPP control; nullopt: it would be outside the row.
std::optional<unsigned> dpp_lane(unsigned lane, unsigned control) {
  const unsigned row = lane & ~15U;
  const unsigned at = lane & 15;
  const unsigned amount = control & 15;
  if (control < 0x100) return (lane & ~3U) + (control >> (2 * (lane & 3)) & 3);
  if (control < 0x110) return at + amount < 16 ? std::optional(row + at + amount) : std::nullopt;
  if (control < 0x120) return at >= amount ? std::optional(row + at - amount) : std::nullopt;
  if (control < 0x130) return row + ((at + 16 - amount) & 15);
  return control == 0x140 ? row + 15 - at : (lane & ~7U) + 7 - (lane & 7);
}

std::uint64_t select(std::uint64_t v, unsigned sel, bool extend) {
  if (sel == 6) return v;
  const unsigned width = sel < 4 ? 8 : 16;
  const std::uint64_t part = u32(v) >> (sel < 4 ? 8 * sel : 16 * (sel - 4)) & ((1U << width) - 1);
  return extend ? u32(static_cast<std::uint64_t>(sign_extend(part, width))) : part;
}
std::uint64_t place(std::uint64_t v, std::uint64_t old, unsigned sel, unsigned unused) {
  if (sel == 6) return v;
  const unsigned width = sel < 4 ? 8 : 16;
  const unsigned shift = sel < 4 ? 8 * sel : 16 * (sel - 4);
  const std::uint64_t field = (std::uint64_t{1} << width) - 1;
  const std::uint64_t part = (v & field) << shift;
  if (unused == 2) return (old & ~(field << shift)) | part;
  if (unused == 0) return part;
  // Bits above the part are filled by sign extension; bits below it are zero.
  return u32(static_cast<std::uint64_t>(sign_extend(part, shift + width)));
}

class Bench {
 public:
  Bench(const InstructionRow& row, Target target, const ReferenceEntry& entry)
      : row_(row), target_(target), entry_(entry), registers_(kRegisters * kLanes), generator_(seed()) {
    wave_.target = target;
    wave_.vgpr = registers_.data();
    wave_.vgpr_count = kRegisters;
    wave_.sgpr_count = 102;
  }
  ~Bench() { restore_host_fp(); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  void run(std::uint32_t mode, unsigned forms, unsigned waves) {
    wave_.mode.bits = mode;
    for (unsigned i = 0; i < forms && failures_ < kFailuresPerRow; ++i) {
      Form form = random_form(row_, target_, generator_);
      if (entry_.ulps != 0) form.dst_sel = 6;  // whole dword: parts of an approximate result may be far from exact
      const std::array<std::uint32_t, 3> words = encode(row_, target_, form);
      const DecodeResult decoded = decode(words.data(), words.size(), target_);
      if (!decoded.ok || decoded.instruction.row->mnemonic != row_.mnemonic) {
        ++failures_;
        ADD_FAILURE() << row_.mnemonic << ' ' << form.text() << ": " << decoded.error;
        continue;
      }
      for (unsigned w = 0; w < waves; ++w) step(decoded.instruction, form);
    }
  }

 private:
  std::uint64_t seed() const {
    std::uint64_t h = 0xcbf29ce484222325;  // FNV-1a of the mnemonic
    for (const char c : row_.mnemonic) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return h + static_cast<unsigned>(target_);
  }
  std::uint32_t& at(unsigned reg, unsigned lane) { return registers_[reg * kLanes + lane]; }
  std::uint64_t pair(unsigned reg, unsigned lane) { return at(reg, lane) | std::uint64_t{at(reg + 1, lane)} << 32; }

  /// Fills the registers with random and edge values in random combinations; EXEC is random in half of the runs.
  void fill() {
    for (std::uint32_t& r : registers_) r = static_cast<std::uint32_t>(generator_());
    for (std::uint32_t& s : wave_.sgpr) s = static_cast<std::uint32_t>(generator_());
    for (unsigned i = 0; i < value_sources(row_); ++i) {
      const OperandType type = row_.src.types.at(i);
      for (unsigned lane = 0; lane < kLanes; ++lane) put(kSourceVgpr[i], lane, draw_value(type, generator_), words_of(type));
    }
    // In some lanes the first source equals another one: division scaling requires two sources to be equal, and sums may
    // cancel.
    const OperandType first = row_.src.types[0];
    for (unsigned lane = 0; lane < kLanes && value_sources(row_) > 1; ++lane) {
      const unsigned other = 1 + static_cast<unsigned>(generator_() % 8);
      if (other >= value_sources(row_) || row_.src.types.at(other) != first || words_of(first) > 2) continue;
      put(kSourceVgpr[0], lane, pair(kSourceVgpr[other], lane), words_of(first));
    }
    const OperandType result = row_.dst.types[0];
    if ((row_.flags & kReadsDst) != 0 && is_float(result)) {
      for (unsigned lane = 0; lane < kLanes; ++lane)
        put(kDestinationVgpr, lane, draw_value(result, generator_), words_of(result));
    }
    wave_.write64(kScalarSource, draw_value(row_.src.types[0], generator_));
    wave_.set_exec((generator_() & 1) != 0 ? ~std::uint64_t{0} : generator_());
  }
  void put(unsigned reg, unsigned lane, std::uint64_t v, unsigned words) {
    at(reg, lane) = u32(v);
    if (words > 1) at(reg + 1, lane) = u32(v >> 32);
  }

  /// Source `i` of a lane as input of the operation; nullopt if DPP disables the lane.
  std::optional<std::uint64_t> source(const Form& f, unsigned i, unsigned lane, std::uint64_t exec) {
    const OperandType type = row_.src.types.at(i);
    std::uint64_t v = 0;
    if (type == OperandType::simm32) {
      v = row_.dst.types[0] == OperandType::f16 ? u16(f.literal) : f.literal;
    } else if (f.source.at(i) >= kVgpr0) {
      unsigned from = lane;
      if (f.encoding == Encoding::dpp && i == 0) {
        const std::optional<unsigned> other = dpp_lane(lane, f.dpp_ctrl);
        const bool valid = other && (exec >> *other & 1) != 0;
        if (!valid && !f.bound_ctrl) return std::nullopt;
        if (!valid) return with_signs(0, type, (f.abs & 1) != 0, (f.neg & 1) != 0);
        from = *other;
      }
      v = pair(f.source.at(i) - kVgpr0, from);
    } else if (f.source.at(i) < kInlineZero) {
      v = wave_.read64(f.source.at(i));
    } else {
      const bool whole = f.encoding == Encoding::vop3p && mixed_precision(row_) && (f.op_sel_hi >> i & 1) == 0;
      v = constant_bits(f.source.at(i), f.literal, whole ? OperandType::f32 : type);
    }
    if (words_of(type) < 2 && type != OperandType::simm32) v = u32(v);
    if (f.encoding == Encoding::sdwa && i < 2) v = select(v, f.sel.at(i), f.sext.at(i));
    if (f.encoding == Encoding::vop3p) return mixed_precision(row_) ? mixed_source(v, f, i) : packed_source(v, f, i);
    // OP_SEL selects the upper half, also of constants.
    if (is_16_bit(type)) v = (f.op_sel >> i & 1) != 0 ? u16(v >> 16) : u16(v);
    return with_signs(v, type, (f.abs >> i & 1) != 0, (f.neg >> i & 1) != 0);
  }
  Outcome evaluated(const Lane& lane, const Context& context) const {
    const unsigned width = entry_.part_bits;
    if (width == 0) return entry_.reference(lane, context);
    const std::uint64_t part = (std::uint64_t{1} << width) - 1;
    Outcome all;
    for (const unsigned shift : {0U, width}) {
      Lane one = lane;
      for (std::uint64_t* v : {&one.a, &one.b, &one.c, &one.old}) *v = *v >> shift & part;
      all.value |= (entry_.reference(one, context).value & part) << shift;
    }
    return all;
  }
  /// Source `i` of a packed instruction: the input of the operation on the low parts in the low bits, and above it the input of
  /// the operation on the high parts.
  std::uint64_t packed_source(std::uint64_t v, const Form& f, unsigned i) const {
    const OperandType type = row_.src.types.at(i);
    const unsigned width = type == OperandType::pk_f32 ? 32 : 16;
    // The accumulator of a dot product is one number.
    if (i == 2 && words_of(type) == 1 && !is_packed_16(type))
      return is_float(type) && (f.neg >> i & 1) != 0 ? v ^ kSingle.sign() : v;
    const std::uint64_t part = (std::uint64_t{1} << width) - 1;
    std::uint64_t low = ((f.op_sel >> i & 1) != 0 ? v >> width : v) & part;
    std::uint64_t high = ((f.op_sel_hi >> i & 1) != 0 ? v >> width : v) & part;
    const std::uint64_t sign = std::uint64_t{1} << (width - 1);
    if (is_float(type) && (f.neg >> i & 1) != 0) low ^= sign;
    if (is_float(type) && (f.neg_hi >> i & 1) != 0) high ^= sign;
    return low | high << width;
  }
  /// Returns the source as f32. With OP_SEL_HI, it is the half selected by OP_SEL, converted; otherwise it is an f32. NEG_HI is
  /// used as ABS.
  std::uint64_t mixed_source(std::uint64_t v, const Form& f, unsigned i) const {
    const Context x{target_, wave_.mode.bits, f.clamp};
    if ((f.op_sel_hi >> i & 1) != 0) {
      const std::uint64_t half = u16((f.op_sel >> i & 1) != 0 ? v >> 16 : v);
      v = converted(input(half, x, kHalf16), kHalf16, kSingle, {});
    }
    return with_signs(v, OperandType::f32, (f.neg_hi >> i & 1) != 0, (f.neg >> i & 1) != 0);
  }
  void step(const Instruction& instruction, const Form& f) {
    fill();
    const std::vector<std::uint32_t> before = registers_;
    const std::uint64_t exec = wave_.exec();
    const bool mask_operand = value_sources(row_) < row_.src.count;
    const std::uint64_t mask_in = f.encoding == Encoding::e64 && mask_operand ? wave_.read64(kMaskSource) : wave_.vcc();
    const Context context{target_, wave_.mode.bits, f.clamp};
    std::vector<std::optional<Outcome>> expected(kLanes);
    std::vector<Lane> lanes(kLanes);
    for (unsigned l = 0; l < kLanes; ++l) {
      if ((exec >> l & 1) == 0) continue;
      if (f.encoding == Encoding::dpp && ((f.bank_mask >> (l / 4 % 4) & 1) == 0 || (f.row_mask >> (l / 16) & 1) == 0)) continue;
      Lane lane;
      lane.index = l;
      lane.flag = (mask_in >> l & 1) != 0;
      lane.old = pair(kDestinationVgpr, l);
      if (words_of(row_.dst.types[0]) < 2) lane.old = u32(lane.old);
      if (row_.dst.types[0] == OperandType::f16) lane.old = u16(lane.old);
      std::uint64_t* const values[] = {&lane.a, &lane.b, &lane.c};
      bool enabled = true;
      for (unsigned i = 0; i < value_sources(row_); ++i) {
        const std::optional<std::uint64_t> v = source(f, i, l, exec);
        enabled = enabled && v.has_value();
        *values[i] = v.value_or(0);
      }
      if (!enabled) continue;
      if (row_.src.types[2] == OperandType::b128) lane.c_high = pair(kSourceVgpr[2] + 2, l);
      lanes[l] = lane;
      expected[l] = evaluated(lane, context);
    }
    wave_.event = Event::none;
    instruction.execute(instruction, wave_);
    restore_host_fp();
    EXPECT_EQ(wave_.event, Event::none) << row_.mnemonic;
    for (unsigned l = 0; l < kLanes && failures_ < kFailuresPerRow; ++l) check(f, l, lanes[l], expected[l], before, context);
  }

  void check(const Form& f, unsigned l, const Lane& lane, const std::optional<Outcome>& expected,
             const std::vector<std::uint32_t>& before, const Context& context) {
    const OperandType type = row_.dst.types[0];
    const unsigned words = words_of(type);
    bool good = true;
    std::uint64_t want = 0;
    std::uint64_t got = 0;
    if (!returns_mask(row_)) {
      const auto old = [&](unsigned i) { return before[(kDestinationVgpr + i) * kLanes + l]; };
      want = old(0) | (words > 1 ? std::uint64_t{old(1)} << 32 : 0);
      got = words > 1 ? pair(kDestinationVgpr, l) : at(kDestinationVgpr, l);
      if (expected) want = result(f, *expected, want, context);
      good = got == want;
      if (!good && expected && entry_.ulps != 0) good = close(got, want, *format_of(type), entry_.ulps);
      if (words == 4) {
        const std::uint64_t high = expected ? expected->high : old(2) | std::uint64_t{old(3)} << 32;
        good = good && pair(kDestinationVgpr + 2, l) == high;
      }
    }
    if (returns_mask(row_) || also_returns_mask(row_)) {
      const std::uint64_t mask = f.encoding == Encoding::e64 ? wave_.read64(kMaskResult) : wave_.vcc();
      good = good && (mask >> l & 1) == (expected && expected->flag ? 1U : 0U);
      if ((row_.flags & kWritesExec) != 0) good = good && wave_.exec() == mask;
    }
    if (good) return;
    ++failures_;
    ADD_FAILURE() << row_.mnemonic << (target_ == Target::gfx803 ? " gfx803 " : " gfx90a ") << f.text() << std::hex
                  << " mode 0x" << wave_.mode.bits << (expected ? "" : " (disabled)") << " lane " << l << ": a 0x" << lane.a
                  << " b 0x" << lane.b << " c 0x" << lane.c << " old 0x" << lane.old << " flag " << lane.flag << ": got 0x"
                  << got << ", want 0x" << want << " flag " << (expected && expected->flag);
  }

  std::uint64_t result(const Form& f, const Outcome& expected, std::uint64_t old, const Context& context) const {
    const OperandType type = row_.dst.types[0];
    std::uint64_t v = expected.value;
    if (mixed_precision(row_) && row_.mnemonic != "v_fma_mix_f32") {
      v = with_output_modifiers(v, kHalf16, 0, context);
      return row_.mnemonic == "v_fma_mixhi_f16" ? (old & 0xffff) | v << 16 : (old & 0xffff0000) | v;
    }
    if (type == OperandType::pk_f16) return with_clamped_parts(v, kHalf16, context);
    if (type == OperandType::pk_f32) return with_clamped_parts(v, kSingle, context);
    if (const BinaryFormat* format = format_of(type)) v = with_output_modifiers(v, *format, f.omod, context);
    if (f.encoding == Encoding::sdwa) return place(v, old, f.dst_sel, f.dst_unused);
    if (!keeps_other_half(row_, target_)) return v;
    return (f.op_sel & 8) != 0 ? (old & 0xffff) | v << 16 : (old & 0xffff0000) | v;
  }

  const InstructionRow& row_;
  Target target_;
  const ReferenceEntry& entry_;
  std::vector<std::uint32_t> registers_;
  Wavefront wave_;
  std::mt19937_64 generator_;
  unsigned failures_ = 0;
};

bool depends_on_mode(const InstructionRow& row) {
  bool any = false;
  for (const OperandType t : row.src.types) any = any || is_float(t);
  for (const OperandType t : row.dst.types) any = any || is_float(t);
  return any;
}

}  // namespace

unsigned check_rows(const ReferenceEntry& entry) {
  unsigned checked = 0;
  for (const Format format : {Format::vop1, Format::vop2, Format::vopc, Format::vop3a, Format::vop3p}) {
    for (const InstructionRow& row : rows(format)) {
      if (row.mnemonic != entry.mnemonic || row.execute == nullptr) continue;
      for (const Target target : {Target::gfx803, Target::gfx90a}) {
        if (row.opcode[target] == kAbsent) continue;
        ++checked;
        Bench bench(row, target, entry);
        const unsigned rounds = reference_rounds();
        // The fields of f32 and of f64/f16 differ, so that the use of the wrong field is detected.
        for (unsigned m = 0; m < 64; ++m) {
          const unsigned round = m & 3;
          const unsigned denormals = m >> 2 & 3;
          const std::uint32_t mode = round | ((round + 1) & 3) << 2 | denormals << 4 | (denormals ^ 3) << 6 | (m >> 4) << 8;
          bench.run(mode, (depends_on_mode(row) && !returns_mask(row) ? 4 : 2) * rounds, 4);
        }
      }
    }
  }
  return checked;
}

void check_references(std::span<const ReferenceEntry> entries) {
  unsigned total = 0;
  for (const ReferenceEntry& entry : entries) {
    const unsigned checked = check_rows(entry);
    EXPECT_GT(checked, 0U) << entry.mnemonic << " names no row";
    total += checked;
  }
  ::testing::Test::RecordProperty("rows", static_cast<int>(total));
}

}  // namespace lacuna::isa::test
