// Tests atomics of DS, FLAT, GLOBAL, MUBUF and SMEM against wide integers and MPFR, and exchanges of two data in LDS.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "models/isa/decode/decoder.h"
#include "models/isa/decode/table.h"
#include "models/isa/wavefront.h"
#include "tests/isa/reference/atomic_bench.h"

namespace lacuna::isa::test {
namespace {

TEST(Reference, Atomics) {
  for (const AtomicReference& entry : atomic_references())
    EXPECT_GT(check_atomic_rows(entry), 0U) << entry.mnemonic << " names no row";
}

// Checks an instruction that exchanges two data of `width` bytes in LDS per lane; no two lanes access the same bytes. `unit`:
// bytes per unit of the instruction's two offsets.
void check_exchange_of_two(std::uint32_t opcode, unsigned width, unsigned unit) {
  constexpr unsigned kLaneBytes = 2048;
  constexpr unsigned kFirst = 1;
  constexpr unsigned kSecond = 3;
  const std::uint32_t words[] = {0xd8000000U | opcode << 17 | kSecond << 8 | kFirst, 16U << 24 | 8U << 16 | 4U << 8 | 2U};
  for (const Target target : {Target::gfx803, Target::gfx90a}) {
    const DecodeResult decoded = decode(words, std::size(words), target);
    ASSERT_TRUE(decoded.ok) << decoded.error;
    std::mt19937_64 random(opcode);
    std::vector<std::uint32_t> registers(24 * kLanes);
    std::vector<std::byte> lds(static_cast<std::size_t>(kLaneBytes) * kLanes);
    for (std::uint32_t& r : registers) r = static_cast<std::uint32_t>(random());
    for (std::byte& b : lds) b = static_cast<std::byte>(random());
    for (unsigned l = 0; l < kLanes; ++l) registers[2 * kLanes + l] = (kLanes - 1 - l) * kLaneBytes;
    LaneAddresses addresses;
    Wavefront wave;
    wave.target = target;
    wave.addresses = &addresses;
    wave.vgpr = registers.data();
    wave.vgpr_count = 24;
    wave.lds = lds.data();
    wave.lds_bytes = static_cast<std::uint32_t>(lds.size());
    wave.sgpr[kM0] = ~0U;
    wave.set_exec(0xfffffffffffffffd);
    std::vector<std::uint32_t> wanted_registers(registers);
    std::vector<std::byte> wanted_lds(lds);
    for (unsigned l = 0; l < kLanes; ++l) {
      if (l == 1) continue;  // inactive
      for (unsigned datum = 0; datum < 2; ++datum) {
        const unsigned offset = (kLanes - 1 - l) * kLaneBytes + (datum == 0 ? kFirst : kSecond) * unit;
        for (unsigned w = 0; w < width / 4; ++w) {
          std::memcpy(&wanted_registers[(16 + datum * width / 4 + w) * kLanes + l], &lds[offset + 4 * w], 4);
          std::memcpy(&wanted_lds[offset + 4 * w], &registers[(4 + 4 * datum + w) * kLanes + l], 4);
        }
      }
    }
    decoded.instruction.execute(decoded.instruction, wave);
    EXPECT_EQ(wave.event, Event::none);
    EXPECT_EQ(registers, wanted_registers) << decoded.instruction.row->mnemonic;
    EXPECT_EQ(lds, wanted_lds) << decoded.instruction.row->mnemonic;
  }
}

TEST(Reference, ExchangesOfTwoData) {
  check_exchange_of_two(0x2e, 4, 4);
  check_exchange_of_two(0x2f, 4, 64 * 4);
  check_exchange_of_two(0x6e, 8, 8);
  check_exchange_of_two(0x6f, 8, 64 * 8);
}

}  // namespace
}  // namespace lacuna::isa::test
