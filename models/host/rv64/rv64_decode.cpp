#include "models/host/rv64/rv64_decode.h"

#include <array>
#include <cstddef>
#include <vector>

namespace lacuna::rv64 {
namespace {

constexpr std::array kTraits = {
#define LACUNA_RV64_ROW(operation, match, mask, format, klass) \
  OperationTraits{Operation::operation, match, mask, Format::format, Class::klass},
    LACUNA_RV64_OPERATIONS(LACUNA_RV64_ROW)
#undef LACUNA_RV64_ROW
        OperationTraits{Operation::illegal, 0, 0, Format::none, Class::system},
    OperationTraits{Operation::end_of_block, 0, 0, Format::none, Class::system},
    OperationTraits{Operation::breakpoint, 0, 0, Format::none, Class::system},
};
static_assert(kTraits.size() == static_cast<std::size_t>(Operation::count));

constexpr std::size_t kEncodings = static_cast<std::size_t>(Operation::illegal);

/// Rows of the instruction table by bits 6:2, the major opcode, which every mask contains.
using Buckets = std::array<std::vector<const OperationTraits*>, 32>;

Buckets make_buckets() {
  Buckets buckets;
  for (std::size_t row = 0; row < kEncodings; ++row) buckets[kTraits[row].match >> 2 & 31].push_back(&kTraits[row]);
  return buckets;
}

constexpr std::uint32_t field(std::uint32_t bits, unsigned low, unsigned width) { return bits >> low & ((1u << width) - 1); }

constexpr std::uint64_t sign_extend(std::uint64_t value, unsigned width) {
  const unsigned shift = 64 - width;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift);
}

std::uint64_t immediate_i(std::uint32_t bits) { return sign_extend(bits >> 20, 12); }

std::uint64_t immediate_s(std::uint32_t bits) { return sign_extend(field(bits, 25, 7) << 5 | field(bits, 7, 5), 12); }

std::uint64_t immediate_b(std::uint32_t bits) {
  return sign_extend(field(bits, 31, 1) << 12 | field(bits, 7, 1) << 11 | field(bits, 25, 6) << 5 | field(bits, 8, 4) << 1, 13);
}

std::uint64_t immediate_u(std::uint32_t bits) { return sign_extend(bits & 0xfffff000u, 32); }

std::uint64_t immediate_j(std::uint32_t bits) {
  return sign_extend(field(bits, 31, 1) << 20 | field(bits, 12, 8) << 12 | field(bits, 20, 1) << 11 | field(bits, 21, 10) << 1,
                     21);
}

void extract_operands(Instruction& out, std::uint32_t bits, std::uint64_t pc, Format format) {
  out.rd = static_cast<std::uint8_t>(field(bits, 7, 5));
  out.rs1 = static_cast<std::uint8_t>(field(bits, 15, 5));
  out.rs2 = static_cast<std::uint8_t>(field(bits, 20, 5));
  out.rs3 = static_cast<std::uint8_t>(field(bits, 27, 5));
  bool integer_destination = true;
  switch (format) {
    case Format::i:
      out.immediate = immediate_i(bits);
      break;
    case Format::u:
      out.immediate = immediate_u(bits);
      break;
    case Format::pc_u:
      out.immediate = pc + immediate_u(bits);
      break;
    case Format::j:
      out.immediate = pc + immediate_j(bits);
      break;
    case Format::shift:
      out.immediate = field(bits, 20, 6);
      break;
    case Format::csr:
      out.immediate = field(bits, 20, 12);
      break;
    case Format::b:
      out.immediate = pc + immediate_b(bits);
      break;
    case Format::s:
    case Format::f_store:
      out.immediate = immediate_s(bits);
      break;
    case Format::f_load:
      out.immediate = immediate_i(bits);
      [[fallthrough]];
    case Format::f_r:
    case Format::f_rm:
    case Format::f_r4:
    case Format::x_to_f:
    case Format::x_to_f_rm:
      integer_destination = false;
      break;
    case Format::none:
    case Format::r:
    case Format::f_to_x:
    case Format::f_to_x_rm:
      break;
  }
  if (integer_destination && out.rd == 0) out.rd = kDiscard;
}

bool has_rounding_mode(Format format) {
  return format == Format::f_rm || format == Format::f_r4 || format == Format::f_to_x_rm || format == Format::x_to_f_rm;
}

}  // namespace

const OperationTraits& traits(Operation operation) { return kTraits[static_cast<std::size_t>(operation)]; }

Instruction decode(std::uint32_t bits, std::uint64_t pc) {
  static const Buckets buckets = make_buckets();
  Instruction out;
  out.bits = bits;
  if ((bits & 3) != 3) {
    out.bits = bits & 0xffff;
    out.length = 2;
    const auto expanded = expand_compressed(static_cast<std::uint16_t>(bits));
    if (!expanded) return out;
    bits = *expanded;
  }
  for (const OperationTraits* row : buckets[bits >> 2 & 31]) {
    if ((bits & row->mask) != row->match) continue;
    extract_operands(out, bits, pc, row->format);
    out.rounding = static_cast<std::uint8_t>(field(bits, 12, 3));
    // Static rounding modes 5 and 6 are reserved (volume I, table 11.1).
    if (has_rounding_mode(row->format) && (out.rounding == 5 || out.rounding == 6)) return out;
    out.operation = row->operation;
    return out;
  }
  return out;
}

}  // namespace lacuna::rv64
