#include "models/isa/analysis/irrelevant_lanes.h"

#include <algorithm>

#include "models/isa/decode/operand.h"
#include "models/isa/scalar/gpr_index.h"
#include "models/isa/vector/host_fp.h"
#include "models/isa/vector/lane_tests.h"
#include "models/isa/vector/valu_execute.h"

namespace lacuna::isa {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

// No operand of a product is wider than two registers.
constexpr unsigned kOperandWords = 2;
using Words = std::array<U32, kOperandWords>;

enum class Element : std::uint8_t { integer, half, single, twice };

// The part of an operand that an instruction reads.
struct Reading {
  Words bits{};
  Element element = Element::integer;
  bool wide = false;

  Words signs() const {
    switch (element) {
      case Element::integer:
        return {};
      case Element::half:
        return {0x8000'8000, 0x8000'8000};
      case Element::single:
        return {0x8000'0000, 0x8000'0000};
      case Element::twice:
        return {0, 0x8000'0000};
    }
    return {};
  }
  Words exponents() const {
    switch (element) {
      case Element::integer:
        return {};
      case Element::half:
        return {0x7c00'7c00, 0x7c00'7c00};
      case Element::single:
        return {0x7f80'0000, 0x7f80'0000};
      case Element::twice:
        return {0, 0x7ff0'0000};
    }
    return {};
  }
};

bool chosen(unsigned bits, unsigned index) { return (bits >> index & 1) != 0; }

// Mask of the selected 16-bit halves of a word: both halves, or one half if the two selections agree.
U32 halves(bool first_high, bool second_high) {
  constexpr std::array<U32, 2> kHalf{0xffff, 0xffff'0000};
  return kHalf[first_high ? 1 : 0] | kHalf[second_high ? 1 : 0];
}

// Bits of source `index` that the instruction reads, or would read if the source were an operand of type `type`.
Reading reading_of(const Instruction& instruction, unsigned index, OperandType type) {
  const VectorModifiers& vop = instruction.vop;
  const bool choose_two = instruction.format == Format::vop3p;
  const bool low = chosen(vop.op_sel, index);
  const bool high = choose_two ? chosen(vop.op_sel_hi, index) : true;
  if ((instruction.row->flags & kMixedPrecision) != 0) {
    return high ? Reading{.bits = {halves(low, low)}, .element = Element::half}
                : Reading{.bits = {~U32{0}}, .element = Element::single};
  }
  switch (type) {
    case OperandType::f16:
      return {.bits = {halves(low, low)}, .element = Element::half};
    case OperandType::b16:
    case OperandType::u16:
    case OperandType::i16:
      return {.bits = {halves(low, low)}};
    case OperandType::pk_f16:
      return {.bits = {halves(low, high)}, .element = Element::half};
    case OperandType::pk_u16:
    case OperandType::pk_i16:
      return {.bits = {halves(low, high)}};
    case OperandType::b32:
      // In VOP3P, the source holds the elements of a dot product.
      return {.bits = {halves(low && choose_two, high)}};
    case OperandType::pk_f32:
      return {.bits = {low && high ? 0 : ~U32{0}, low || high ? ~U32{0} : 0}, .element = Element::single, .wide = true};
    case OperandType::f64:
      return {.bits = {~U32{0}, ~U32{0}}, .element = Element::twice, .wide = true};
    case OperandType::f32:
      return {.bits = {~U32{0}}, .element = Element::single};
    default: {
      const bool wide = words_of(type) == kOperandWords;
      return {.bits = {~U32{0}, wide ? ~U32{0} : 0}, .wide = wide};
    }
  }
}

Reading reading_of(const Instruction& instruction, unsigned index) {
  const OperandType type = instruction.row->src.types[index];
  // The literal of v_madmk has the type of the first source.
  return reading_of(instruction, index, type == OperandType::simm32 ? instruction.row->src.types[0] : type);
}

bool is_vector(const Operand& operand) { return operand.kind == OperandKind::vgpr || operand.kind == OperandKind::agpr; }

const U32* planes(const Operand& operand, const Wavefront& wave) {
  return (operand.kind == OperandKind::agpr ? wave.agpr : wave.vgpr) + std::size_t{operand.index} * kLanes;
}

// Returns the operand's registers; for a scalar or constant, fills `buffer` with the value in all lanes and returns it.
const U32* planes(const Operand& operand, const Wavefront& wave, bool wide, Planes<kOperandWords>& buffer) {
  return is_vector(operand) ? planes(operand, wave) : broadcast(operand, wave, buffer.words, wide ? kOperandWords : 1);
}

U64 zero_lanes(const Instruction& instruction, const Wavefront& wave, unsigned source) {
  const Operand& operand = instruction.src[source];
  const Reading reading = reading_of(instruction, source);
  const Words signs = reading.signs();
  const Words bits{reading.bits[0] & ~signs[0], reading.bits[1] & ~signs[1]};
  if (!is_vector(operand)) {
    const U64 value = reading.wide ? read_scalar64(operand, wave) : read_scalar32(operand, wave);
    return (value & (U64{bits[1]} << 32 | bits[0])) == 0 ? ~U64{0} : 0;
  }
  return lanes_where(planes(operand, wave), reading.wide,
                     [bits](U32 low, U32 high) { return ((low & bits[0]) | (high & bits[1])) == 0; });
}

bool overlap(const Operand& a, const Operand& b) {
  return a.kind == b.kind && a.index < b.index + b.words && b.index < a.index + a.words;
}

// Whether another source, or the old destination if the instruction reads it, has registers in common with the source.
bool is_read_twice(const Instruction& instruction, unsigned source) {
  const Operand& operand = instruction.src[source];
  for (unsigned i = 0; i < instruction.sources; ++i) {
    if (i != source && overlap(operand, instruction.src[i])) return true;
  }
  return (instruction.row->flags & kReadsDst) != 0 && overlap(operand, instruction.dst[0]);
}

constexpr bool allows(OtimesIeee ieee, ZeroPair pair) {
  return pair == ZeroPair::exact || (pair == ZeroPair::ieee && ieee == OtimesIeee::paper);
}

bool may_be_irrelevant(const Instruction& instruction, unsigned source) {
  return is_vector(instruction.src[source]) && !is_read_twice(instruction, source);
}

// -- detection of differences

// The sign bits of those elements of `word` that are NaN or infinite. Adding the lowest bit of the exponent to an exponent of
// all ones carries into the sign's position.
constexpr U32 not_finite(U32 word, U32 exponents, U32 signs) {
  const U32 lowest = exponents & (~exponents << 1);
  return ((word & exponents) + lowest) & signs;
}

// Lanes of the operand with an element that is NaN or infinite.
U64 not_finite_lanes(const Reading& reading, const U32* first) {
  const Words bits = reading.bits;
  const Words exponents = reading.exponents();
  const Words signs = reading.signs();
  return lanes_where(first, reading.wide, [=](U32 low, U32 high) {
    return (not_finite(low & bits[0], exponents[0], signs[0]) | not_finite(high & bits[1], exponents[1], signs[1])) != 0;
  });
}

// Lanes of the operand with an element that is NaN, infinite or negative.
U64 odd_lanes(const Reading& reading, const U32* first) {
  const Words bits = reading.bits;
  const Words exponents = reading.exponents();
  const Words signs = reading.signs();
  return lanes_where(first, reading.wide, [=](U32 low, U32 high) {
    const U32 a = low & bits[0];
    const U32 b = high & bits[1];
    return (not_finite(a, exponents[0], signs[0]) | (a & signs[0]) | not_finite(b, exponents[1], signs[1]) | (b & signs[1])) !=
           0;
  });
}

// Lanes of the operand with an element that is zero or may be flushed to zero.
U64 tiny_lanes(const Reading& reading, const U32* first) {
  const Words exponents = reading.exponents();
  // `place`: the exponent bits in each 16-bit half of the two words; f32 and f64 have them in a high half only. `absent`
  // prevents a match in a half without exponent bits.
  constexpr U32 kLowHalf = 0xffff;
  std::array<Words, 2> place;
  std::array<Words, 2> absent;
  for (unsigned i = 0; i < kOperandWords; ++i) {
    for (unsigned half = 0; half < 2; ++half) {
      place[half][i] = exponents[i] & reading.bits[i] & (half == 0 ? kLowHalf : ~kLowHalf);
      absent[half][i] = place[half][i] == 0 ? 1 : 0;
    }
  }
  return lanes_where(first, reading.wide, [=](U32 low, U32 high) {
    bool found = false;
    for (unsigned half = 0; half < 2; ++half) {
      found |= ((low & place[half][0]) | absent[half][0]) == 0;
      found |= ((high & place[half][1]) | absent[half][1]) == 0;
    }
    return found;
  });
}

// Whether the result is the product itself and therefore has the product's sign. False for instructions without an executor.
bool gives_product(const Instruction& instruction) {
  const InstructionRow& row = *instruction.row;
  return row.src.count == 2 && (row.flags & kReadsDst) == 0 && instruction.vop.omod == 0 && !instruction.vop.clamp &&
         instruction.execute == row.execute;
}

// Lanes in which the sign of a zero product may change the result: those whose addend may be zero, or all if there is no
// addend.
U64 sign_shows(const Instruction& instruction, const Wavefront& wave) {
  const InstructionRow& row = *instruction.row;
  constexpr unsigned kAddend = 2;
  Planes<kOperandWords> buffer;
  if (row.src.count > kAddend) {
    const Reading reading = reading_of(instruction, kAddend);
    return tiny_lanes(reading, planes(instruction.src[kAddend], wave, reading.wide, buffer));
  }
  if ((row.flags & kReadsDst) == 0) return ~U64{0};
  const Reading reading = reading_of(instruction, kAddend, row.dst.types[0]);
  return tiny_lanes(reading, planes(instruction.dst[0], wave));
}

// A copy of an instruction that works on copies of its vector sources and destination.
class Copy {
 public:
  Copy(const Instruction& instruction, const Wavefront& wave, U64 lanes) : instruction_(instruction), wave_(wave) {
    wave_.vgpr = registers_.words;
    wave_.agpr = registers_.words;
    wave_.set_exec(lanes);
    for (unsigned i = 0; i < instruction.sources; ++i) {
      if (is_vector(instruction.src[i])) take(instruction_.src[i], wave, i * kOperandWords);
    }
    take(instruction_.dst[0], wave, kDestination);
  }

  void clear(unsigned source) {
    std::fill_n(wave_.planes(instruction_.src[source]), instruction_.src[source].words * kLanes, 0);
  }
  void execute() { instruction_.execute(instruction_, wave_); }
  // Lanes in which the two copies have different destination values.
  U64 differs(Copy& other) {
    Planes<1> differences;
    const U32* mine = wave_.planes(instruction_.dst[0]);
    const U32* theirs = other.wave_.planes(instruction_.dst[0]);
    const unsigned second = (instruction_.dst[0].words - 1U) * kLanes;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const U32 difference = (mine[lane] ^ theirs[lane]) | (mine[second + lane] ^ theirs[second + lane]);
      differences.words[lane] = difference != 0 ? ~U32{0} : 0;
    }
    return pack_mask(differences.words);
  }

 private:
  static constexpr unsigned kDestination = kMaxSources * kOperandWords;

  void take(Operand& operand, const Wavefront& from, unsigned place) {
    std::copy_n(planes(operand, from), operand.words * kLanes, registers_.words + std::size_t{place} * kLanes);
    operand.index = static_cast<std::uint16_t>(place);
  }

  Instruction instruction_;
  Wavefront wave_;
  Planes<kDestination + kOperandWords> registers_;
};

}  // namespace

unsigned irrelevant_sources(const Instruction& instruction, OtimesIeee ieee) {
  if (!has_irrelevant_sources(instruction)) return 0;
  unsigned sources = 0;
  for (unsigned other = 0; other < instruction.sources; ++other) {
    if (!may_be_irrelevant(instruction, other)) continue;
    for (unsigned zero = 0; zero < instruction.sources; ++zero) {
      if (allows(ieee, makes_irrelevant(*instruction.row, zero, other))) sources |= 1U << other;
    }
  }
  return sources;
}

std::uint64_t irrelevant_lanes(const Instruction& instruction, const Wavefront& wave, unsigned other,
                               const SourceLanes& unavailable, OtimesIeee ieee) {
  if (!has_irrelevant_sources(instruction) || wave.mode.alters_vector() || !may_be_irrelevant(instruction, other)) return 0;
  U64 lanes = 0;
  for (unsigned zero = 0; zero < instruction.sources; ++zero) {
    if (!allows(ieee, makes_irrelevant(*instruction.row, zero, other))) continue;
    const U64 known = wave.exec() & ~unavailable[zero];
    if (known != 0) lanes |= known & zero_lanes(instruction, wave, zero);
  }
  return lanes;
}

std::uint64_t differing_lanes(const Instruction& instruction, const Wavefront& wave, unsigned other, std::uint64_t lanes) {
  // All zero pairs of a row have the same condition (ZeroPair).
  if (lanes == 0 || (instruction.row->flags & kZeroByIeee) == 0) return 0;
  const Reading reading = reading_of(instruction, other);
  const U32* operand = planes(instruction.src[other], wave);
  const U64 odd = lanes & odd_lanes(reading, operand);
  if (odd == 0) return 0;
  U64 suspects = odd & not_finite_lanes(reading, operand);
  U64 differing = 0;
  if (!gives_product(instruction)) {
    suspects |= odd & sign_shows(instruction, wave);
  } else if (!chosen(instruction.vop.abs, other)) {
    differing = odd & ~suspects;
  }
  if (suspects == 0) return differing;

  const FpSetting host = detail::current_fp_setting;
  Copy with(instruction, wave, suspects);
  Copy without(instruction, wave, suspects);
  without.clear(other);
  with.execute();
  without.execute();
  set_host_fp(host);
  return differing | (suspects & with.differs(without));
}

}  // namespace lacuna::isa
