#include "models/isa/decode/operand.h"

#include <array>

namespace lacuna::isa {
namespace {

// Bit patterns of the inline constants 0.5, -0.5, 1, -1, 2, -2, 4, -4 and 1/(2 pi) in f16, f32 and f64.
constexpr std::array<std::uint16_t, 9> kFloat16{0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118};
constexpr std::array<std::uint32_t, 9> kFloat32{0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                                0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
constexpr std::array<std::uint64_t, 9> kFloat64{0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000,
                                                0xbff0000000000000, 0x4000000000000000, 0xc000000000000000,
                                                0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882};

}  // namespace

std::uint64_t inline_constant(unsigned encoding, OperandType type) {
  const bool wide = words_of(type) >= 2 && !has_32_bit_elements(type);
  if (encoding >= kInlineFloat) {
    const std::size_t which = encoding - kInlineFloat;
    if (type == OperandType::f16 || type == OperandType::pk_f16) return kFloat16.at(which);
    return wide ? kFloat64.at(which) : kFloat32.at(which);
  }
  const std::int64_t value =
      encoding <= 192 ? static_cast<std::int64_t>(encoding) - 128 : 192 - static_cast<std::int64_t>(encoding);
  return wide ? static_cast<std::uint64_t>(value) : static_cast<std::uint32_t>(value);
}

std::uint64_t widen_literal(std::uint32_t literal, OperandType type) {
  switch (type) {
    case OperandType::f64:
      return std::uint64_t{literal} << 32;
    case OperandType::i64:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(literal)));
    default:
      return literal;
  }
}

std::uint32_t read_special(unsigned encoding, const Wavefront& wave) {
  switch (encoding) {
    case kVccz:
      return wave.vcc() == 0 ? 1 : 0;
    case kExecz:
      return wave.exec() == 0 ? 1 : 0;
    case kScc:
      return wave.scc ? 1 : 0;
    case kSharedBase:
      return static_cast<std::uint32_t>(wave.shared_aperture >> 32);
    case kSharedBase + 1:
      return ~std::uint32_t{0};
    case kSharedBase + 2:
      return static_cast<std::uint32_t>(wave.private_aperture >> 32);
    case kSharedBase + 3:
      return ~std::uint32_t{0};
    default:
      return 0;
  }
}

std::uint64_t read_special64(unsigned encoding, const Wavefront& wave) {
  constexpr std::uint64_t kLow = 0xffffffff;
  switch (encoding) {
    case kSharedBase:
      return wave.shared_aperture;
    case kSharedBase + 1:
      return wave.shared_aperture | kLow;
    case kSharedBase + 2:
      return wave.private_aperture;
    case kSharedBase + 3:
      return wave.private_aperture | kLow;
    default:
      return read_special(encoding, wave);
  }
}

void execute_unsupported(const Instruction&, Wavefront& wave) { wave.raise(Event::illegal_instruction); }

}  // namespace lacuna::isa
