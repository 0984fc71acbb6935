#include "models/lazy/held_load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/isa/decode/decoder.h"
#include "models/isa/decode/table.h"
#include "tests/isa/scalar/scalar_machine.h"

namespace lacuna::held_load {
namespace {

using isa::kLanes;
using isa::Target;

constexpr std::uint64_t kAll = ~std::uint64_t{0};
constexpr std::uint64_t kReach = std::uint64_t{1} << kAddressBits;

LaneAddresses addresses_of(auto address_of) {
  LaneAddresses all;
  for (unsigned lane = 0; lane < kLanes; ++lane) all[lane] = address_of(lane);
  return all;
}

TEST(HeldLoad, CodesOfTable1) {
  const std::map<unsigned, std::uint32_t> codes{{1, 0b100}, {2, 0b101}, {4, 0b110}, {8, 0b111}, {16, 0b000}};
  std::set<std::uint32_t> seen;
  for (const auto& [bytes, code] : codes) {
    ASSERT_TRUE(type_of_bytes(bytes));
    EXPECT_EQ(static_cast<std::uint32_t>(*type_of_bytes(bytes)), code);
    EXPECT_EQ(bytes_of(*type_of_bytes(bytes)), bytes);
    EXPECT_EQ(registers_of(*type_of_bytes(bytes)), std::max(1U, bytes / 4));
    EXPECT_FALSE(is_follower(*type_of_bytes(bytes)));
    seen.insert(code);
  }
  for (unsigned position = 1; position < kMaxRegisters; ++position) {
    const std::uint32_t word = follower_word(position);
    EXPECT_EQ(word, position << 29);  // types 001, 010, 011
    EXPECT_TRUE(is_follower(type_of(word)));
    EXPECT_EQ(bytes_of(type_of(word)), 0U);
    EXPECT_EQ(registers_of(type_of(word)), 0U);
    seen.insert(word >> 29);
  }
  EXPECT_EQ(seen.size(), 8U);
  for (unsigned bytes = 0; bytes < 40; ++bytes) EXPECT_EQ(type_of_bytes(bytes).has_value(), codes.contains(bytes)) << bytes;
}

TEST(HeldLoad, PositionsOfTheFields) {
  LaneWords words{};
  std::uint64_t upper = 0;
  // Upper bits 0x5'1234'5678, lower 0xabcdef, offset 0x15.
  const std::uint64_t address = 0x5'1234'5678ULL << 29 | 0xabcdefULL << 5 | 0x15;
  ASSERT_TRUE(encode(addresses_of([&](unsigned) { return address; }), 1, 4, words, upper));
  EXPECT_EQ(upper, 0x5'1234'5678ULL);
  EXPECT_EQ(words[0], 0b110U << 29 | 0xabcdefU << 5 | 0x15U);
  EXPECT_EQ(words[1], 0U);
}

TEST(HeldLoad, DecodesAllTypesOffsetsAndLanes) {
  std::mt19937_64 random(3);
  for (const unsigned bytes : {1U, 2U, 4U, 8U, 16U}) {
    for (unsigned offset = 0; offset < 64; ++offset) {
      for (unsigned trial = 0; trial < 20; ++trial) {
        const std::uint64_t high = random() & ~(kReach - 1);
        const std::uint64_t lanes = trial % 4 == 0 ? kAll : random() & (trial % 4 == 1 ? random() & random() : kAll);
        // Lanes that do not load have arbitrary addresses.
        const LaneAddresses addresses = addresses_of([&](unsigned lane) {
          const std::uint64_t low = (random() & (kReach - 1) & ~std::uint64_t{63}) | offset;
          return (lanes >> lane & 1) != 0 ? high | low : random();
        });
        LaneWords words;
        for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random());
        const LaneWords before = words;
        std::uint64_t upper = random();
        ASSERT_TRUE(encode(addresses, lanes, bytes, words, upper));
        EXPECT_EQ(upper, lanes != 0 ? high >> kAddressBits : 0);
        EXPECT_LT(upper, std::uint64_t{1} << kUpperBits);
        LaneAddresses decoded = addresses_of([](unsigned lane) { return std::uint64_t{lane}; });
        decode(words, upper, lanes, decoded);
        for (unsigned lane = 0; lane < kLanes; ++lane) {
          if ((lanes >> lane & 1) != 0) {
            EXPECT_EQ(decoded[lane], addresses[lane]);
            EXPECT_EQ(type_of(words[lane]), *type_of_bytes(bytes));
            EXPECT_EQ(words[lane] & 31, addresses[lane] & 31);
          } else {
            EXPECT_EQ(decoded[lane], lane);
            EXPECT_EQ(words[lane], before[lane]);
          }
        }
      }
    }
  }
}

// The last byte below a multiple of 2^29 and the byte at that multiple do not share upper bits.
TEST(HeldLoad, LanesMustShareUpperBits) {
  LaneWords words;
  words.fill(0x1234);
  for (const std::uint64_t edge : {kReach, 5 * kReach, std::uint64_t{0} - kReach}) {
    for (unsigned odd = 0; odd < kLanes; ++odd) {
      const auto all_but = [&](std::uint64_t others, std::uint64_t one) {
        return addresses_of([=](unsigned lane) { return lane == odd ? one : others; });
      };
      LaneWords held = words;
      std::uint64_t upper = 77;
      EXPECT_FALSE(encode(all_but(edge, edge - 1), kAll, 4, held, upper));
      EXPECT_FALSE(encode(all_but(edge - 1, edge), kAll, 4, held, upper));
      EXPECT_EQ(held, words);
      EXPECT_EQ(upper, 77U);
      EXPECT_TRUE(encode(all_but(edge, edge - 1), ~(std::uint64_t{1} << odd), 4, held, upper));
      EXPECT_EQ(upper, edge >> kAddressBits);
      EXPECT_TRUE(encode(all_but(edge, edge + kReach - 1), kAll, 4, held, upper));
      EXPECT_EQ(upper, edge >> kAddressBits);
    }
  }
}

TEST(HeldLoad, NoLanesAndInvalidWidths) {
  LaneWords words{};
  std::uint64_t upper = 5;
  EXPECT_TRUE(encode(addresses_of([](unsigned lane) { return lane * kReach; }), 0, 4, words, upper));
  EXPECT_EQ(upper, 0U);
  EXPECT_EQ(words, LaneWords{});
  EXPECT_THROW(encode(LaneAddresses{}, kAll, 12, words, upper), std::invalid_argument);
}

TEST(HeldLoad, FindsTheFirstRegisterFromAnyRegisterOfALoad) {
  for (const unsigned bytes : {1U, 2U, 4U, 8U, 16U}) {
    for (const unsigned first : {0U, 1U, 33U, 252U}) {
      LaneWords words{};
      std::uint64_t upper = 0;
      ASSERT_TRUE(encode(LaneAddresses{}, kAll, bytes, words, upper));
      EXPECT_EQ(first_register(words[9], first), first);
      for (unsigned position = 1; position < registers_of(type_of(words[9])); ++position)
        EXPECT_EQ(first_register(follower_word(position), first + position), first);
    }
  }
}

// -- forms of loads that can or cannot be held: real instructions are executed

constexpr std::uint64_t kBase = 0x7000000000;

struct Bench : isa::test::Machine {
  std::byte* at;
  explicit Bench(Target target) : at(memory.map(kBase, 65536, isa::Access::read_write)) {
    wave.target = target;
    wave.agpr = agprs.data();
    wave.agpr_count = kVgprs;
    for (unsigned lane = 0; lane < kLanes; ++lane) set_address(lane, kBase + 64 * lane);
    wave.write64(2, kBase);
    // A linear buffer of bytes in s[4:7], as clang describes it; data format 32.
    wave.write64(4, kBase);
    wave.sgpr[6] = 65536;
    wave.sgpr[7] = 0x00027fac;
    wave.sgpr[8] = 0;
    wave.scratch_base = kBase;
    wave.write64(isa::kFlatScratchLo, target == Target::gfx803 ? 4096 : kBase);
    wave.private_aperture = std::uint64_t{1} << 40;
    wave.shared_aperture = std::uint64_t{2} << 40;
  }
  void set_address(unsigned lane, std::uint64_t address) {
    v(0, lane) = static_cast<std::uint32_t>(address);
    v(1, lane) = static_cast<std::uint32_t>(address >> 32);
  }
  std::vector<std::uint32_t> agprs = std::vector<std::uint32_t>(kVgprs * kLanes);

  std::optional<Refusal> refusal(const std::vector<std::uint32_t>& words) {
    const isa::DecodeResult decoded = isa::decode(words.data(), words.size(), wave.target);
    EXPECT_TRUE(decoded.ok) << decoded.error;
    wave.event = isa::Event::none;
    wave.access = {};
    decoded.instruction.execute(decoded.instruction, wave);
    EXPECT_NE(wave.event, isa::Event::memory_fault);
    EXPECT_NE(wave.event, isa::Event::illegal_instruction);
    return why_not_held(decoded.instruction, wave.access);
  }
  /// Expects the refusal `wanted` for each line; nullopt: the load can be held. `more`: bits to set in the first word of each
  /// instruction.
  void expect(std::optional<Refusal> wanted, const std::vector<std::string>& lines, std::uint32_t more = 0) {
    const auto name = [](const std::optional<Refusal>& r) {
      return r ? kRefusalTexts[static_cast<std::size_t>(*r)].name : std::string_view("held");
    };
    auto all = isa::test::assemble_by_llvm(lines, wave.target);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      SCOPED_TRACE(lines[i]);
      all[i][0] |= more;
      EXPECT_EQ(name(refusal(all[i])), name(wanted));
    }
  }
};

TEST(HeldLoad, FormsOfGfx803) {
  Bench b(Target::gfx803);
  b.expect(std::nullopt,
           {"flat_load_ubyte v4, v[0:1]", "flat_load_ushort v4, v[0:1]", "flat_load_dword v4, v[0:1]",
            "flat_load_dwordx2 v[4:5], v[0:1]", "flat_load_dwordx4 v[4:7], v[0:1]", "buffer_load_dword v4, off, s[4:7], s8",
            "buffer_load_ubyte v4, off, s[4:7], s8", "buffer_load_dwordx4 v[4:7], off, s[4:7], s8 offset:16"});
  b.expect(Refusal::no_load, {"flat_store_dword v[0:1], v4", "flat_atomic_add v4, v[0:1], v5 glc", "flat_atomic_add v[0:1], v5",
                              "buffer_store_dword v4, off, s[4:7], s8", "buffer_wbinvl1", "ds_read_b32 v4, v3"});
  b.expect(Refusal::scalar, {"s_load_dword s10, s[2:3], 0x0", "s_buffer_load_dwordx2 s[10:11], s[4:7], 0x0"});
  b.expect(Refusal::lds_form, {"buffer_load_dword off, s[4:7], s8 lds", "buffer_load_sbyte off, s[4:7], s8 lds"});
  b.expect(Refusal::tfe, {"buffer_load_dword v[4:5], off, s[4:7], s8 tfe"});
  b.expect(Refusal::format, {"buffer_load_format_x v4, off, s[4:7], s8", "buffer_load_format_xyzw v[4:7], off, s[4:7], s8",
                             "buffer_load_format_d16_x v4, off, s[4:7], s8",
                             "tbuffer_load_format_x v4, off, s[4:7], s8 format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT]"});
  b.expect(Refusal::sign,
           {"flat_load_sbyte v4, v[0:1]", "flat_load_sshort v4, v[0:1]", "buffer_load_sbyte v4, off, s[4:7], s8"});
  b.expect(Refusal::three_registers, {"flat_load_dwordx3 v[4:6], v[0:1]", "buffer_load_dwordx3 v[4:6], off, s[4:7], s8"});
  b.expect(Refusal::glc, {"flat_load_dword v4, v[0:1] glc", "flat_load_dword v4, v[0:1] glc slc"});
  b.expect(Refusal::slc, {"flat_load_dword v4, v[0:1] slc"});
}

TEST(HeldLoad, FormsOfGfx90a) {
  Bench b(Target::gfx90a);
  for (unsigned lane = 0; lane < kLanes; ++lane) b.v(3, lane) = 16 * lane;
  b.expect(std::nullopt, {"global_load_ubyte v4, v[0:1], off", "global_load_ushort v4, v3, s[2:3]",
                          "global_load_dword v4, v[0:1], off offset:8", "global_load_dwordx2 v[4:5], v3, s[2:3]",
                          "global_load_dwordx4 a[4:7], v[0:1], off", "flat_load_dword v4, v[0:1]",
                          "scratch_load_dword v4, v3, off", "buffer_load_dwordx2 v[4:5], off, s[4:7], s8"});
  b.expect(Refusal::no_load, {"global_store_dword v[0:1], v4, off", "global_atomic_add v4, v[0:1], v5, off glc",
                              "global_atomic_add_f32 v[0:1], v5, off", "buffer_wbl2", "ds_read_b64 v[4:5], v3"});
  b.expect(Refusal::lds_form, {"global_load_dword v[0:1], off lds", "buffer_load_ubyte off, s[4:7], s8 lds"});
  b.expect(Refusal::half_register, {"global_load_ubyte_d16 v4, v[0:1], off", "global_load_short_d16_hi v4, v[0:1], off",
                                    "flat_load_sbyte_d16_hi v4, v[0:1]"});
  b.expect(Refusal::format,
           {"buffer_load_format_d16_x v4, off, s[4:7], s8", "buffer_load_format_d16_hi_x v4, off, s[4:7], s8"});
  b.expect(Refusal::sign, {"global_load_sbyte v4, v[0:1], off", "global_load_sshort v4, v3, s[2:3]"});
  b.expect(Refusal::three_registers, {"global_load_dwordx3 v[4:6], v[0:1], off"});
  b.expect(Refusal::glc, {"global_load_dword v4, v[0:1], off glc"});
  // LLVM's assembler does not accept SCC on gfx90a.
  b.expect(Refusal::glc, {"global_load_dword v4, v[0:1], off"}, 1U << 25);
  b.expect(Refusal::glc, {"buffer_load_dword v4, off, s[4:7], s8"}, 1U << 15);
  b.expect(Refusal::slc, {"global_load_dword v4, v[0:1], off slc"});
  b.expect(Refusal::scattered, {"scratch_load_dwordx2 v[4:5], v3, off", "scratch_load_dwordx4 v[4:7], v3, off"});
}

TEST(HeldLoad, LoadsWithLanesInLdsAreNotHeld) {
  for (const Target target : {Target::gfx803, Target::gfx90a}) {
    Bench b(target);
    b.set_address(7, b.wave.shared_aperture + 64);
    b.expect(Refusal::lds_lanes, {"flat_load_dword v4, v[0:1]"});
    for (unsigned lane = 0; lane < kLanes; ++lane) b.set_address(lane, b.wave.shared_aperture + 4 * lane);
    b.expect(Refusal::lds_lanes, {"flat_load_dword v4, v[0:1]"});
    for (unsigned lane = 0; lane < kLanes; ++lane) b.set_address(lane, b.wave.private_aperture + 16);
    b.expect(std::nullopt, {"flat_load_dword v4, v[0:1]"});
    b.expect(Refusal::scattered, {"flat_load_dwordx2 v[4:5], v[0:1]"});
  }
}

// why_not_held() uses flags of the instruction table, which are compared with the instructions' names.
TEST(HeldLoad, FlagsOfAllLoads) {
  unsigned loads = 0;
  for (const isa::Format format : isa::all_formats()) {
    for (const isa::InstructionRow& row : isa::rows(format)) {
      if (row.latency != isa::LatencyClass::vmem_load) continue;
      ++loads;
      const auto named = [&row](std::string_view part) { return row.mnemonic.find(part) != std::string_view::npos; };
      EXPECT_EQ((row.flags & isa::kConvertsFormat) != 0, named("_format_")) << row.mnemonic;
      EXPECT_EQ((row.flags & isa::kSignExtends) != 0, named("sbyte") || named("sshort")) << row.mnemonic;
      if (named("_format_")) continue;
      EXPECT_EQ((row.flags & isa::kReadsDst) != 0, named("_d16")) << row.mnemonic;
    }
  }
  EXPECT_GE(loads, 4U * 14);
}

// Loads of adjacent and of scattered lanes detect a preceding atomic operation in different ways.
TEST(HeldLoad, LoadsAfterAPendingAtomicOperation) {
  for (const unsigned step : {4U, 12U}) {
    Bench b(Target::gfx803);
    isa::StoreBuffer stores;
    b.wave.stores = &stores;
    for (unsigned lane = 0; lane < kLanes; ++lane) b.set_address(lane, kBase + step * lane);
    b.expect(std::nullopt, {"flat_load_dword v4, v[0:1]"});
    b.expect(Refusal::no_load, {"flat_atomic_add v[0:1], v5"});
    b.expect(Refusal::deferred, {"flat_load_dword v4, v[0:1]"});
  }
}

TEST(HeldLoad, RefusalsHaveDistinctNames) {
  std::set<std::string_view> names;
  for (const RefusalText& text : kRefusalTexts) {
    EXPECT_FALSE(text.name.empty());
    EXPECT_FALSE(text.meaning.empty());
    names.insert(text.name);
  }
  EXPECT_EQ(names.size(), kRefusals);
}

// LazyGPU, section 5.5: 8 KiB of busy bits and 4.375 KiB of upper bits per compute unit. The area is this project's estimate,
// see held_load.h.
TEST(HeldLoad, CostOfTheR9Nano) {
  const ComputeUnitParameters r9nano;  // 4 SIMDs of 256 registers
  const Cost c = cost(r9nano, 64);
  EXPECT_EQ(c.busy_bits, 8U * 1024 * 8);
  EXPECT_EQ(c.upper_bits * 1000, 4375U * 1024 * 8);
  EXPECT_NEAR(c.area_mm2, 1.038, 0.001);
  EXPECT_NEAR(c.share_of(kR9NanoDieMm2), 0.00174, 0.00001);
  // The two counts that held_load.h describes as close to 0.009 %.
  EXPECT_NEAR(cost(r9nano, 4).share_of(kR9NanoDieMm2) * 0.127 / kSramBitUm2, 0.000086, 0.0000005);
  EXPECT_NEAR(static_cast<double>(c.busy_bits + c.upper_bits) * 8 / 8.9e9, 0.000091, 0.0000005);
  ComputeUnitParameters twice = r9nano;
  twice.vgprs_per_simd *= 2;
  EXPECT_EQ(cost(twice, 1).busy_bits, 2 * c.busy_bits);
  EXPECT_EQ(cost(twice, 1).upper_bits, 2 * c.upper_bits);
}

}  // namespace
}  // namespace lacuna::held_load
