// Matrix multiply-add of the matrix cores: D = A x B + C for one or more independent blocks of M x N x K.
//
// Layout (AMD Instinct MI200 and CDNA3 ISA manuals, "Matrix arithmetic instructions"; AMD's matrix instruction calculator):
// element [i][k] of block b of A is item k % L of lane i + M (b + B (k / L)), L being the elements that a lane holds; B
// likewise with its column for i. D and C have the column in the lane and, of f32 and i32, four rows in consecutive registers.
// All lanes take part whatever EXEC says.
//
// Arithmetic: to nearest even whatever MODE says. f32 and f64: a chain of fused multiply-adds over ascending k, denormals kept.
// f16 and bf16: f32 products and sums, each rounded, over ascending k, denormals of inputs, products and sums flushed (MIOpen
// documentation, "MI200 MFMA behavior specifics"). The hardware's order and width of internal sums are not public: see
// docs/DEVIATIONS.md. Any NaN that results is the default NaN.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "models/isa/host_fp.h"
#include "models/isa/instruction.h"
#include "models/isa/operand.h"
#include "models/isa/valu_half.h"
#include "models/isa/valu_types.h"
#include "models/isa/wavefront.h"

namespace lacuna::isa::matrix {

inline constexpr FpSetting kNearest = 0;
inline constexpr FpSetting kNearestFlushed = 4 | 8;

template <FpSetting kSetting>
inline float flushed(float value) {
  return kHostFlushesDenormals || kSetting == kNearest ? value : isa::detail::flush(value);
}

// -- kinds of elements: how a lane's registers hold those of A and B, and the step of the sum

struct F32 {
  using Element = float;
  using Sum = float;
  static constexpr unsigned kPerLane = 1, kWords = 1, kRowsInRegisters = 4;
  static constexpr FpSetting kSetting = kNearest;
  static constexpr std::uint32_t kNan = 0xffc00000;
  static Element element(const std::uint32_t* planes, unsigned, unsigned lane) { return std::bit_cast<float>(planes[lane]); }
  static Sum step(Element a, Element b, Sum c) { return __builtin_fmaf(a, b, c); }
};

/// Sums of narrower floats.
struct Narrow {
  using Element = float;
  using Sum = float;
  static constexpr unsigned kRowsInRegisters = 4;
  static constexpr FpSetting kSetting = kNearestFlushed;
  static constexpr std::uint32_t kNan = 0xffc00000;
  static Sum step(Element a, Element b, Sum c) { return flushed<kSetting>(flushed<kSetting>(a * b) + flushed<kSetting>(c)); }
  /// The item's 16 bits.
  static std::uint32_t bits(const std::uint32_t* planes, unsigned item, unsigned lane) {
    return (planes[(item / 2) * kLanes + lane] >> (16 * (item % 2))) & 0xffff;
  }
};
struct F16 : Narrow {
  static constexpr unsigned kPerLane = 4, kWords = 2;
  static Element element(const std::uint32_t* planes, unsigned item, unsigned lane) {
    const std::uint32_t half = bits(planes, item, lane);
    return half_to_float((half & 0x7c00) == 0 ? half & 0x8000 : half);
  }
};
struct Bf16 : Narrow {
  static constexpr unsigned kPerLane = 2, kWords = 1;
  static Element element(const std::uint32_t* planes, unsigned item, unsigned lane) {
    return flushed<kSetting>(std::bit_cast<float>(bits(planes, item, lane) << 16));
  }
};
struct Bf16Pairs : Bf16 {  // the "_1k" instructions: two registers
  static constexpr unsigned kPerLane = 4, kWords = 2;
};

struct I8 {
  using Element = std::int32_t;
  using Sum = std::uint32_t;  // wraps
  static constexpr unsigned kPerLane = 4, kWords = 1, kRowsInRegisters = 4;
  static constexpr FpSetting kSetting = kNearest;
  static Element element(const std::uint32_t* planes, unsigned item, unsigned lane) {
    return static_cast<std::int8_t>(planes[lane] >> (8 * item));
  }
  static Sum step(Element a, Element b, Sum c) { return static_cast<Sum>(a * b) + c; }
};

struct F64 {
  using Element = double;
  using Sum = double;
  static constexpr unsigned kPerLane = 1, kWords = 2, kRowsInRegisters = 1;
  static constexpr FpSetting kSetting = kNearest;
  static constexpr std::uint64_t kNan = 0xfff8000000000000;
  static Element element(const std::uint32_t* planes, unsigned, unsigned lane) {
    return std::bit_cast<double>(std::uint64_t{planes[lane]} | std::uint64_t{planes[kLanes + lane]} << 32);
  }
  static Sum step(Element a, Element b, Sum c) { return __builtin_fma(a, b, c); }
};

struct Shape {
  unsigned m, n, k, blocks;
};

/// Where D[block][row][0] is: an item (a register, of f64 a pair) and a lane; the columns follow in the next lanes.
struct Place {
  unsigned item, lane;
};
constexpr Place place_of_row(Shape shape, unsigned rows_in_registers, unsigned block, unsigned row) {
  // The one format with several blocks whose lanes hold a single element: rows go by 16 lanes, blocks by N.
  if (rows_in_registers == 1 && shape.blocks > 1) return {0, 16 * row + shape.n * block};
  const unsigned blocks_in_lanes = (kLanes * rows_in_registers + shape.n * shape.m - 1) / (shape.n * shape.m);
  const unsigned groups_in_lanes = kLanes / blocks_in_lanes / shape.n;
  const unsigned groups_in_items = shape.m / (rows_in_registers * groups_in_lanes);
  const unsigned item = row % rows_in_registers + rows_in_registers * (row / (rows_in_registers * groups_in_lanes) +
                                                                       groups_in_items * (block / blocks_in_lanes));
  return {item, shape.n * ((row / rows_in_registers) % groups_in_lanes + groups_in_lanes * (block % blocks_in_lanes))};
}

/// The lane of B that BLGP puts in place of `lane`.
constexpr unsigned permuted_lane(unsigned lane, unsigned pattern) {
  if (pattern == 0) return lane;
  if (pattern <= 2) return lane % 32 + 32 * (pattern - 1);  // the first or second 32 lanes for all
  if (pattern == 3) return (lane + 16) % kLanes;            // rotated
  return lane % 16 + 16 * (pattern - 4);                    // one of the four times 16 lanes for all
}

template <class Kind>
using Elements = std::array<std::array<typename Kind::Element, kLanes>, Kind::kPerLane>;

template <class Kind>
inline void load_elements(const std::uint32_t* planes, Elements<Kind>& elements) {
  for (unsigned item = 0; item < Kind::kPerLane; ++item) {
    for (unsigned lane = 0; lane < kLanes; ++lane) elements[item][lane] = Kind::element(planes, item, lane);
  }
}

template <class Kind, unsigned kItems>
struct Accumulator {
  using Sum = typename Kind::Sum;
  static constexpr unsigned kSumWords = sizeof(Sum) / sizeof(std::uint32_t);
  alignas(64) Sum sums[kItems][kLanes];  // deliberately not initialised: load() fills it

  void load(const Operand& operand, Wavefront& wave) {
    const bool vector = operand.kind == OperandKind::vgpr || operand.kind == OperandKind::agpr;
    if (!vector) {
      const std::uint64_t bits = operand.value;
      Sum value;
      std::memcpy(&value, &bits, sizeof value);
      for (auto& item : sums) std::fill(std::begin(item), std::end(item), value);
    } else if constexpr (kSumWords == 1) {
      std::memcpy(sums, wave.planes(operand), sizeof sums);
    } else {
      const std::uint32_t* planes = wave.planes(operand);
      for (unsigned item = 0; item < kItems; ++item) {
        for (unsigned lane = 0; lane < kLanes; ++lane) sums[item][lane] = Kind::element(planes + 2 * item * kLanes, 0, lane);
      }
    }
  }

  void store(std::uint32_t* planes) const {
    if constexpr (kSumWords == 1) {
      std::memcpy(planes, sums, sizeof sums);
    } else {
      for (unsigned item = 0; item < kItems; ++item) {
        for (unsigned lane = 0; lane < kLanes; ++lane) {
          const auto bits = std::bit_cast<std::uint64_t>(sums[item][lane]);
          planes[2 * item * kLanes + lane] = static_cast<std::uint32_t>(bits);
          planes[(2 * item + 1) * kLanes + lane] = static_cast<std::uint32_t>(bits >> 32);
        }
      }
    }
  }

  void settle_nans() {
    if constexpr (requires { Kind::kNan; }) {
      for (auto& item : sums) {
        for (Sum& sum : item) sum = __builtin_isnan(sum) ? std::bit_cast<Sum>(Kind::kNan) : sum;
      }
    }
  }
};

/// Adds A x B to the rows of one block that share lanes, `kRows` consecutive ones in as many items from `sums` on.
template <class Kind, Shape kShape, unsigned kRows>
inline void multiply_rows(const Elements<Kind>& a, unsigned a_lane, const Elements<Kind>& b, unsigned b_lane,
                          typename Kind::Sum* sums) {
  constexpr unsigned kColumns = kShape.n < 16 ? kShape.n : 16;  // as many sums as the host has registers for
  for (unsigned column = 0; column < kShape.n; column += kColumns) {
    typename Kind::Sum local[kRows][kColumns];
    for (unsigned r = 0; r < kRows; ++r) std::memcpy(local[r], sums + r * kLanes + column, sizeof local[r]);
    for (unsigned k = 0; k < kShape.k; ++k) {
      const unsigned lanes_before = k / Kind::kPerLane * kShape.blocks;
      const auto* of_a = &a[k % Kind::kPerLane][lanes_before * kShape.m + a_lane];
      const auto* of_b = &b[k % Kind::kPerLane][lanes_before * kShape.n + b_lane + column];
      for (unsigned r = 0; r < kRows; ++r) {
        for (unsigned j = 0; j < kColumns; ++j) local[r][j] = Kind::step(of_a[r], of_b[j], local[r][j]);
      }
    }
    for (unsigned r = 0; r < kRows; ++r) std::memcpy(sums + r * kLanes + column, local[r], sizeof local[r]);
  }
}

template <class Kind, Shape kShape>
void execute(const Instruction& instruction, Wavefront& wave) {
  static_assert(kShape.k * kShape.m * kShape.blocks == kLanes * Kind::kPerLane);
  constexpr unsigned kItems = kShape.m * kShape.n * kShape.blocks / kLanes;
  constexpr unsigned kRows = Kind::kRowsInRegisters;
  const VectorModifiers& vop = instruction.vop;
  // A block cannot be broadcast to more of them than there are, and f64 has no such fields (AMD's matrix instruction
  // calculator).
  const unsigned sharing = 1U << vop.cbsz;
  const bool has_fields = sizeof(typename Kind::Sum) == sizeof(std::uint32_t);
  if (sharing > kShape.blocks || vop.abid >= sharing || (!has_fields && vop.blgp != 0)) {
    return wave.raise(Event::illegal_instruction);
  }
  set_host_fp(Kind::kSetting);
  Elements<Kind> a;
  Elements<Kind> b;
  load_elements<Kind>(wave.planes(instruction.src[0]), a);
  load_elements<Kind>(wave.planes(instruction.src[1]), b);
  if (vop.blgp != 0) {
    const Elements<Kind> before = b;
    for (unsigned item = 0; item < Kind::kPerLane; ++item) {
      for (unsigned lane = 0; lane < kLanes; ++lane) b[item][lane] = before[item][permuted_lane(lane, vop.blgp)];
    }
  }
  Accumulator<Kind, kItems> accumulator;
  accumulator.load(instruction.src[2], wave);
  for (unsigned block = 0; block < kShape.blocks; ++block) {
    const unsigned a_block = (block & ~(sharing - 1)) | vop.abid;
    for (unsigned row = 0; row < kShape.m; row += kRows) {
      const Place place = place_of_row(kShape, kRows, block, row);
      multiply_rows<Kind, kShape, kRows>(a, kShape.m * a_block + row, b, kShape.n * block,
                                         &accumulator.sums[place.item][place.lane]);
    }
  }
  accumulator.settle_nans();
  accumulator.store(wave.planes(instruction.dst[0]));
}

}  // namespace lacuna::isa::matrix
